"""Known architectures as discretisations of the equation, each held against its own library."""

from experiments.architectures.judging import Verdict, judge
from experiments.architectures.row import Inputs, Row
from experiments.architectures.table import ROWS, chosen

__all__ = ["ROWS", "Inputs", "Row", "Verdict", "chosen", "judge"]

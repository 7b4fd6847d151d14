"""The guard: does the question have an answer, and which order may be expected of it?"""

from experiments.wellposedness.findings import Finding, Level
from experiments.wellposedness.guard import CHECKS, check
from experiments.wellposedness.orders import Declared, declared_order
from experiments.wellposedness.question import Question

__all__ = ["CHECKS", "Declared", "Finding", "Level", "Question", "check", "declared_order"]

"""Discrete Transformer encoders as discretisations of equations, and back."""

from discretize.encoders.recovered import Recovered
from discretize.encoders.recovery import recover

__all__ = ["Recovered", "recover"]

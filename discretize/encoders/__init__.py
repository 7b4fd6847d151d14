"""Discrete Transformer encoders as discretisations of equations, and back."""

from discretize.encoders.export import to_torch, torch_state_dict
from discretize.encoders.recovered import Recovered
from discretize.encoders.recovery import recover

__all__ = ["Recovered", "recover", "to_torch", "torch_state_dict"]

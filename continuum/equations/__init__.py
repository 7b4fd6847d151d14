"""Equations: terms plus the structure that composes them."""

from continuum.equations.base import Equation
from continuum.equations.paper import paper_equation, paper_structure
from continuum.equations.prenorm import prenorm_flow, prenorm_structure
from continuum.equations.residual import RESIDUAL_STRUCTURE, residual_flow
from continuum.equations.unsplit import UNSPLIT_STRUCTURE, unsplit_flow

__all__ = [
    "RESIDUAL_STRUCTURE",
    "UNSPLIT_STRUCTURE",
    "Equation",
    "paper_equation",
    "paper_structure",
    "prenorm_flow",
    "prenorm_structure",
    "residual_flow",
    "unsplit_flow",
]

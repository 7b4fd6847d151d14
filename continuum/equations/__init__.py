"""Equations: terms plus the structure that composes them."""

from continuum.equations.base import Equation
from continuum.equations.paper import paper_equation
from continuum.equations.prenorm import prenorm_flow
from continuum.equations.residual import residual_flow

__all__ = ["Equation", "paper_equation", "prenorm_flow", "residual_flow"]

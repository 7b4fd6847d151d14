"""Kernels k(xi, y, t) and fields b(y, t): analytic, separable, constant on cells."""

from continuum.kernels.analytic import AnalyticField, AnalyticKernel
from continuum.kernels.base import Field, Kernel
from continuum.kernels.cells import CellField, CellKernel
from continuum.kernels.separable import SeparableKernel

__all__ = [
    "AnalyticField",
    "AnalyticKernel",
    "CellField",
    "CellKernel",
    "Field",
    "Kernel",
    "SeparableKernel",
]

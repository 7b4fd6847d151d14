"""Kernels k(xi, y, t), fields b(y, t): analytic, separable, low rank, basis, cells, layered."""

from continuum.kernels.analytic import AnalyticField, AnalyticKernel, on_host
from continuum.kernels.base import Field, Kernel
from continuum.kernels.bases import BASES, Basis, BasisField, BasisKernel, random_coefficients
from continuum.kernels.cells import CellField, CellKernel
from continuum.kernels.layers import LayeredField, LayeredKernel
from continuum.kernels.low_rank import LowRankKernel
from continuum.kernels.separable import SeparableKernel

__all__ = [
    "BASES",
    "AnalyticField",
    "AnalyticKernel",
    "Basis",
    "BasisField",
    "BasisKernel",
    "CellField",
    "CellKernel",
    "Field",
    "Kernel",
    "LayeredField",
    "LayeredKernel",
    "LowRankKernel",
    "SeparableKernel",
    "on_host",
    "random_coefficients",
]

"""Kernels k(xi, y, t) and fields b(y, t): analytic, separable, in a basis, on cells, layered."""

from continuum.kernels.analytic import AnalyticField, AnalyticKernel, on_host
from continuum.kernels.base import Field, Kernel
from continuum.kernels.bases import BASES, Basis, BasisField, BasisKernel, random_coefficients
from continuum.kernels.cells import CellField, CellKernel
from continuum.kernels.layers import LayeredField, LayeredKernel
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
    "SeparableKernel",
    "on_host",
    "random_coefficients",
]

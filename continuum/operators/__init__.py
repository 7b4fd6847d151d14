"""The operators on u(x, .) that the equation's terms are made of."""

from continuum.operators.affine import Affine
from continuum.operators.algebra import Composition, Sum
from continuum.operators.attention import Causal, IntegralAttention
from continuum.operators.base import Operator
from continuum.operators.linear import LinearIntegral
from continuum.operators.maps import Normalisation, Pointwise, Projection
from continuum.operators.source import Source

__all__ = [
    "Affine",
    "Causal",
    "Composition",
    "IntegralAttention",
    "LinearIntegral",
    "Normalisation",
    "Operator",
    "Pointwise",
    "Projection",
    "Source",
    "Sum",
]

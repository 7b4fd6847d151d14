"""The operators on u(x, .) that the equation's terms are made of."""

from continuum.operators.affine import Affine
from continuum.operators.algebra import Composition, Product, Sum
from continuum.operators.attention import IntegralAttention
from continuum.operators.base import Operator
from continuum.operators.linear import LinearIntegral
from continuum.operators.maps import Normalisation, Pointwise, Projection
from continuum.operators.positions import (
    BucketBias,
    Causal,
    LinearBias,
    Rotary,
    ScoreBias,
    rotary_frequencies,
)
from continuum.operators.source import Source

__all__ = [
    "Affine",
    "BucketBias",
    "Causal",
    "Composition",
    "IntegralAttention",
    "LinearBias",
    "LinearIntegral",
    "Normalisation",
    "Operator",
    "Pointwise",
    "Product",
    "Projection",
    "Rotary",
    "ScoreBias",
    "Source",
    "Sum",
    "rotary_frequencies",
]

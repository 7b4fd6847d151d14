"""Discrete operators: continuous ones with quadrature grids."""

from discretize.operators.algebra import DiscreteComposition, DiscreteSum
from discretize.operators.attention import DiscreteAttention
from discretize.operators.base import DiscreteOperator, discretize_operator
from discretize.operators.linear import DiscreteLinear
from discretize.operators.maps import (
    DiscreteAffine,
    DiscreteNormalisation,
    DiscretePointwise,
    DiscreteProjection,
)
from discretize.operators.measure import TokenMeasure

__all__ = [
    "DiscreteAffine",
    "DiscreteAttention",
    "DiscreteComposition",
    "DiscreteLinear",
    "DiscreteNormalisation",
    "DiscreteOperator",
    "DiscretePointwise",
    "DiscreteProjection",
    "DiscreteSum",
    "TokenMeasure",
    "discretize_operator",
]

"""Discrete operators: continuous ones with quadrature grids."""

from discretize.operators.algebra import (
    DiscreteComposition,
    DiscreteMultiple,
    DiscreteProduct,
    DiscreteSum,
)
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
from discretize.operators.source import DiscreteSource

__all__ = [
    "DiscreteAffine",
    "DiscreteAttention",
    "DiscreteComposition",
    "DiscreteLinear",
    "DiscreteMultiple",
    "DiscreteNormalisation",
    "DiscreteOperator",
    "DiscretePointwise",
    "DiscreteProduct",
    "DiscreteProjection",
    "DiscreteSource",
    "DiscreteSum",
    "TokenMeasure",
    "discretize_operator",
]

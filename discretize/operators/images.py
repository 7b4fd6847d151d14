"""Where in x an operator's images live, for operators that may change Omega_x."""

from functools import singledispatch

from discretize.operators.algebra import DiscreteComposition, DiscreteSum
from discretize.operators.base import DiscreteOperator
from discretize.operators.measure import TokenMeasure


@singledispatch
def image_measure(operator: DiscreteOperator, measure: TokenMeasure) -> TokenMeasure:
    """The quadrature in x of T(u), for that of u: the same, unless a rule is registered."""
    del operator
    return measure


@image_measure.register
def _(operator: DiscreteComposition, measure: TokenMeasure) -> TokenMeasure:
    for stage in operator.stages:
        measure = image_measure(stage, measure)
    return measure


@image_measure.register
def _(operator: DiscreteSum, measure: TokenMeasure) -> TokenMeasure:
    return image_measure(operator.terms[0], measure)

"""Sums, products and compositions of discrete operators."""

import math

import equinox as eqx
from jax import Array

from continuum.operators import Composition, Product, Sum
from discretize.grids import Grid, UniformGrid
from discretize.operators.base import Coefficients, DiscreteOperator, discretize_operator
from discretize.operators.measure import TokenMeasure
from discretize.sampling import At


class DiscreteSum(DiscreteOperator):
    """u -> sum_k T_k(u)."""

    terms: tuple[DiscreteOperator, ...]

    @property
    def source(self) -> UniformGrid:
        """The grid the terms read."""
        return self.terms[0].source

    @property
    def target(self) -> UniformGrid:
        """The grid the terms map to."""
        return self.terms[0].target

    def coefficients(self, at: At) -> Coefficients:
        """Those of the terms, by position."""
        return {str(k): term.coefficients(at) for k, term in enumerate(self.terms)}

    def apply(self, coefficients: Coefficients, u: Array, measure: TokenMeasure) -> Array:
        """The sum, from left to right."""
        images = [t.apply(coefficients[str(k)], u, measure) for k, t in enumerate(self.terms)]
        return sum(images[1:], start=images[0])


class DiscreteProduct(DiscreteOperator):
    """u -> prod_k T_k(u) at the nodes."""

    factors: tuple[DiscreteOperator, ...]

    @property
    def source(self) -> UniformGrid:
        """The grid the factors read."""
        return self.factors[0].source

    @property
    def target(self) -> UniformGrid:
        """The grid the factors map to."""
        return self.factors[0].target

    def coefficients(self, at: At) -> Coefficients:
        """Those of the factors, by position."""
        return {str(k): factor.coefficients(at) for k, factor in enumerate(self.factors)}

    def apply(self, coefficients: Coefficients, u: Array, measure: TokenMeasure) -> Array:
        """The product, from left to right."""
        images = [f.apply(coefficients[str(k)], u, measure) for k, f in enumerate(self.factors)]
        return math.prod(images[1:], start=images[0])


class DiscreteMultiple(DiscreteOperator):
    """u -> factor T(u)."""

    operator: DiscreteOperator
    factor: float = eqx.field(static=True)

    @property
    def source(self) -> UniformGrid:
        """The grid the operator reads."""
        return self.operator.source

    @property
    def target(self) -> UniformGrid:
        """The grid the operator maps to."""
        return self.operator.target

    def coefficients(self, at: At) -> Coefficients:
        """Those of the operator."""
        return self.operator.coefficients(at)

    def apply(self, coefficients: Coefficients, u: Array, measure: TokenMeasure) -> Array:
        """The multiple of the image."""
        return self.factor * self.operator.apply(coefficients, u, measure)


class DiscreteComposition(DiscreteOperator):
    """u -> T_n(...T_1(u))."""

    stages: tuple[DiscreteOperator, ...]

    @property
    def source(self) -> UniformGrid:
        """The grid the first stage reads."""
        return self.stages[0].source

    @property
    def target(self) -> UniformGrid:
        """The grid the last stage maps to."""
        return self.stages[-1].target

    def coefficients(self, at: At) -> Coefficients:
        """Those of the stages, by position."""
        return {str(k): stage.coefficients(at) for k, stage in enumerate(self.stages)}

    def apply(self, coefficients: Coefficients, u: Array, measure: TokenMeasure) -> Array:
        """The composition, first stage first."""
        for k, stage in enumerate(self.stages):
            u = stage.apply(coefficients[str(k)], u, measure)
        return u


@discretize_operator.register
def _(operator: Sum, grid: Grid) -> DiscreteSum:
    return DiscreteSum(tuple(discretize_operator(term, grid) for term in operator.terms))


@discretize_operator.register
def _(operator: Product, grid: Grid) -> DiscreteProduct:
    return DiscreteProduct(tuple(discretize_operator(f, grid) for f in operator.factors))


@discretize_operator.register
def _(operator: Composition, grid: Grid) -> DiscreteComposition:
    return DiscreteComposition(tuple(discretize_operator(s, grid) for s in operator.stages))

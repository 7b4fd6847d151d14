"""Discrete projections, normalisations, affine and pointwise maps."""

import math
from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from continuum.constraints import MomentSet, NonnegativeCone
from continuum.kernels import Field
from continuum.operators import Affine, Normalisation, Pointwise, Projection
from discretize.grids import Grid, UniformGrid
from discretize.operators.base import Coefficients, DiscreteOperator, discretize_operator
from discretize.operators.measure import TokenMeasure
from discretize.sampling import At, sample_field

_FUNCTIONS = {
    # The definition; jax.nn.gelu's exact form goes through erfc, which costs 2.5 times as much.
    "gelu": lambda u: 0.5 * u * (1.0 + jax.lax.erf(u / math.sqrt(2.0))),
    "gelu_tanh": lambda u: jax.nn.gelu(u, approximate=True),
    "relu": lambda u: jnp.maximum(u, 0.0),
    "silu": jax.nn.silu,
    "tanh": jnp.tanh,
}


class _OneGrid(DiscreteOperator):
    """A discrete operator that stays on one feature grid."""

    if TYPE_CHECKING:  # a type checker would take an AbstractVar for a constructor argument

        @property
        def grid(self) -> UniformGrid:
            """The feature grid."""
            ...

    else:
        grid: eqx.AbstractVar[UniformGrid]

    @property
    def source(self) -> UniformGrid:
        """The feature grid."""
        return self.grid

    @property
    def target(self) -> UniformGrid:
        """The feature grid."""
        return self.grid


class DiscreteProjection(_OneGrid):
    """P_S(u) with the moments taken by the grid's quadrature."""

    constraint: MomentSet | NonnegativeCone = eqx.field(static=True)
    grid: UniformGrid = eqx.field(static=True)

    def coefficients(self, at: At) -> Coefficients:
        """None."""
        return {}

    def apply(self, coefficients: Coefficients, u: Array, measure: TokenMeasure) -> Array:
        """P_S(u)."""
        return self.project(u)

    def project(self, u: Array) -> Array:
        """P_S(u), for every x."""
        return self.constraint.project(u, self.grid.mean)

    def tangent(self, at: Array, direction: Array) -> Array:
        """The projection of ``direction`` onto the tangent space of the set at ``at``."""
        return self.constraint.tangent(at, direction, self.grid.mean)

    def violation(self, u: Array) -> Array:
        """How far u is from the set, for every x."""
        return self.constraint.violation(u, self.grid.mean)


class DiscreteNormalisation(_OneGrid):
    """gamma (u - alpha) / sqrt(beta + eps) + shift with moments by the grid's quadrature."""

    gamma: Field | None
    shift: Field | None
    eps: float = eqx.field(static=True)
    grid: UniformGrid = eqx.field(static=True)
    centred: bool = eqx.field(static=True, default=True)

    def coefficients(self, at: At) -> Coefficients:
        """``gamma`` and ``shift``, where they exist."""
        fields = {"gamma": self.gamma, "shift": self.shift}
        return {
            name: sample_field(field, self.grid, at.times, at.within)
            for name, field in fields.items()
            if field is not None
        }

    def apply(
        self,
        coefficients: Coefficients,
        u: Array,
        measure: TokenMeasure,
        eps: float | None = None,
    ) -> Array:
        """The normalisation; ``eps`` replaces the equation's own where a relaxation scaled u."""
        eps = self.eps if eps is None else eps
        unit = self._centred(u, eps) if self.centred else self._scaled(u, eps)
        scaled = unit * coefficients["gamma"] if "gamma" in coefficients else unit
        return scaled + coefficients["shift"] if "shift" in coefficients else scaled

    def _centred(self, u: Array, eps: float) -> Array:
        if eps == 0.0:
            return MomentSet().project(u, self.grid.mean)
        return self._scaled(u - self.grid.mean(u), eps)

    def _scaled(self, u: Array, eps: float) -> Array:
        square = self.grid.mean(u**2) + eps
        return u / jnp.sqrt(square if eps > 0.0 else jnp.where(square > 0.0, square, 1.0))


class DiscreteAffine(_OneGrid):
    """(gamma + identity) u + beta at the nodes."""

    gamma: Field
    beta: Field
    identity: float = eqx.field(static=True)
    grid: UniformGrid = eqx.field(static=True)

    def coefficients(self, at: At) -> Coefficients:
        """``factor`` and ``shift``."""
        factor = sample_field(self.gamma, self.grid, at.times, at.within)
        if self.identity != 0.0:
            factor = factor.map(lambda v: v + self.identity)
        return {"factor": factor, "shift": sample_field(self.beta, self.grid, at.times, at.within)}

    def apply(self, coefficients: Coefficients, u: Array, measure: TokenMeasure) -> Array:
        """Factor times u plus shift."""
        return u * coefficients["factor"] + coefficients["shift"]


class DiscretePointwise(_OneGrid):
    """phi(u) at the nodes."""

    name: str = eqx.field(static=True)
    grid: UniformGrid = eqx.field(static=True)

    def coefficients(self, at: At) -> Coefficients:
        """None."""
        return {}

    def apply(self, coefficients: Coefficients, u: Array, measure: TokenMeasure) -> Array:
        """phi(u)."""
        return _FUNCTIONS[self.name](u)


@discretize_operator.register
def _(operator: Projection, grid: Grid) -> DiscreteProjection:
    return DiscreteProjection(operator.constraint, grid.auxiliary(operator.domain))


@discretize_operator.register
def _(operator: Normalisation, grid: Grid) -> DiscreteNormalisation:
    return DiscreteNormalisation(
        operator.gamma,
        operator.shift,
        operator.eps,
        grid.auxiliary(operator.domain),
        operator.centred,
    )


@discretize_operator.register
def _(operator: Affine, grid: Grid) -> DiscreteAffine:
    return DiscreteAffine(
        operator.gamma, operator.beta, operator.identity, grid.auxiliary(operator.source)
    )


@discretize_operator.register
def _(operator: Pointwise, grid: Grid) -> DiscretePointwise:
    return DiscretePointwise(operator.name, grid.auxiliary(operator.domain))

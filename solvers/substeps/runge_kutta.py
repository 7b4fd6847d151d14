"""Runge-Kutta substeps, on all of the space or on a constraint set."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from discretize.operators import DiscreteOperator, DiscreteProjection, TokenMeasure
from discretize.operators.base import Coefficients
from discretize.sampling import At, Table
from solvers.substeps.base import Recorder, Substep
from solvers.tableaux import Tableau


class RungeKutta(Substep):
    """One step of an explicit Runge-Kutta method for u_t = T(u), or for u_t = Pi_u T(u) on a set.

    With a ``constraint`` every stage is evaluated at the projection of its argument, its
    tendency is projected onto the tangent space there, and the result back onto the set: the state
    stays on it, and the order is that of the tableau.

    Args:
        name: the substep's name in records.
        operator: T.
        tableau: the method.
        constraint: the projection onto the set, or None.
    """

    name: str = eqx.field(static=True)
    operator: DiscreteOperator
    tableau: Tableau = eqx.field(static=True)
    constraint: DiscreteProjection | None = None

    def prepare(self, at: At, dt: float) -> Coefficients:
        """The operator's coefficients at every stage time, and dt."""
        stages: dict[str, Any] = {
            str(k): self.operator.coefficients(At(at.times + c * dt, at.tokens, at.within))
            for k, c in enumerate(self.tableau.c)
        }
        return {"stages": stages, "dt": Table(jnp.full((1,), dt), False)}

    def advance(
        self, coefficients: Coefficients, u: Array, measure: TokenMeasure, record: Recorder
    ) -> Array:
        """The state after one step of the method."""
        dt = coefficients["dt"].astype(u.dtype)
        slopes: list[Array] = []
        for k, row in enumerate(self.tableau.a):
            point = self._retract(_along(u, dt, row, slopes))
            slope = self.operator.apply(coefficients["stages"][str(k)], point, measure)
            slopes.append(self._tangent(point, slope))
        u = self._retract(_along(self._retract(u), dt, self.tableau.b, slopes))
        record(self.name, u)
        return u

    def _retract(self, u: Array) -> Array:
        if self.constraint is None:
            return u
        return self.constraint.constraint.project(u, self.constraint.grid.mean)

    def _tangent(self, at: Array, slope: Array) -> Array:
        if self.constraint is None:
            return slope
        return self.constraint.constraint.tangent(at, slope, self.constraint.grid.mean)


def _along(u: Array, dt: Array, row: tuple[float, ...], slopes: list[Array]) -> Array:
    """U + dt sum_j row_j k_j, without the terms that are zero."""
    terms = [weight * slope for weight, slope in zip(row, slopes, strict=True) if weight != 0.0]
    return u + dt * sum(terms[1:], start=terms[0]) if terms else u

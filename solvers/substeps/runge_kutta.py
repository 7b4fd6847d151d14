"""Runge-Kutta substeps, on all of the space or on a constraint set."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from discretize.operators import DiscreteOperator, DiscreteProjection, TokenMeasure
from discretize.operators.base import Coefficients
from discretize.sampling import At, Table, is_table
from solvers.substeps.base import Recorder, Substep
from solvers.tableaux import Tableau

#: Methods with more stages than this run them in a loop: the time to compile would grow with them.
_UNROLLED = 1


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

    @property
    def reversible(self) -> bool:
        """Yes, to the order of the tableau."""
        return True

    def prepare(self, at: At, dt: float) -> Coefficients:
        """Per stage the operator's coefficients that change with t, once those that don't; dt."""
        stages: list[Coefficients] = [
            self.operator.coefficients(At(at.times + c * dt, at.tokens, at.within))
            for c in self.tableau.c
        ]
        moving = [_select(stage, varying=True) for stage in stages]
        return {
            "shared": _select(stages[0], varying=False),
            "stages": {str(k): stage for k, stage in enumerate(moving)},
            "dt": Table(jnp.full((1,), dt), False),
        }

    def advance(
        self, coefficients: Coefficients, u: Array, measure: TokenMeasure, record: Recorder
    ) -> Array:
        """The state after one step of the method."""
        dt = coefficients["dt"].astype(u.dtype)
        shared, stages = coefficients["shared"], list(coefficients["stages"].values())

        def slope(point: Array, stage: Coefficients) -> Array:
            point = self._retract(point)
            now = eqx.combine(shared, stage)
            return self._tangent(point, self.operator.apply(now, point, measure))

        if len(stages) <= _UNROLLED:
            slopes: list[Array] = []
            for row, stage in zip(self.tableau.a, stages, strict=True):
                slopes.append(slope(_along(u, dt, row, slopes), stage))
            u = _along(self._retract(u), dt, self.tableau.b, slopes)
        else:
            u = self._retract(u) + dt * _looped(self.tableau, u, dt, stages, slope)
        u = self._retract(u)
        record(self.name, u)
        return u

    def _retract(self, u: Array) -> Array:
        if self.constraint is None:
            return u
        return self.constraint.project(u)

    def _tangent(self, at: Array, slope: Array) -> Array:
        if self.constraint is None:
            return slope
        return self.constraint.tangent(at, slope)


def _select(tables: Coefficients, varying: bool) -> Coefficients:
    """The tables that vary, or those that do not; None elsewhere."""
    keep = lambda table: table if table.varying == varying else None  # noqa: E731
    return jax.tree.map(keep, tables, is_leaf=is_table)


def _looped(
    tableau: Tableau,
    u: Array,
    dt: Array,
    stages: list[Coefficients],
    slope: Callable[[Array, Coefficients], Array],
) -> Array:
    """sum_i b_i k_i, the stages in a loop: one right-hand side to compile instead of many."""
    count = len(stages)
    rows = jnp.array([(*row, *[0.0] * (count - len(row))) for row in tableau.a], u.dtype)
    moving = jax.tree.map(lambda *leaves: jnp.stack(leaves), *stages)

    def one(slopes: Array, now: tuple[Array, Array, Coefficients]) -> tuple[Array, None]:
        k, row, stage = now
        found = slope(u + dt * jnp.tensordot(row, slopes, 1), stage)
        return jax.lax.dynamic_update_index_in_dim(slopes, found, k, 0), None

    start = jnp.zeros((count, *u.shape), u.dtype)
    slopes, _ = jax.lax.scan(one, start, (jnp.arange(count), rows, moving))
    return jnp.tensordot(jnp.array(tableau.b, u.dtype), slopes, 1)


def _along(u: Array, dt: Array, row: tuple[float, ...], slopes: list[Array]) -> Array:
    """U + dt sum_j row_j k_j, without the terms that are zero."""
    terms = [weight * slope for weight, slope in zip(row, slopes, strict=True) if weight != 0.0]
    return u + dt * sum(terms[1:], start=terms[0]) if terms else u

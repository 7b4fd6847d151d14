"""The one time loop."""

from collections.abc import Callable

import equinox as eqx
import jax
from jax import Array

from discretize.operators.base import Coefficients
from discretize.sampling import Table


def evolve(
    step: Callable[[Coefficients, Array], tuple[Array, tuple[Array, ...]]],
    coefficients: Coefficients,
    u0: Array,
    *,
    num_steps: int,
    save_every: int,
) -> tuple[Array, Array, tuple[Array, ...]]:
    """Advance ``u0`` by ``num_steps`` steps.

    Args:
        step: (coefficients at one time, u) -> (u, what to record of the step).
        coefficients: tables over the start times of the steps.
        u0: the initial state.
        num_steps: how many steps; a multiple of ``save_every``.
        save_every: how many steps lie between two saved states.

    Returns:
        The final state, the saved states (saves, ...) without the initial one, and the records
        (num_steps, ...).
    """
    is_table = lambda node: isinstance(node, Table)  # noqa: E731
    flags = jax.tree.map(lambda table: table.varying, coefficients, is_leaf=is_table)
    rows = jax.tree.map(lambda table: table.values, coefficients, is_leaf=is_table)
    varying, constant = eqx.partition(rows, flags)
    constant = jax.tree.map(lambda v: v[0], constant)

    def one(u: Array, now: Coefficients) -> tuple[Array, tuple[Array, ...]]:
        return step(eqx.combine(now, constant), u)

    def block(u: Array, now: Coefficients) -> tuple[Array, tuple[Array, tuple[Array, ...]]]:
        u, records = jax.lax.scan(one, u, now, length=save_every)
        return u, (u, records)

    saves = num_steps // save_every
    blocked = jax.tree.map(lambda v: v.reshape(saves, save_every, *v.shape[1:]), varying)
    final, (saved, records) = jax.lax.scan(block, u0, blocked, length=saves)
    return final, saved, jax.tree.map(lambda v: v.reshape(num_steps, *v.shape[2:]), records)

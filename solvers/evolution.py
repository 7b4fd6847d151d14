"""The one time loop."""

from collections.abc import Callable
from typing import Any

import jax
from jax import Array

from discretize.operators.base import Coefficients
from discretize.sampling import Table, is_table


def evolve(
    step: Callable[[Coefficients, Array], tuple[Array, Any]],
    coefficients: Coefficients,
    u0: Array,
    *,
    num_steps: int,
    save_every: int,
) -> tuple[Array, Array, Any]:
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
    tables, tree = jax.tree.flatten(coefficients, is_leaf=is_table)
    saves = num_steps // save_every

    def one(u: Array, moving: list[Any]) -> tuple[Array, Any]:
        rows = [_row(table, now) for table, now in zip(tables, moving, strict=True)]
        return step(jax.tree.unflatten(tree, rows), u)

    def block(u: Array, moving: list[Any]) -> tuple[Array, tuple[Array, Any]]:
        u, records = jax.lax.scan(one, u, moving, length=save_every)
        return u, (u, records)

    moving = [_moving(table) for table in tables]
    if saves == 1:  # one loop, as one would write it by hand
        final, records = jax.lax.scan(one, u0, moving, length=num_steps)
        return final, final[None], records
    moving = jax.tree.map(lambda v: v.reshape(saves, save_every, *v.shape[1:]), moving)
    final, (saved, records) = jax.lax.scan(block, u0, moving, length=saves)
    return final, saved, jax.tree.map(lambda v: v.reshape(num_steps, *v.shape[2:]), records)


def _moving(table: Table) -> Any:
    """What of a table changes from step to step: its rows, or only where they are looked up."""
    if not table.varying:
        return None
    return table.values if table.index is None else (table.index, table.weight)


def _row(table: Table, now: Any) -> Array:
    """The coefficients of one step."""
    if not table.varying:
        return table.values[0]
    return now if table.index is None else table.row(*now)

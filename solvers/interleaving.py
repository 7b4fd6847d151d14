"""Coefficients of the parts of a step, put in the order in which the parts are taken."""

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax import Array

from discretize.operators.base import Coefficients
from discretize.sampling import Table, is_table


def interleave(parts: list[Coefficients], steps: int) -> Coefficients:
    """Tables over n steps, one tree for each of P parts, as one tree of tables over n P parts.

    Args:
        parts: the trees, which have one structure.
        steps: n.
    """
    if len(parts) == 1:
        return parts[0]
    return jax.tree.map(lambda *tables: _weave(tables, steps), *parts, is_leaf=is_table)


def _weave(tables: tuple[Table, ...], steps: int) -> Table:
    first = tables[0]
    if not any(table.varying for table in tables):
        if all(_same(table.values, first.values) for table in tables[1:]):
            return first
        index = np.tile(np.arange(len(tables)), steps)
        return Table(jnp.concatenate([table.values for table in tables]), True, index)
    if first.index is not None and all(_same(t.values, first.values) for t in tables[1:]):
        index = jnp.stack([jnp.asarray(t.index) for t in tables], axis=1).reshape(-1)
        if first.weight is None:
            return Table(first.values, True, index)
        weight = jnp.stack([jnp.asarray(t.weight) for t in tables], axis=1).reshape(-1)
        return Table(first.values, True, index, weight)
    rows = jnp.stack([table.rows(steps) for table in tables], axis=1)
    return Table(rows.reshape(len(tables) * steps, *rows.shape[2:]), True)


def _same(one: Array | np.ndarray, other: Array | np.ndarray) -> bool:
    """Whether two arrays are known to hold the same values; traced ones never are."""
    if isinstance(one, jax.core.Tracer) or isinstance(other, jax.core.Tracer):
        return one is other
    return one.shape == other.shape and bool(jnp.array_equal(one, other))

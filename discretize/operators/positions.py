"""What depends on token positions, on grids: key weights of causal integrals, rotations, biases."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from continuum.operators import Causal, Rotary, ScoreBias
from discretize.grids import FixedGrid, UniformGrid
from discretize.operators.measure import TokenMeasure


def places(grid: FixedGrid, coordinate: str) -> np.ndarray:
    """The coordinate p at the nodes, in tokens: the number of the cell, or x - 1/2.

    Raises:
        ValueError: on an Omega_x of more than one dimension, or without bounds of its cells.
    """
    if not isinstance(grid, UniformGrid) or grid.domain.dimension != 1:
        raise ValueError(
            "an operator that reads token positions needs a one-dimensional Omega_x, got "
            f"{grid.domain}"
        )
    where = grid.nodes - grid.domain.lower[0]
    # a node never lies on the border of a unit cell, but for the first one of the left rule
    return np.floor(where + 1e-9) if coordinate == "cell" else where - 0.5


def causal_log_weights(causal: Causal, measure: TokenMeasure, scores: Array) -> Array:
    """Log of the key weights that lie in the region of integration.

    A masked token that no valid key precedes is no valid token either; it sees all keys alike, so
    that its values, which nobody reads, stay finite.
    """
    weights = _region(causal, measure.grid, scores)
    if measure.log_weights is None:
        return weights
    weights = weights + measure.log_weights[..., None, None, :]
    sees_some = jnp.any(weights > -jnp.inf, axis=-1, keepdims=True)
    return jnp.where(sees_some, weights, 0.0)


def _region(causal: Causal, grid: FixedGrid | None, scores: Array) -> Array:
    """0 where keys count, log of the share on the diagonal, -inf elsewhere."""
    if grid is not None and not _is_sequence(grid):
        raise ValueError(
            "causal attention needs a one-dimensional Omega_x and a rule with one node per cell "
            f"(midpoint, left), got {grid.domain} with {grid.shape} nodes in {grid.cells} cells"
        )
    if causal.coordinate == "cell" and isinstance(grid, UniformGrid):
        # computed from the position of the token: a constant mask would be stored in the program
        each = _nodes_per_unit(grid)
        query = jax.lax.broadcasted_iota(jnp.int32, scores.shape[-2:], 0) // each
        key = jax.lax.broadcasted_iota(jnp.int32, scores.shape[-2:], 1) // each
        return jnp.where(key > query, -jnp.inf, 0.0).astype(scores.dtype)
    query = jax.lax.broadcasted_iota(jnp.int32, scores.shape[-2:], 0)
    key = jax.lax.broadcasted_iota(jnp.int32, scores.shape[-2:], 1)
    share = jnp.where(key == query, math.log(causal.diagonal), 0.0)
    return jnp.where(key > query, -jnp.inf, share).astype(scores.dtype)


def _is_sequence(grid: FixedGrid) -> bool:
    """Whether nodes stand in one row, one in each cell."""
    one_row = isinstance(grid, UniformGrid) and grid.domain.dimension == 1
    return one_row and grid.shape == grid.cells


def _nodes_per_unit(grid: UniformGrid) -> int:
    each = round(1.0 / grid.spacing[0])
    if each < 1 or abs(each * grid.spacing[0] - 1.0) > 1e-9:
        raise ValueError(
            "a causal integral over cells needs a token grid that cuts unit cells into whole "
            f"parts, got the spacing {grid.spacing[0]:g}"
        )
    return each


def rotation(rotary: Rotary, grid: FixedGrid) -> tuple[Array, Array]:
    """Cosines and sines of p(x) omega_k, each of shape (x, pairs)."""
    place = jnp.asarray(places(grid, rotary.coordinate), rotary.frequencies.dtype)
    angles = place[:, None] * rotary.frequencies
    return jnp.cos(angles), jnp.sin(angles)


def rotate(rotary: Rotary, cos: Array, sin: Array, values: Array, units: int) -> Array:
    """Turn (..., x, eta) values in pairs of unit cells of eta.

    Args:
        rotary: which cells make a pair.
        cos: (x, pairs).
        sin: (x, pairs).
        values: (..., x, eta) with a whole number of nodes per unit cell.
        units: unit cells along eta.
    """
    cells = values.reshape(*values.shape[:-1], units, values.shape[-1] // units)
    # of the table, since the rotary's own arrays are not there while a step is taken
    pairs = cos.shape[-1]
    turned, rest = cells[..., : 2 * pairs, :], cells[..., 2 * pairs :, :]
    if rotary.interleaved:
        first, second = turned[..., 0::2, :], turned[..., 1::2, :]
    else:
        first, second = turned[..., :pairs, :], turned[..., pairs:, :]
    cos, sin = cos[..., None], sin[..., None]
    first, second = first * cos - second * sin, second * cos + first * sin
    if rotary.interleaved:
        turned = jnp.stack([first, second], axis=-2).reshape(turned.shape)
    else:
        turned = jnp.concatenate([first, second], axis=-2)
    return jnp.concatenate([turned, rest], axis=-2).reshape(values.shape)


def sampled_bias(bias: ScoreBias, query: FixedGrid, key: FixedGrid, heads: int) -> Array:
    """b(p(x~) - p(x); zeta), shape (head nodes, x, x~)."""
    from_query = places(query, bias.coordinate)
    distance = places(key, bias.coordinate)[None, :] - from_query[:, None]
    if bias.coordinate == "cell":
        distance = distance.astype(int)
    return jnp.repeat(bias(distance), heads // bias.heads, axis=0)

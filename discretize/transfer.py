"""States moved between grids."""

from typing import TypeAlias

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from discretize.grids import AtomicGrid, Grid, TokenGrid, UniformGrid

#: Values on the host or of jax; the results are jax arrays.
Values: TypeAlias = Float[Array, "..."] | Float[np.ndarray, "..."]

#: Nodes this close together, in cells of the fine grid, are one.
_SAME_NODE = 1e-9


def lift(
    u: Float[Array, "*batch x y"] | Float[np.ndarray, "*batch x y"],
    tokens: int = 1,
    features: int = 1,
) -> Float[Array, "*batch fine_x fine_y"]:
    """The piecewise constant function with cell values ``u``, sampled on a refined grid.

    Args:
        u: values on the coarse grid, one-dimensional in x.
        tokens: nodes of the fine grid per coarse cell in x.
        features: the same in y.
    """
    return jnp.repeat(jnp.repeat(u, tokens, axis=-2), features, axis=-1)


def lift_state(
    u: Float[Array, "*batch x y"] | Float[np.ndarray, "*batch x y"], coarse: Grid, fine: Grid
) -> Float[Array, "*batch fine_x fine_y"]:
    """The piecewise constant state with cell values ``u`` on one grid, sampled on a finer one.

    Args:
        u: values at the nodes of ``coarse``, atoms first where there are any.
        coarse: the grids in x and y of the values.
        fine: grids of the same domains whose cells subdivide those of ``coarse``.

    Raises:
        ValueError: see :func:`average`, or if the two token grids are of different kinds.
    """
    u = jnp.asarray(u)
    u = lift_cells(u, coarse.features, fine.features, -1)
    here, there = coarse.tokens, fine.tokens
    if isinstance(here, TokenGrid) and isinstance(there, TokenGrid):
        parts = there.refinement // here.refinement
        return lift_cells(u, here.of(u.shape[-2]), there.of(u.shape[-2] * parts), -2)
    if isinstance(here, AtomicGrid) and isinstance(there, AtomicGrid):
        atoms, cells = u[..., : here.atoms, :], u[..., here.atoms :, :]
        return jnp.concatenate([atoms, lift_cells(cells, here.box, there.box, -2)], axis=-2)
    if isinstance(here, UniformGrid) and isinstance(there, UniformGrid):
        return lift_cells(u, here, there, -2)
    raise ValueError(f"lift_state: expected two token grids of one kind, got {here} and {there}")


def lift_cells(
    values: Values, coarse: UniformGrid, fine: UniformGrid, axis: int
) -> Float[Array, "..."]:
    """The piecewise constant function with cell values ``values``, sampled on a finer grid.

    Args:
        values: with one entry for each cell of ``coarse`` along ``axis``.
        coarse: the grid of the values, of any dimension.
        fine: a grid of the same domain whose cells subdivide those of ``coarse``.
        axis: the (flat) axis of the grid.

    Raises:
        ValueError: see :func:`average`.
    """
    factors = _factors("lift_cells", fine, coarse)
    _check_length("lift_cells", values, coarse, axis)
    cells = [np.repeat(np.arange(n), f) for n, f in zip(coarse.cells, factors, strict=True)]
    return jnp.take(values, _flat(cells, coarse.shape), axis=axis)


def average(
    values: Values, fine: UniformGrid, coarse: UniformGrid, axis: int
) -> Float[Array, "..."]:
    """Means over the cells of a coarser grid: the inverse of :func:`lift_cells` on its image.

    For smooth functions at midpoint nodes the mean is h^2 / 24 (f_xx) away from the node's value.

    Args:
        values: with one entry for each cell of ``fine`` along ``axis``.
        fine: the grid of the values, of any dimension.
        coarse: a grid of the same domain whose cells hold whole numbers of cells of ``fine``.
        axis: the (flat) axis of the grid.

    Raises:
        ValueError: if the domains differ, the cell counts are no whole multiples, a rule has not
            one node per cell, or the axis has another length.
    """
    factors = _factors("average", fine, coarse)
    _check_length("average", values, fine, axis)
    axis %= values.ndim
    before, after = values.shape[:axis], values.shape[axis + 1 :]
    blocks = [n for pair in zip(coarse.cells, factors, strict=True) for n in pair]
    over = tuple(axis + 2 * k + 1 for k in range(len(factors)))
    means = jnp.mean(values.reshape(*before, *blocks, *after), axis=over)
    return means.reshape(*before, coarse.size, *after)


def inject(
    values: Values, fine: UniformGrid, coarse: UniformGrid, axis: int
) -> Float[Array, "..."]:
    """The values at the nodes that a finer grid shares with a coarser one.

    Args:
        values: with one entry for each node of ``fine`` along ``axis``.
        fine: the grid of the values, of any dimension.
        coarse: a grid of the same domain, each of whose nodes is a node of ``fine``.
        axis: the (flat) axis of the grid.

    Raises:
        ValueError: if the domains differ, a coarse node is no fine node to 1e-9 cells, or the axis
            has another length.
    """
    if fine.domain != coarse.domain:
        raise ValueError(
            f"inject: expected two grids of one domain, got {fine.domain} and {coarse.domain}"
        )
    _check_length("inject", values, fine, axis)
    nodes = [_shared(fine, coarse, position) for position in range(len(fine.shape))]
    return jnp.take(values, _flat(nodes, fine.shape), axis=axis)


def _flat(indices: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Flat (C order) indices into ``shape`` of the product of indices along each coordinate."""
    return np.ravel_multi_index(np.meshgrid(*indices, indexing="ij"), shape).reshape(-1)


def _shared(fine: UniformGrid, coarse: UniformGrid, position: int) -> np.ndarray:
    """For each coarse node along one coordinate, the index of the fine node at the same place."""
    nodes, wanted = fine.axes[position], coarse.axes[position]
    found = np.abs(wanted[:, None] - nodes).argmin(axis=1)
    if np.any(np.abs(nodes[found] - wanted) > _SAME_NODE * fine.spacing[position]):
        raise ValueError(
            f"inject: the nodes of {coarse.cells[position]} cells ({coarse.rules[position].name}) "
            f"are no nodes of {fine.cells[position]} cells ({fine.rules[position].name}) of "
            f"{fine.domain}: with one rule on both grids, midpoint and periodic nodes nest under "
            "every odd factor, trapezoid, left and simpson nodes under every whole factor; or "
            "compare cell averages"
        )
    return found


def _factors(owner: str, fine: UniformGrid, coarse: UniformGrid) -> tuple[int, ...]:
    """How many fine cells make a coarse one, along each coordinate."""
    fits = fine.domain == coarse.domain and all(
        n % m == 0 for n, m in zip(fine.cells, coarse.cells, strict=True)
    )
    if not fits or fine.shape != fine.cells or coarse.shape != coarse.cells:
        raise ValueError(
            f"{owner}: expected two grids of one domain with one node per cell (midpoint, left, "
            f"periodic), the finer one with whole multiples of cells, got {fine.cells} cells with "
            f"{fine.shape} nodes on {fine.domain} and {coarse.cells} with {coarse.shape} on "
            f"{coarse.domain}"
        )
    return tuple(n // m for n, m in zip(fine.cells, coarse.cells, strict=True))


def _check_length(owner: str, values: Values, grid: UniformGrid, axis: int) -> None:
    if values.shape[axis] != grid.size:
        raise ValueError(
            f"{owner}: expected {grid.size} values along axis {axis}, one for each node, got "
            f"{values.shape[axis]}"
        )

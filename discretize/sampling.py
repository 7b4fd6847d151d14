"""Kernels and fields sampled on grids and at times."""

import dataclasses
import math
from collections.abc import Callable
from functools import singledispatch
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from continuum.domains import Domain
from continuum.kernels import (
    AnalyticField,
    AnalyticKernel,
    CellField,
    CellKernel,
    Field,
    Kernel,
    LowRankKernel,
    SeparableKernel,
    on_host,
)
from continuum.kernels.cells import cell_index, depth_index, depth_position
from discretize.grids import FixedGrid, UniformGrid


@dataclasses.dataclass(frozen=True)
class At:
    """When and where coefficients are wanted.

    Args:
        times: the depths t, shape (n,), float64 on the host or traced.
        tokens: the grid of Omega_x.
        within: times inside the substeps, which say what depth cell each one runs in: the end of a
            step belongs to this step's cell, not to the next one's.  By default the times.
    """

    times: np.ndarray | Array
    tokens: FixedGrid
    within: np.ndarray | Array | None = None


class Table(eqx.Module):
    """Coefficients over time, as the rows that are needed and where each time finds its own.

    Row k is ``values[0]`` if not ``varying``; ``values[k]`` without an ``index``; ``values[i]``
    with i = ``index[k]``; and (1 - w) values[i] + w values[i + 1] with a weight w = ``weight[k]``
    (past the last row: the last row).  So a kernel with a few rows in t costs those rows, however
    many steps are taken.

    Args:
        values: the rows, shape (rows, ...); of NumPy where they were sampled on the host, until
            :meth:`astype` moves them to the device.
        varying: whether the rows change from time to time.
        index: (times,) whole numbers, or None.
        weight: (times,) numbers in [0, 1], or None.
    """

    values: Array | np.ndarray
    varying: bool = eqx.field(static=True)
    index: Array | np.ndarray | None = None
    weight: Array | np.ndarray | None = None

    def map(self, function: Callable[[Any], Any]) -> "Table":
        """The table of ``function(row)``; with a weight the function must be affine."""
        return Table(function(self.values), self.varying, self.index, self.weight)

    def astype(self, dtype: np.dtype) -> "Table":
        """The table on the device, values and weights in the given precision."""
        weight = None if self.weight is None else jnp.asarray(self.weight, dtype)
        return Table(jnp.asarray(self.values, dtype), self.varying, self.index, weight)

    @property
    def schedule(self) -> tuple[Array | np.ndarray | None, Array | np.ndarray | None]:
        """What changes from time to time beside the values: index and weight."""
        return self.index, self.weight

    def row(self, index: Array | None, weight: Array | None) -> Array:
        """The row at one time, given that time's index and weight."""
        assert index is not None
        found = jax.lax.dynamic_index_in_dim(jnp.asarray(self.values), index, keepdims=False)
        if weight is None:
            return found
        after = jnp.minimum(index + 1, self.values.shape[0] - 1)
        following = jax.lax.dynamic_index_in_dim(jnp.asarray(self.values), after, keepdims=False)
        weight = weight.astype(found.dtype)
        return (1.0 - weight) * found + weight * following

    def expand(self) -> "Table":
        """The same table with one row for each time."""
        if self.index is None:
            return self
        index, weight = jnp.asarray(self.index), self.weight
        if weight is None:
            return Table(jax.vmap(lambda i: self.row(i, None))(index), True)
        return Table(jax.vmap(self.row)(index, jnp.asarray(weight)), True)

    def rows(self, count: int) -> Array:
        """The rows of ``count`` times, shape (count, ...)."""
        if not self.varying:
            return jnp.broadcast_to(self.values, (count, *self.values.shape[1:]))
        return jnp.asarray(self.expand().values)


def is_table(node: object) -> bool:
    """Whether a node of a tree of coefficients is a table, that is a leaf of it."""
    return isinstance(node, Table)


@singledispatch
def sample_kernel(
    kernel: Kernel, source: UniformGrid, target: UniformGrid, times: np.ndarray | Array
) -> Table:
    """K at the nodes: rows of shape (source nodes, target nodes), without quadrature weights."""
    raise TypeError(f"no sampling is registered for the kernel {type(kernel).__name__}")


@sample_kernel.register
def _(kernel: AnalyticKernel, source: UniformGrid, target: UniformGrid, times, within=None):
    del within
    points = source.nodes[:, None], target.nodes[None, :]
    shape = (source.size, target.size)
    return sample_function(kernel.function, points, shape, times, kernel.time_dependent)


@sample_kernel.register
def _(kernel: SeparableKernel, source: UniformGrid, target: UniformGrid, times, within=None):
    products = [
        _outer(sample_field(a, source, times, within), sample_field(c, target, times, within))
        for a, c in zip(kernel.left, kernel.right, strict=True)
    ]
    return _add(products)


@sample_kernel.register
def _(kernel: CellKernel, source: UniformGrid, target: UniformGrid, times, within=None):
    values = at_depths(kernel.values, kernel.duration, kernel.degree, times, within)
    values = values.map(lambda v: _on_nodes(v, 1, kernel.source, kernel.source_cells, source))
    return values.map(lambda v: _on_nodes(v, 2, kernel.target, kernel.target_cells, target))


@sample_kernel.register
def _(kernel: LowRankKernel, source: UniformGrid, target: UniformGrid, times, within=None):
    left, right = _factors_on_nodes(kernel, source, target)
    product = jnp.matmul(left, right, precision="highest")
    return at_depths(product, kernel.duration, kernel.degree, times, within)


def sample_factors(
    kernel: Kernel,
    source: UniformGrid,
    target: UniformGrid,
    times: np.ndarray | Array,
    within: np.ndarray | Array | None = None,
) -> tuple[Table, Table] | None:
    """The two factors of a low-rank kernel at the nodes, K = left @ right at each time.

    Args:
        kernel: any kernel.
        source: the grid of xi.
        target: the grid of y.
        times: the depths t.
        within: times inside the substeps, see :class:`At`.

    Returns:
        Rows of shape (source nodes, rank) and (rank, target nodes), without quadrature weights;
        None for kernels that are not given by factors, and for those of degree 1 in t, whose rank
        doubles between the nodes.

    Raises:
        ValueError: as :func:`sample_kernel` does, for grids whose cells do not fit the kernel's.
    """
    if not isinstance(kernel, LowRankKernel) or (kernel.degree and kernel.time_dependent):
        return None
    left, right = _factors_on_nodes(kernel, source, target)
    return (
        at_depths(left, kernel.duration, kernel.degree, times, within),
        at_depths(right, kernel.duration, kernel.degree, times, within),
    )


def _factors_on_nodes(
    kernel: LowRankKernel, source: UniformGrid, target: UniformGrid
) -> tuple[Array, Array]:
    """All rows of the two factors; means over blocks of cells are the mean of the product."""
    return (
        _on_nodes(kernel.left, 1, kernel.source, kernel.source_cells, source),
        _on_nodes(kernel.right, 2, kernel.target, kernel.target_cells, target),
    )


@singledispatch
def sample_field(field: Field, grid: UniformGrid, times: np.ndarray | Array) -> Table:
    """B at the nodes: rows of shape (nodes,)."""
    raise TypeError(f"no sampling is registered for the field {type(field).__name__}")


@sample_field.register
def _(field: AnalyticField, grid: UniformGrid, times, within=None) -> Table:
    del within
    return sample_function(field.function, (grid.nodes,), (grid.size,), times, field.time_dependent)


@sample_field.register
def _(field: CellField, grid: UniformGrid, times, within=None) -> Table:
    values = at_depths(field.values, field.duration, field.degree, times, within)
    return values.map(lambda v: _on_nodes(v, 1, field.domain, field.cells, grid))


def _outer(left: Table, right: Table) -> Table:
    """The product a(xi) c(y); two sides that both vary get one row for each time."""
    if left.varying and right.varying:
        left, right = left.expand(), right.expand()
    values = left.values[:, :, None] * right.values[:, None, :]
    timed = left if left.varying else right
    return Table(values, timed.varying, timed.index, timed.weight)


def _add(tables: list[Table]) -> Table:
    """The sum; terms that vary get one row for each time."""
    tables = tables if len(tables) == 1 else [table.expand() for table in tables]
    total = sum((t.values for t in tables[1:]), start=tables[0].values)
    first = tables[0]
    return Table(total, any(t.varying for t in tables), first.index, first.weight)


def sample_function(
    function: Callable[..., Array],
    points: tuple[np.ndarray, ...],
    shape: tuple[int, ...],
    times: np.ndarray | Array,
    varying: bool,
) -> Table:
    """The values of f(*points, t), by NumPy where f and the times allow, else by jax.

    Args:
        function: f.
        points: nodes, which broadcast to ``shape`` once coordinates are taken apart.
        shape: of the values at one time.
        times: the depths t.
        varying: whether f depends on t; if not, one time is enough.
    """
    times = times if varying else times[:1]
    if isinstance(times, np.ndarray):
        found = on_host(function, *points, times.reshape(-1, *(1 for _ in shape)))
        if found is not None:
            return Table(np.broadcast_to(found, (len(times), *shape)), varying)
    one = lambda t: jnp.broadcast_to(jnp.asarray(function(*points, t)), shape)  # noqa: E731
    return Table(jax.vmap(one)(jnp.asarray(times)), varying)


def at_depths(values: Array, duration: float, degree: int, times, within=None) -> Table:
    """The rows of ``values``, one for each depth cell, as a table over the times of ``at``.

    Args:
        values: (depth cells, ...).
        duration: the length of a depth cell.
        degree: 0 for values constant on depth cells, 1 for values linear between t = k duration.
        times: the depths t.
        within: times inside the substeps, see :class:`At`.
    """
    count = values.shape[0]
    if count == 1:
        return Table(values, False)
    if degree == 1:
        return Table(values, True, *depth_position(times, duration, count))
    index = depth_index(times if within is None else within, duration, count)
    if isinstance(index, np.ndarray) and np.array_equal(index, np.arange(count)):
        return Table(values, True)
    return Table(values, True, index)


def _on_nodes(
    values: Array, axis: int, domain: Domain, cells: tuple[int, ...], grid: UniformGrid
) -> Array:
    """Cell values at the nodes of a grid, along ``axis``; no copy where the two are the same.

    Cells of the grid inside cells of the function take its value.  On a grid coarser by whole
    factors the mean over each cell stands for it.

    Raises:
        ValueError: if neither holds, because a node then says little of its cell.
    """
    one_each = grid.shape == grid.cells
    if all(n % c == 0 for n, c in zip(grid.cells, cells, strict=True)) and one_each:
        index = cell_index(domain, cells, grid.nodes)
        if np.array_equal(index, np.arange(values.shape[axis])):
            return values
        return jnp.take(values, index, axis=axis)
    if all(c % n == 0 for n, c in zip(grid.cells, cells, strict=True)) and one_each:
        return _cell_means(values, axis, cells, grid.cells)
    raise ValueError(
        f"a function that is constant on {cells} cells of {domain} was to be sampled on a grid of "
        f"{grid.cells} cells with {grid.shape} nodes: expected a rule with one node per cell "
        "(midpoint, left, periodic) and cells that subdivide those of the function, or hold whole "
        "numbers of them"
    )


def _cell_means(values: Array, axis: int, fine: tuple[int, ...], coarse: tuple[int, ...]) -> Array:
    """Means over blocks of cells: ``fine`` cells along ``axis`` (flat) become ``coarse`` ones."""
    blocks = [n for pair in zip(coarse, fine, strict=True) for n in (pair[0], pair[1] // pair[0])]
    before, after = values.shape[:axis], values.shape[axis + 1 :]
    shaped = values.reshape(*before, *blocks, *after)
    over = tuple(axis + 2 * k + 1 for k in range(len(coarse)))
    return jnp.mean(shaped, axis=over).reshape(*before, math.prod(coarse), *after)

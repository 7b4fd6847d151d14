"""Kernels and fields sampled on grids and at times."""

import dataclasses
from functools import singledispatch

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from continuum.kernels import (
    AnalyticField,
    AnalyticKernel,
    CellField,
    CellKernel,
    Field,
    Kernel,
    SeparableKernel,
)
from continuum.kernels.cells import cell_index, depth_index
from discretize.grids import UniformGrid


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
    tokens: UniformGrid
    within: np.ndarray | Array | None = None


class Table(eqx.Module):
    """Coefficients over time: ``values`` has one row per time if ``varying``, else a single row."""

    values: Array
    varying: bool = eqx.field(static=True)

    def map(self, function) -> "Table":
        """The table of ``function(values)``."""
        return Table(function(self.values), self.varying)


@singledispatch
def sample_kernel(
    kernel: Kernel, source: UniformGrid, target: UniformGrid, times: np.ndarray | Array
) -> Table:
    """K at the nodes: rows of shape (source nodes, target nodes), without quadrature weights."""
    raise TypeError(f"no sampling is registered for the kernel {type(kernel).__name__}")


@sample_kernel.register
def _(kernel: AnalyticKernel, source: UniformGrid, target: UniformGrid, times, within=None):
    del within
    xi, y = source.nodes[:, None], target.nodes[None, :]
    shape = (source.size, target.size)
    return _over_time(lambda t: kernel(xi, y, t), kernel.time_dependent, times, shape)


@sample_kernel.register
def _(kernel: SeparableKernel, source: UniformGrid, target: UniformGrid, times, within=None):
    products = [
        _outer(sample_field(a, source, times, within), sample_field(c, target, times, within))
        for a, c in zip(kernel.left, kernel.right, strict=True)
    ]
    total = sum((p.values for p in products[1:]), start=products[0].values)
    return Table(total, any(p.varying for p in products))


@sample_kernel.register
def _(kernel: CellKernel, source: UniformGrid, target: UniformGrid, times, within=None):
    values = _at_depths(kernel.values, kernel.duration, times if within is None else within)
    rows = cell_index(kernel.source, kernel.source_cells, source.nodes)
    columns = cell_index(kernel.target, kernel.target_cells, target.nodes)
    return values.map(lambda v: _pick(_pick(v, rows, 1), columns, 2))


@singledispatch
def sample_field(field: Field, grid: UniformGrid, times: np.ndarray | Array) -> Table:
    """B at the nodes: rows of shape (nodes,)."""
    raise TypeError(f"no sampling is registered for the field {type(field).__name__}")


@sample_field.register
def _(field: AnalyticField, grid: UniformGrid, times, within=None) -> Table:
    del within
    return _over_time(lambda t: field(grid.nodes, t), field.time_dependent, times, (grid.size,))


@sample_field.register
def _(field: CellField, grid: UniformGrid, times, within=None) -> Table:
    values = _at_depths(field.values, field.duration, times if within is None else within)
    return values.map(lambda v: _pick(v, cell_index(field.domain, field.cells, grid.nodes), 1))


def _outer(left: Table, right: Table) -> Table:
    return Table(left.values[:, :, None] * right.values[:, None, :], left.varying or right.varying)


def _over_time(function, varying: bool, times, shape: tuple[int, ...]) -> Table:
    if not varying:
        times = times[:1]
    rows = jax.vmap(lambda t: jnp.broadcast_to(function(t), shape))(jnp.asarray(times))
    return Table(rows, varying)


def _at_depths(values: Array, duration: float, times) -> Table:
    if values.shape[0] == 1:
        return Table(values, False)
    return Table(_pick(values, depth_index(times, duration, values.shape[0]), 0), True)


def _pick(values: Array, index, axis: int) -> Array:
    """``values`` at ``index`` along ``axis``; no copy when the index is 0, 1, 2, ..."""
    if isinstance(index, np.ndarray) and np.array_equal(index, np.arange(values.shape[axis])):
        return values
    return jnp.take(values, index, axis=axis)

"""Kernels and fields in a basis, and layered ones, sampled on grids and at times.

Their rows are the few rows that they have in depth; the table knows where each time finds its own.
"""

from typing import Any

import jax.numpy as jnp
from jax import Array

from continuum.kernels import BasisField, BasisKernel, LayeredField, LayeredKernel
from discretize.grids import UniformGrid
from discretize.sampling import Table, at_depths, sample_field, sample_kernel


@sample_kernel.register
def _(kernel: BasisKernel, source: UniformGrid, target: UniformGrid, times, within=None) -> Table:
    phi, psi = kernel.source_functions(source.nodes), kernel.target_functions(target.nodes)
    rows = _contract("sa,dab,tb->dst", phi, kernel.coefficients, psi)
    return at_depths(rows, kernel.duration, kernel.degree, times, within)


@sample_kernel.register
def _(kernel: LayeredKernel, source: UniformGrid, target: UniformGrid, times, within=None) -> Table:
    tables = [sample_kernel(child, source, target, times, within) for child in kernel.children]
    return _layers(tables, kernel, times, within)


@sample_field.register
def _(field: BasisField, grid: UniformGrid, times, within=None) -> Table:
    rows = _contract("da,ya->dy", field.coefficients, field.functions(grid.nodes))
    return at_depths(rows, field.duration, field.degree, times, within)


@sample_field.register
def _(field: LayeredField, grid: UniformGrid, times, within=None) -> Table:
    tables = [sample_field(child, grid, times, within) for child in field.children]
    return _layers(tables, field, times, within)


def _contract(subscripts: str, *arrays: Any) -> Array:
    """The sum of products, in the coefficients' dtype."""
    dtype = next(array.dtype for array in arrays if isinstance(array, Array))
    arrays = tuple(jnp.asarray(array, dtype) for array in arrays)
    return jnp.einsum(subscripts, *arrays, precision="highest")


def _layers(
    tables: list[Table], layered: LayeredKernel | LayeredField, times: Any, within: Any
) -> Table:
    rows = jnp.concatenate([table.values[:1] for table in tables])
    return at_depths(rows, layered.duration, layered.degree, times, within)

"""Kernels and fields: one function for each kind, in tables."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from continuum import (
    BasisField,
    BasisKernel,
    CellField,
    CellKernel,
    Domain,
    Field,
    Kernel,
    LayeredField,
    LayeredKernel,
    SeparableKernel,
)
from continuum.kernels import random_coefficients
from experiments.building.setting import Setting, variables
from experiments.config.files import read_array
from experiments.config.kernels import (
    Cells,
    GivenBasis,
    Identity,
    Layers,
    RandomBasis,
    Separable,
)
from experiments.config.locate import KeyPath
from experiments.config.slots import XI, Y

#: Degrees in t of the two ways to use several tables in depth.
DEGREES = {"constant": 0, "linear": 1}


def build_kernel(
    kernel: Any, path: KeyPath, source: Domain, target: Domain, setting: Setting
) -> Kernel:
    """The kernel k(xi, y, t) of a config.

    Args:
        kernel: an expression or one of the kinds of ``experiments.config.kernels``.
        path: its place, which seeds random numbers that have no seed.
        source: the domain of xi.
        target: the domain of y.
        setting: domains, parameters and precision.
    """
    return KERNELS[type(kernel)](kernel, path, source, target, setting)


def build_field(field: Any, path: KeyPath, domain: Domain, setting: Setting) -> Field:
    """The field b(y, t) of a config; see :func:`build_kernel`."""
    return FIELDS[type(field)](field, path, domain, setting)


def _expression(kernel: str, path, source, target, setting: Setting) -> Kernel:
    return setting.kernel(kernel, source, target)


def _separable(kernel: Separable, path, source: Domain, target: Domain, setting) -> Kernel:
    left = [setting.field(a, source, variables(source, XI)) for a, _ in kernel.separable]
    right = [setting.field(c, target, variables(target, Y)) for _, c in kernel.separable]
    return SeparableKernel(tuple(left), tuple(right))


def _random_basis(kernel: RandomBasis, path, source: Domain, target: Domain, setting) -> Kernel:
    rows, columns = (_sizes(kernel.size, kernel.head_size, d) for d in (source, target))
    found = _random(kernel, (*rows, *columns), path, setting)
    table = found.reshape(kernel.depth, int(np.prod(rows)), int(np.prod(columns)))
    return _basis_kernel(kernel, table, source, target, (rows, columns), setting)


def _given_basis(kernel: GivenBasis, path, source: Domain, target: Domain, setting) -> Kernel:
    table = setting.array(kernel.coefficients)
    table = table[None] if table.ndim == 2 else table
    sizes = tuple(
        _split(size, kernel.head_size, domain)
        for size, domain in zip(table.shape[1:], (source, target), strict=True)
    )
    return _basis_kernel(kernel, table, source, target, sizes, setting)


def _basis_kernel(kernel, table, source, target, sizes, setting: Setting) -> Kernel:
    return BasisKernel(
        setting.array(table),
        source,
        target,
        kernel.basis,
        kernel.basis,
        setting.horizon / len(table),
        DEGREES[kernel.in_time],
        *sizes,
    )


def _cells(kernel: Cells, path, source: Domain, target: Domain, setting: Setting) -> Kernel:
    table = setting.array(read_array(kernel.cells, kernel.key))
    table = table[None] if table.ndim == 2 else table
    return CellKernel(
        table,
        source,
        target,
        _split(table.shape[1], kernel.head_cells, source),
        _split(table.shape[2], kernel.head_cells, target),
        setting.horizon / len(table),
        DEGREES[kernel.in_time],
    )


def _identity(kernel: Identity, path, source: Domain, target: Domain, setting: Setting) -> Kernel:
    """Value scale / h on the diagonal cells, for every zeta."""
    count = kernel.cells
    table = np.eye(count) * (kernel.identity * count / source.extents[-1])
    sizes = (_split(count, 1, source), _split(count, 1, target))
    return CellKernel(setting.array(table)[None], source, target, *sizes)


def _layers(kernel: Layers, path, source: Domain, target: Domain, setting: Setting) -> Kernel:
    children = tuple(setting.kernel(text, source, target) for text in kernel.layers)
    duration = setting.horizon / len(children)
    return LayeredKernel(children, duration, DEGREES[kernel.in_time])


#: How each kind of kernel is built; a kind of your own is one more row.
KERNELS: Mapping[type, Callable[..., Kernel]] = {
    str: _expression,
    Separable: _separable,
    RandomBasis: _random_basis,
    GivenBasis: _given_basis,
    Cells: _cells,
    Identity: _identity,
    Layers: _layers,
}


def _field_expression(field: str, path, domain: Domain, setting: Setting) -> Field:
    return setting.field(field, domain, variables(domain, Y))


def _field_random_basis(field: RandomBasis, path, domain: Domain, setting: Setting) -> Field:
    sizes = _sizes(field.size, field.head_size, domain)
    table = _random(field, sizes, path, setting).reshape(field.depth, -1)
    return _basis_field(field, table, domain, sizes, setting)


def _field_given_basis(field: GivenBasis, path, domain: Domain, setting: Setting) -> Field:
    table = setting.array(field.coefficients)
    table = table[None] if table.ndim == 1 else table
    sizes = _split(table.shape[1], field.head_size, domain)
    return _basis_field(field, table, domain, sizes, setting)


def _basis_field(field, table, domain: Domain, sizes, setting: Setting) -> Field:
    duration, degree = setting.horizon / len(table), DEGREES[field.in_time]
    return BasisField(setting.array(table), domain, field.basis, duration, degree, sizes)


def _field_cells(field: Cells, path, domain: Domain, setting: Setting) -> Field:
    table = setting.array(read_array(field.cells, field.key))
    table = table[None] if table.ndim == 1 else table
    cells = _split(table.shape[1], field.head_cells, domain)
    duration = setting.horizon / len(table)
    return CellField(table, domain, cells, duration, DEGREES[field.in_time])


def _field_layers(field: Layers, path, domain: Domain, setting: Setting) -> Field:
    names = variables(domain, Y)
    children = tuple(setting.field(text, domain, names) for text in field.layers)
    return LayeredField(children, setting.horizon / len(children), DEGREES[field.in_time])


#: How each kind of field is built.
FIELDS: Mapping[type, Callable[..., Field]] = {
    str: _field_expression,
    RandomBasis: _field_random_basis,
    GivenBasis: _field_given_basis,
    Cells: _field_cells,
    Layers: _field_layers,
}


def _random(part: RandomBasis, sizes: tuple[int, ...], path: KeyPath, setting: Setting):
    rng = setting.rng(part.seed, path)
    return random_coefficients(rng, (part.depth, *sizes), part.decay, part.scale)


def _sizes(size: int, heads: int, domain: Domain) -> tuple[int, ...]:
    """Functions along each coordinate."""
    return (heads, size) if domain.dimension == 2 else (size,)


def _split(count: int, heads: int, domain: Domain) -> tuple[int, ...]:
    """``count`` cells or functions, along each coordinate."""
    return (heads, count // heads) if domain.dimension == 2 else (count,)

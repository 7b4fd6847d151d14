"""Kernels and fields sampled at nodes and times."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from continuum import (
    AnalyticField,
    AnalyticKernel,
    CellField,
    CellKernel,
    Domain,
    Field,
    Kernel,
    SeparableKernel,
    interval,
)
from discretize import UniformGrid
from discretize.sampling import sample_field, sample_kernel

Y = interval(3, "Omega_y")
HEADS = interval(2, "Omega_h") * interval(2, "Omega_eta")
TIMES = np.array([0.0, 1.0, 2.0])
RNG = np.random.default_rng(0)


def random(*shape):
    return jnp.asarray(RNG.standard_normal(shape))


def moving(y, t):
    return jnp.sin(y) * (1.0 + t)


KERNELS = {
    "analytic": AnalyticKernel(lambda xi, y, t: jnp.cos(xi - 2 * y) + t, Y, Y),
    "analytic to heads": AnalyticKernel(
        lambda xi, p, t: xi * p[..., 0] + t * p[..., 1] ** 2, Y, HEADS
    ),
    "analytic, constant in t": AnalyticKernel(lambda xi, y, t: xi - y, Y, Y, time_dependent=False),
    "separable": SeparableKernel(
        (AnalyticField(moving, Y), CellField(random(3, 3), Y)),
        (CellField(random(1, 3), Y), AnalyticField(moving, Y)),
    ),
    "cells": CellKernel(random(3, 3, 3), Y, Y),
    "cells to heads": CellKernel(random(3, 3, 4), Y, HEADS, (3,), (2, 2)),
    "cells, constant in t": CellKernel(random(1, 3, 3), Y, Y),
}


@pytest.mark.parametrize("name", KERNELS)
def test_tables_hold_the_values_at_nodes_and_times(name):
    kernel, refinement = KERNELS[name], 2
    source = UniformGrid(Y, (3,)).refine(refinement)
    target = source
    if kernel.target == HEADS:
        target = UniformGrid(HEADS, (2, 2 * refinement))
    table = sample_kernel(kernel, source, target, TIMES)
    assert table.varying == kernel.time_dependent
    rows = [
        [[float(kernel(xi, y, t)) for y in target.nodes] for xi in source.nodes]
        for t in (TIMES if table.varying else TIMES[:1])
    ]
    found = table.rows(len(rows))
    np.testing.assert_allclose(found, rows, rtol=1e-14, atol=1e-15)  # sin, cos by batch
    at = jax.jit(lambda t: sample_kernel(kernel, source, target, t).rows(len(rows)))
    traced = at(jnp.asarray(TIMES))
    np.testing.assert_allclose(traced, rows, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    "field",
    [
        AnalyticField(moving, Y),
        AnalyticField(lambda y, t: 2.0, Y, time_dependent=False),
        CellField(random(3, 3), Y),
        CellField(random(1, 3), Y),
        CellField(random(2, 3), Y, duration=1.5),
    ],
    ids=["analytic", "a number", "cells", "cells, constant in t", "long cells in t"],
)
def test_fields_too(field):
    grid = UniformGrid(Y, (6,))
    table = sample_field(field, grid, TIMES)
    rows = [[float(field(y, t)) for y in grid.nodes] for t in TIMES]
    if not table.varying:
        rows = rows[:1]
    assert table.varying == field.time_dependent
    np.testing.assert_allclose(table.rows(len(rows)), rows, rtol=1e-15)


def test_cell_values_keep_their_bits_on_the_unit_grid():
    kernel, grid = KERNELS["cells"], UniformGrid(Y, (3,))
    table = sample_kernel(kernel, grid, grid, TIMES)
    np.testing.assert_array_equal(table.values, kernel.values)


class Unheard(Kernel):
    """A kernel that nobody taught to be sampled."""

    source: Domain = Y
    target: Domain = Y
    time_dependent: bool = False

    def __call__(self, xi, y, t):
        return jnp.zeros(())


class UnheardField(Field):
    domain: Domain = Y
    time_dependent: bool = False

    def __call__(self, y, t):
        return jnp.zeros(())


def test_unknown_kinds_are_refused_by_name():
    grid = UniformGrid(Y, (3,))
    with pytest.raises(TypeError, match="no sampling is registered for the kernel Unheard"):
        sample_kernel(Unheard(), grid, grid, TIMES)
    with pytest.raises(TypeError, match="no sampling is registered for the field UnheardField"):
        sample_field(UnheardField(), grid, TIMES)

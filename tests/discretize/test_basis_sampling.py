"""Basis and layered kernels as tables: their values, and no more rows than they have in depth."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from continuum import (
    AnalyticField,
    AnalyticKernel,
    BasisField,
    BasisKernel,
    LayeredField,
    LayeredKernel,
    interval,
    parse,
)
from discretize import UniformGrid
from discretize.quadrature import SIMPSON
from discretize.sampling import sample_field, sample_kernel

Y = interval(3, "Omega_y")
HEADS = interval(2, "Omega_h") * interval(2, "Omega_eta")
RNG = np.random.default_rng(0)
TIMES = np.array([0.0, 0.2, 0.45, 0.5, 0.9, 1.6, 2.5, 7.0])


def formulas(*texts):
    return tuple(
        AnalyticKernel(parse(text, ("xi", "y", "t")), Y, Y, time_dependent=False) for text in texts
    )


CHILDREN = formulas("xi*y", "cos(xi - y)", "2")
KERNELS = {
    "constant": BasisKernel(RNG.standard_normal((1, 2, 3)), Y, Y, "fourier", "legendre"),
    "pieces": BasisKernel(RNG.standard_normal((3, 2, 3)), Y, Y, "legendre", "chebyshev", 0.5),
    "linear": BasisKernel(RNG.standard_normal((3, 2, 3)), Y, Y, "fourier", "fourier", 0.5, 1),
    "heads": BasisKernel(
        RNG.standard_normal((3, 2, 4)), Y, HEADS, "fourier", "legendre", 0.5, 1, (2,), (2, 2)
    ),
    "layers": LayeredKernel(CHILDREN, 0.5),
    "linear layers": LayeredKernel(CHILDREN, 0.5, 1),
    "one layer": LayeredKernel(CHILDREN[:1]),
}


def rows_one_by_one(kernel, source, target, times):
    return [[[float(kernel(a, b, t)) for b in target.nodes] for a in source.nodes] for t in times]


@pytest.mark.parametrize("name", KERNELS)
def test_tables_hold_the_kernels_values(name):
    kernel = KERNELS[name]
    source = UniformGrid(Y, (2,), SIMPSON)  # any rule: these kernels are smooth
    target = UniformGrid(HEADS, (2, 2)) if kernel.target == HEADS else UniformGrid(Y, (3,))
    expected = rows_one_by_one(kernel, source, target, TIMES)
    table = sample_kernel(kernel, source, target, TIMES)
    # sums of six products, in another order
    np.testing.assert_allclose(table.rows(len(TIMES)), expected, rtol=1e-13, atol=1e-14)
    assert table.varying == kernel.time_dependent
    assert len(table.values) == (3 if kernel.time_dependent else 1)  # not one for each time
    traced = jax.jit(lambda t: sample_kernel(kernel, source, target, t).rows(len(TIMES)))
    np.testing.assert_allclose(traced(jnp.asarray(TIMES)), expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("degree", [0, 1])
def test_fields_too(degree):
    grid = UniformGrid(Y, (4,))
    texts = ("y**2", "1 - y")
    children = tuple(
        AnalyticField(parse(text, ("y", "t")), Y, time_dependent=False) for text in texts
    )
    for field in (
        BasisField(RNG.standard_normal((2, 3)), Y, "chebyshev", 0.5, degree),
        LayeredField(children, 0.5, degree),
    ):
        table = sample_field(field, grid, TIMES)
        expected = [[float(field(y, t)) for y in grid.nodes] for t in TIMES]
        np.testing.assert_allclose(table.rows(len(TIMES)), expected, rtol=1e-13, atol=1e-14)
        assert len(table.values) == 2


def test_the_end_of_a_step_belongs_to_its_own_depth_cell():
    """Only where the kernel jumps does the time inside the step decide."""
    grid, times, within = UniformGrid(Y, (3,)), np.array([0.5]), np.array([0.25])
    jumps, bends = KERNELS["layers"], KERNELS["linear layers"]
    first, second = (np.asarray(c(grid.nodes[:, None], grid.nodes, 0.0)) for c in CHILDREN[:2])
    np.testing.assert_array_equal(sample_kernel(jumps, grid, grid, times).rows(1)[0], second)
    found = sample_kernel(jumps, grid, grid, times, within).rows(1)[0]
    np.testing.assert_array_equal(found, first)
    found = sample_kernel(bends, grid, grid, times, within).rows(1)[0]
    np.testing.assert_array_equal(found, second)


def test_float32_coefficients_give_a_float32_table():
    kernel = BasisKernel(jnp.ones((1, 2, 2), jnp.float32), Y, Y, "fourier", "fourier")
    grid = UniformGrid(Y, (3,))
    assert sample_kernel(kernel, grid, grid, TIMES).values.dtype == jnp.float32

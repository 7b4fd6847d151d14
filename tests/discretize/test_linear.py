"""The linear integral operator against numpy sums with unequal weights."""

import jax.numpy as jnp
import numpy as np
import pytest

from continuum import (
    AnalyticField,
    AnalyticKernel,
    CellField,
    CellKernel,
    LinearIntegral,
    interval,
)
from discretize import Grid, TokenGrid, UniformGrid
from discretize.operators import TokenMeasure, discretize_operator
from discretize.quadrature import TRAPEZOID
from discretize.sampling import At
from tests.helpers import UNEQUAL, relative_difference

Y, V = interval(2, "Omega_y"), interval(3, "Omega_v")
TOKENS = TokenGrid().of(3)
RNG = np.random.default_rng(1)


def kernel(xi, y, t):
    return jnp.cos(xi * (1 + t)) * (y + 0.5) + xi


def bias(y, t):
    return jnp.sin(y) - t


def applied(operator, grid, u, time):
    """T(u) at one time, by the two phases of a discrete operator."""
    discrete = discretize_operator(operator, grid)
    tables = discrete.coefficients(At(np.array([0.0, time]), TOKENS))
    now = {name: table.rows(2)[1] for name, table in tables.items()}
    return np.asarray(discrete.apply(now, jnp.asarray(u), TokenMeasure()))


def inclusion_by_hand(u, size):
    """Extension by zero, or restriction."""
    image = np.zeros((*u.shape[:-1], size))
    shared = min(u.shape[-1], size)
    image[..., :shared] = u[..., :shared]
    return image


@pytest.mark.parametrize("rule", [UNEQUAL, TRAPEZOID], ids=["unequal", "trapezoid"])
@pytest.mark.parametrize("identity", [0.0, -1.0, 0.75])
@pytest.mark.parametrize(("source", "target"), [(Y, V), (V, Y), (Y, Y)], ids=["up", "down", "same"])
def test_weights_belong_to_the_integrated_node(source, target, identity, rule):
    grid = Grid(TokenGrid(), UniformGrid(Y, (4,), rule))
    operator = LinearIntegral(
        AnalyticKernel(kernel, source, target), AnalyticField(bias, target), identity
    )
    from_grid, to_grid = grid.auxiliary(source), grid.auxiliary(target)
    u = RNG.standard_normal((2, 3, from_grid.size))
    expected = np.zeros((2, 3, to_grid.size))
    for j, y in enumerate(to_grid.nodes):
        for i, xi in enumerate(from_grid.nodes):
            expected[..., j] += from_grid.weights[i] * float(kernel(xi, y, 0.5)) * u[..., i]
        expected[..., j] += float(bias(y, 0.5))
    wrong = expected.copy()  # the same with the weight of the wrong node
    expected += identity * inclusion_by_hand(u, to_grid.size)
    found = applied(operator, grid, u, 0.5)
    assert relative_difference(found, expected) <= 1e-14  # round-off of a sum of 7 terms
    if source == target:
        wrong = (u @ np.asarray(kernel(from_grid.nodes[:, None], to_grid.nodes, 0.5))) * (
            to_grid.weights
        )
        wrong += np.asarray(bias(to_grid.nodes, 0.5)) + identity * u
        assert relative_difference(wrong, expected) > 0.05


def test_without_bias_and_identity_it_is_linear():
    grid = Grid(TokenGrid(), UniformGrid(Y, (4,), UNEQUAL))
    operator = LinearIntegral(AnalyticKernel(kernel, Y, V))
    u, v = RNG.standard_normal((2, 3, 4))
    combined = applied(operator, grid, 2.0 * u - v, 0.5)
    separate = 2.0 * applied(operator, grid, u, 0.5) - applied(operator, grid, v, 0.5)
    assert relative_difference(combined, separate) <= 1e-14  # round-off


def test_cells_on_the_unit_grid_are_a_dense_layer_bit_for_bit():
    weight, shift = RNG.standard_normal((3, 2, 3)), RNG.standard_normal((3, 3))
    operator = LinearIntegral(CellKernel(jnp.asarray(weight), Y, V), CellField(shift, V))
    grid = Grid(TokenGrid(), UniformGrid(Y, (2,)))
    u = RNG.standard_normal((5, 3, 2))
    expected = jnp.asarray(u) @ weight[2] + shift[2]
    np.testing.assert_array_equal(applied(operator, grid, u, 2.0), expected)


def test_a_constant_kernel_needs_one_table_row():
    operator = LinearIntegral(CellKernel(jnp.ones((1, 2, 3)), Y, V), CellField(jnp.ones((4, 3)), V))
    discrete = discretize_operator(operator, Grid(TokenGrid(), UniformGrid(Y, (2,))))
    tables = discrete.coefficients(At(np.arange(4.0), TOKENS))
    assert not tables["matrix"].varying and tables["matrix"].values.shape == (1, 2, 3)
    assert tables["bias"].varying and tables["bias"].values.shape == (4, 3)


def test_the_inclusion_needs_shared_nodes():
    shifted = LinearIntegral(
        AnalyticKernel(kernel, Y, interval(1, "a") * interval(2, "b")), None, -1.0
    )
    with pytest.raises(ValueError, match="inclusion E needs two intervals .* got Omega_y"):
        discretize_operator(shifted, Grid(TokenGrid(), UniformGrid(Y, (4,))))

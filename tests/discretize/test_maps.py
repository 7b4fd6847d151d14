"""Projections, normalisations, affine and pointwise maps on grids, against their definitions."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erf

from continuum import (
    Affine,
    CellField,
    MomentSet,
    NonnegativeCone,
    Normalisation,
    Operator,
    Pointwise,
    Projection,
    interval,
)
from continuum.operators.maps import ACTIVATIONS
from discretize import Grid, TokenGrid, UniformGrid
from discretize.operators import TokenMeasure, discretize_operator
from discretize.sampling import At
from tests.helpers import UNEQUAL, relative_difference

Y = interval(4, "Omega_y")
UNIT = Grid(TokenGrid(), UniformGrid(Y, (4,)))
WEIGHTED = Grid(TokenGrid(), UniformGrid(Y, (8,), UNEQUAL))
RNG = np.random.default_rng(11)
seeds = st.integers(0, 2**32 - 1)


def applied(operator, u, grid=UNIT, time=0.0, **options):
    """T(u) at one time, by the two phases of a discrete operator."""
    discrete = discretize_operator(operator, grid)
    tables = discrete.coefficients(At(np.array([time]), grid.tokens.of(1)))
    now = {name: table.rows(1)[0] for name, table in tables.items()}
    return np.asarray(discrete.apply(now, jnp.asarray(u), TokenMeasure(), **options))


def field(values):
    return CellField(jnp.atleast_2d(jnp.asarray(values)), Y)


def standardised(u, weights, eps=0.0):
    """(u - mean) / sqrt(variance + eps) by the weights, row by row in plain numpy."""
    rows = []
    for row in u:
        mean = np.average(row, weights=weights)
        variance = np.average((row - mean) ** 2, weights=weights)
        rows.append((row - mean) / np.sqrt(variance + eps))
    return np.array(rows)


@pytest.mark.parametrize("grid", [UNIT, WEIGHTED], ids=["equal weights", "unequal weights"])
def test_projection_takes_its_moments_by_the_grid(grid):
    u = RNG.standard_normal((3, grid.features.size))
    expected = 1.0 + 0.3 * standardised(u, grid.features.weights)
    found = applied(Projection(MomentSet(1.0, 0.3), Y), u, grid)
    assert relative_difference(found, expected) <= 1e-14  # round-off
    discrete = discretize_operator(Projection(MomentSet(1.0, 0.3), Y), grid)
    np.testing.assert_allclose(discrete.violation(jnp.asarray(found)), 0.0, atol=1e-14)
    cone = Projection(NonnegativeCone(), Y)
    np.testing.assert_array_equal(applied(cone, u, grid), np.where(u > 0, u, 0.0))
    np.testing.assert_array_equal(
        discretize_operator(cone, grid).violation(jnp.asarray(u)), np.maximum(0, -u.min(-1))
    )


@pytest.mark.parametrize("grid", [UNIT, WEIGHTED], ids=["equal weights", "unequal weights"])
@pytest.mark.parametrize("eps", [0.0, 1e-2])
def test_normalisation_is_its_definition(grid, eps):
    u = RNG.standard_normal((3, grid.features.size))
    gamma, shift = RNG.standard_normal((2, 5, 4))
    operator = Normalisation(Y, field(gamma), field(shift), eps)
    cells = grid.features.size // 4
    expected = standardised(u, grid.features.weights, eps) * gamma[2].repeat(cells)
    expected = expected + shift[2].repeat(cells)
    assert relative_difference(applied(operator, u, grid, time=2.5), expected) <= 1e-14
    plain = applied(Normalisation(Y, eps=eps), u, grid)
    assert relative_difference(plain, standardised(u, grid.features.weights, eps)) <= 1e-14


@given(seeds)
def test_normalisation_with_varying_gamma_is_no_projection(seed):
    """Neither idempotent nor the nearest point of its own range."""
    rng = np.random.default_rng(seed)
    u, gamma, shift = rng.standard_normal((8, 4)), rng.uniform(0.2, 2.0, 4), rng.standard_normal(4)
    gamma[:2] = 0.3, 1.7  # vary for certain
    operator = Normalisation(Y, field(gamma), field(shift))
    once = applied(operator, u)
    assert relative_difference(applied(operator, once), once) > 0.1
    # the range is { gamma w + shift : w in S1(0, 1) }; some member of it is closer to u
    members = gamma * standardised(rng.standard_normal((2000, 4)), np.ones(4)) + shift
    shortest = np.linalg.norm(members - u[:, None], axis=-1).min(axis=1)
    assert np.min(shortest / np.linalg.norm(once - u, axis=-1)) < 0.9


def test_the_defect_of_idempotence_is_as_large_as_stated():
    """0.6 to 0.8 relative for random gamma around 1: the median over encoders of 32 features."""
    y, defects = interval(32, "Omega_y"), []
    grid = Grid(TokenGrid(), UniformGrid(y, (32,)))
    for seed in range(9):
        rng = np.random.default_rng(seed)
        gamma, shift = 1.0 + 0.5 * rng.standard_normal(32), 0.5 * rng.standard_normal(32)
        fields = (CellField(jnp.asarray(values[None]), y) for values in (gamma, shift))
        operator = Normalisation(y, *fields)
        once = applied(operator, rng.standard_normal((6, 32)), grid)
        defects.append(relative_difference(applied(operator, once, grid), once))
    assert 0.3 < np.median(defects) < 1.0


@pytest.mark.parametrize("eps", [1e-1, 1e-3, 1e-5])
def test_with_eps_even_the_plain_norm_misses_the_set(eps):
    """Variance v becomes v / (v + eps): 1 / (1 + eps) for rows of variance one."""
    u = standardised(RNG.standard_normal((3, 4)), np.ones(4))
    variance = applied(Normalisation(Y, eps=eps), u).var(axis=-1)
    np.testing.assert_allclose(variance, 1.0 / (1.0 + eps), rtol=1e-13)  # round-off
    np.testing.assert_allclose(variance, 1.0 - eps, atol=1.1 * eps**2)  # to second order


@pytest.mark.parametrize("eps", [1e-12, 1e-5, 0.3])
def test_eps_scales_with_the_square_of_the_state(eps):
    """LN_eps(c z) = LN_{eps / c^2}(z): bit for bit at c = 1/2, and wrong without the factor."""
    z = RNG.standard_normal((3, 4))
    operator = Normalisation(Y, field(RNG.standard_normal(4)), field(RNG.standard_normal(4)), eps)
    np.testing.assert_array_equal(applied(operator, 0.5 * z, eps=0.25 * eps), applied(operator, z))
    assert not np.array_equal(applied(operator, 0.5 * z), applied(operator, z))


def test_constant_rows_map_to_the_shift_or_to_the_rule_of_the_projection():
    u, gamma, shift = np.full((1, 4), 3.0), np.arange(1.0, 5.0), np.array([1.0, -1.0, 2.0, 0.0])
    with_eps = applied(Normalisation(Y, field(gamma), field(shift), 1e-5), u)
    np.testing.assert_array_equal(with_eps[0], shift)
    ramp = np.array([-3.0, -1.0, 1.0, 3.0]) / np.sqrt(5.0)
    without = applied(Normalisation(Y, field(gamma), field(shift)), u)
    np.testing.assert_allclose(without[0], gamma * ramp + shift, rtol=1e-15)


@pytest.mark.parametrize("identity", [0.0, -1.0])
def test_affine_multiplies_cell_by_cell(identity):
    gamma, beta = RNG.standard_normal((2, 3, 4))
    u = RNG.standard_normal((2, 3, 8))
    grid = Grid(TokenGrid(), UniformGrid(Y, (8,)))
    found = applied(Affine(field(gamma), field(beta), identity), u, grid, time=1.0)
    expected = (gamma[1].repeat(2) + identity) * u + beta[1].repeat(2)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)  # fused or not


DEFINITIONS = {
    "relu": lambda x: np.where(x > 0, x, 0.0),
    "gelu": lambda x: x * (1 + erf(x / np.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2,
    "silu": lambda x: x / (1 + np.exp(-x)),
    "tanh": np.tanh,
}


def test_every_activation_has_a_definition_here():
    assert set(DEFINITIONS) == set(ACTIVATIONS)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_pointwise_maps_are_their_definitions(name):
    x = np.concatenate([np.linspace(-8.0, 8.0, 397), [-1e-300, 0.0, 40.0]]).reshape(-1, 4)
    found = applied(Pointwise(name, Y), x)
    # 1 + erf and 1 + tanh cancel for negative x: absolute there, round-off of 1 times |x| <= 8
    np.testing.assert_allclose(found, DEFINITIONS[name](x), rtol=1e-15, atol=1e-14)


def test_the_two_gelus_are_told_apart():
    x = np.linspace(-4.0, 4.0, 4000).reshape(-1, 4)
    gap = np.abs(applied(Pointwise("gelu", Y), x) - applied(Pointwise("gelu_tanh", Y), x)).max()
    assert gap == pytest.approx(4.7e-4, abs=0.1e-4)


def test_sums_and_compositions_apply_their_parts():
    gamma, beta, u = RNG.standard_normal((3, 2, 4))
    first, second = Affine(field(gamma[0]), field(beta[0])), Affine(field(gamma[1]), field(beta[1]))

    def both(operator):
        discrete = discretize_operator(operator, UNIT)
        tables = discrete.coefficients(At(np.zeros(1), UNIT.tokens.of(1)))
        now = {k: {name: t.rows(1)[0] for name, t in part.items()} for k, part in tables.items()}
        return discrete.apply(now, jnp.asarray(u), TokenMeasure())

    one, two = gamma[0] * u + beta[0], gamma[1] * u + beta[1]
    np.testing.assert_allclose(both(first + second), one + two, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(
        both(second @ first), gamma[1] * one + beta[1], rtol=1e-14, atol=1e-15
    )


class Unheard(Operator):
    """An operator that nobody taught to be discretised."""

    source: type = object
    target: type = object


def test_unknown_operators_are_refused_by_name():
    with pytest.raises(TypeError, match="no discretisation is registered for the operator Unheard"):
        discretize_operator(Unheard(), UNIT)

"""A given source: its values at the nodes, its print, and a flow with nothing else in it."""

import jax.numpy as jnp
import numpy as np
import pytest

from continuum import Equation, Flow, Source, describe, interval, parse, token_axis
from discretize import Grid, TokenGrid, UniformGrid, discretize
from discretize.operators import DiscreteSource, TokenMeasure, discretize_operator
from discretize.quadrature import SIMPSON
from discretize.sampling import At

Y = interval(2.0, "Omega_y")
PLANE = interval(1.0, "Omega_x") * interval(3.0, "Omega_x")
FEATURES = UniformGrid(Y, (4,), SIMPSON)
TIMES = np.array([0.0, 0.5, 2.0])


def rows(operator, tokens, times=TIMES):
    grid = Grid(tokens, FEATURES)
    discrete = discretize_operator(operator, grid)
    assert isinstance(discrete, DiscreteSource)
    assert discrete.source == discrete.target == FEATURES
    return discrete, discrete.coefficients(At(times, tokens))["values"]


def test_values_at_tokens_features_and_times():
    tokens = UniformGrid(interval(3.0, "Omega_x"), (3,))
    _, table = rows(Source(parse("x*y + 10*t", ("x", "y", "t")), Y), tokens)
    expected = tokens.nodes[:, None] * FEATURES.nodes + 10 * TIMES[:, None, None]
    np.testing.assert_allclose(table.rows(3), expected, rtol=1e-15)


def test_a_plane_of_tokens_and_a_constant_in_time():
    tokens = UniformGrid(PLANE, (2, 3))
    function = parse("x1 - 2*x2 + y", ("x1", "x2", "y"))
    source = Source(lambda x, y, t: function(x[..., 0], x[..., 1], y), Y, time_dependent=False)
    _, table = rows(source, tokens)
    expected = (tokens.nodes @ [1.0, -2.0])[:, None] + FEATURES.nodes
    assert table.values.shape == (1, 6, 5)
    np.testing.assert_allclose(table.values[0], expected, rtol=1e-15, atol=1e-15)


def test_the_state_is_ignored():
    tokens = UniformGrid(interval(3.0, "Omega_x"), (3,))
    discrete, table = rows(Source(parse("x - y", ("x", "y", "t")), Y), tokens)
    one = {"values": table.rows(3)[0]}
    states = jnp.asarray(np.random.default_rng(0).standard_normal((2, 3, 5)))
    found = discrete.apply(one, states, TokenMeasure(None, tokens))
    np.testing.assert_array_equal(found, np.stack([tokens.nodes[:, None] - FEATURES.nodes] * 2))
    single = discrete.apply(one, states.astype(jnp.float32), TokenMeasure(None, tokens))
    assert single.dtype == jnp.float32


@pytest.mark.parametrize("tokens", [interval(3.0, "Omega_x"), token_axis()], ids=["box", "open"])
def test_an_equation_of_a_source_alone(tokens):
    """u_t = g(x, y, t): accepted in a flow, printed as what it is."""
    operator = Source(parse("sin(x)*cos(y + t)", ("x", "y", "t")), Y)
    equation = Equation("pushed", {"source": operator}, Flow(("source",)), Y, 1.0, tokens)
    text = describe(equation)
    assert "evolution  u_t = g(x, y, t),  u(., ., 0) = f" in text
    assert "source  g: sin(x)*cos(y + t)" in text
    axis = TokenGrid() if tokens == token_axis() else UniformGrid(tokens, (3,))
    problem = discretize(equation, Grid(axis, FEATURES))
    at = At(TIMES, axis.of(3))
    expected = np.sin(axis.of(3).nodes)[:, None] * np.cos(FEATURES.nodes + TIMES[:, None, None])
    found = problem.terms["source"].coefficients(at)["values"].rows(3)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)


def test_a_source_without_a_formula_or_without_t():
    still = Source(lambda x, y, t: x + y, Y, time_dependent=False)
    equation = Equation("pushed", {"g": still}, Flow(("g",)), Y, 1.0)
    assert "u_t = g(x, y)," in describe(equation)
    assert "g  g: analytic, constant in t" in describe(equation)

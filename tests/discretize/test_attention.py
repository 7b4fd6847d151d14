"""Integral attention against explicit loops over tokens, heads and feature nodes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from continuum import (
    AnalyticField,
    AnalyticKernel,
    IntegralAttention,
    LinearIntegral,
    interval,
)
from discretize import Grid, UniformGrid
from discretize.operators import TokenMeasure, discretize_operator
from discretize.operators.measure import log_weights
from discretize.quadrature import TRAPEZOID
from discretize.sampling import At
from tests.helpers import UNEQUAL, gapped_mask, relative_difference

DOUBLE = np.dtype(np.float64)
X, Y = interval(2.5, "Omega_x"), interval(2, "Omega_y")
HEADS = interval(2, "Omega_h") * interval(1.5, "Omega_eta")


def into_heads(a, b):
    return lambda xi, p, t: jnp.cos(a * xi + p[..., 0]) * (p[..., 1] + b) + t


def bias_of_heads(a):
    return lambda p, t: a * p[..., 0] - p[..., 1] + t


def out_of_heads(p, y, t):
    return jnp.sin(p[..., 0] + 2.0 * p[..., 1] * y) + 0.5 * t


def bias_out(y, t):
    return y - 0.3 * t


PROJECTIONS = {
    name: (into_heads(a, b), bias_of_heads(a))
    for name, a, b in (("query", 1.0, 0.4), ("key", -0.7, 1.0), ("value", 2.0, -0.5))
}


def attention(scale=None):
    parts = {
        name: LinearIntegral(AnalyticKernel(k, Y, HEADS), AnalyticField(b, HEADS))
        for name, (k, b) in PROJECTIONS.items()
    }
    output = LinearIntegral(AnalyticKernel(out_of_heads, HEADS, Y), AnalyticField(bias_out, Y))
    return IntegralAttention(**parts, output=output, scale=scale)


def by_loops(u, grid, token_weights, time, scale=None, weigh="key"):
    """A(u) of one sample (tokens, features) from its definition; ``weigh`` is where w stands."""
    y, p = grid.features, grid.auxiliary(HEADS)
    tokens = len(u)
    projected = {
        name: np.array(
            [
                [
                    sum(
                        y.weights[i] * float(k(y.nodes[i], node, time)) * u[x, i]
                        for i in range(y.size)
                    )
                    + float(b(node, time))
                    for node in p.nodes
                ]
                for x in range(tokens)
            ]
        ).reshape(tokens, *p.shape)
        for name, (k, b) in PROJECTIONS.items()
    }
    h, e = p.spacing
    head_weights = h * p.rules[0].weights(p.cells[0])
    eta_weights = e * p.rules[1].weights(p.cells[1])
    c = 1.5**-0.5 if scale is None else scale
    result = np.tile([float(bias_out(node, time)) for node in y.nodes], (tokens, 1))
    for zeta in range(p.shape[0]):
        q, k, v = (projected[name][:, zeta] for name in ("query", "key", "value"))
        for x in range(tokens):
            scores = np.array([c * np.sum(eta_weights * q[x] * k[z]) for z in range(tokens)])
            at = token_weights if weigh == "key" else np.full(tokens, token_weights[x])
            density = at * np.exp(scores)
            mean = sum(density[z] * v[z] for z in range(tokens)) / density.sum()
            for j, node in enumerate(y.nodes):
                out = [
                    float(out_of_heads(p.nodes[zeta * p.shape[1] + k], node, time))
                    for k in range(p.shape[1])
                ]
                result[x, j] += head_weights[zeta] * np.sum(eta_weights * out * mean)
    return result


def discretised(grid, scale=None, time=0.25):
    """The discrete operator and its coefficients at one time."""
    discrete = discretize_operator(attention(scale), grid)
    tables = discrete.coefficients(At(np.array([0.0, time]), grid.tokens))
    coefficients = {
        part: {name: table.values[1] for name, table in found.items()}
        for part, found in tables.items()
    }
    return discrete, coefficients


def grid_of(x_rule, y_rule, tokens=5, features=4):
    features = UniformGrid(Y, (features,), y_rule)
    return Grid(UniformGrid(X, (tokens,), x_rule), features, head_rule=y_rule)


@pytest.mark.parametrize(
    ("rules", "scale"),
    [((UNEQUAL, UNEQUAL), None), ((TRAPEZOID, TRAPEZOID), None), ((UNEQUAL, TRAPEZOID), 2.0)],
    ids=["unequal", "trapezoid", "own scale"],
)
def test_attention_is_its_definition_with_weights_at_the_key(rules, scale):
    grid = grid_of(*rules)
    discrete, coefficients = discretised(grid, scale)
    u = np.random.default_rng(2).standard_normal((grid.tokens.size, grid.features.size))
    measure = TokenMeasure.build(grid.tokens, None, DOUBLE)
    found = discrete.apply(coefficients, jnp.asarray(u), measure)
    expected = by_loops(u, grid, grid.tokens.weights, 0.25, scale)
    assert relative_difference(found, expected) <= 1e-13  # round-off through three sums and exp
    # the test of the test: weights at the query cancel and give another answer
    wrong = by_loops(u, grid, grid.tokens.weights, 0.25, scale, weigh="query")
    assert relative_difference(wrong, expected) > 1e-3


def test_rows_of_gamma_are_probabilities():
    grid = grid_of(UNEQUAL, UNEQUAL)
    discrete, coefficients = discretised(grid)
    u = jnp.asarray(np.random.default_rng(3).standard_normal((2, 5, 4)))
    measure = TokenMeasure.build(grid.tokens, None, DOUBLE)
    gamma = discrete.kernel(coefficients, u, measure)
    assert gamma.shape == (2, 2, 5, 5)
    np.testing.assert_allclose(gamma.sum(-1), 1.0, rtol=1e-15)


@pytest.fixture(scope="module")
def unequal():
    """A grid with unequal weights, and the attention on it, compiled."""
    grid = grid_of(UNEQUAL, UNEQUAL)
    discrete, coefficients = discretised(grid)
    return grid, eqx.filter_jit(lambda u, measure: discrete.apply(coefficients, u, measure))


@given(st.integers(0, 2**32 - 1))
def test_a_mask_is_weight_zero(unequal, seed):
    """Masking, zero weights, and leaving the tokens out are the same integral."""
    rng = np.random.default_rng(seed)
    grid, apply = unequal
    u = rng.standard_normal((2, 5, 4))
    mask = gapped_mask(rng, 2, 5)
    measure = TokenMeasure.build(grid.tokens, jnp.asarray(mask), DOUBLE)
    found = np.asarray(apply(jnp.asarray(u), measure))
    for sample, valid, answer in zip(u, mask, found, strict=True):
        left = TokenMeasure(jnp.log(jnp.asarray(grid.tokens.weights[valid])))
        expected = apply(jnp.asarray(sample[valid]), left)
        assert relative_difference(answer[valid], expected) <= 1e-14  # another order of summation
    # and what stands on hidden tokens is not read, to the last bit
    u[~mask] = 1e6 * rng.standard_normal(u[~mask].shape)
    again = np.asarray(apply(jnp.asarray(u), measure))
    np.testing.assert_array_equal(again[mask], found[mask])


def test_equal_weights_cancel_and_are_left_out():
    plain = UniformGrid(X, (5,))
    assert TokenMeasure.build(plain, None, DOUBLE).log_weights is None
    mask = jnp.array([True, True, False, True, True])
    masked = TokenMeasure.build(plain, mask, DOUBLE).log_weights
    np.testing.assert_array_equal(masked, [0.0, 0.0, -np.inf, 0.0, 0.0])
    weighted = TokenMeasure.build(UniformGrid(X, (5,), UNEQUAL), mask, DOUBLE).log_weights
    expected = np.log(UniformGrid(X, (5,), UNEQUAL).weights)
    np.testing.assert_array_equal(np.isneginf(weighted), ~np.asarray(mask))
    np.testing.assert_allclose(weighted[mask], expected[mask], rtol=1e-15)


@pytest.mark.parametrize("masked", [False, True])
def test_one_token_attends_to_itself(masked):
    """One token, or one valid token, has gamma = 1: every row is W^O V of that token plus b^O."""
    grid = grid_of(UNEQUAL, UNEQUAL, tokens=3 if masked else 1)
    discrete, coefficients = discretised(grid)
    u = jnp.asarray(np.random.default_rng(4).standard_normal((grid.tokens.size, 4)))
    mask = jnp.array([False, True, False]) if masked else None
    measure = TokenMeasure.build(grid.tokens, mask, DOUBLE)
    found = discrete.apply(coefficients, u, measure)
    only = u[1:2] if masked else u
    value = discrete.value.apply(coefficients["value"], only, measure)
    expected = discrete.output.apply(coefficients["output"], value, measure)
    expected = jnp.broadcast_to(expected, found.shape)
    assert relative_difference(found, expected) <= 1e-14  # round-off


def test_huge_scores_do_not_overflow():
    """At scores of 1e4 the softmax is the value of the largest score, with no infinity on the way.

    The weights do not matter then, even when the largest score is that of the lightest token.
    """
    grid = grid_of(UNEQUAL, UNEQUAL)
    discrete, coefficients = discretised(grid, scale=1e4)
    u = jnp.asarray(np.random.default_rng(5).standard_normal((5, 4)))
    measure = TokenMeasure.build(grid.tokens, None, DOUBLE)
    gamma = np.asarray(discrete.kernel(coefficients, u, measure))
    q, k = (
        np.asarray(getattr(discrete, part).apply(coefficients[part], u, measure)).reshape(5, 2, 3)
        for part in ("query", "key")
    )
    heads = grid.auxiliary(HEADS)
    scores = 1e4 * np.einsum("xhe,zhe,e->hxz", q, k, 0.5 * heads.rules[1].weights(3))
    assert np.abs(scores).max() > 1e4
    np.testing.assert_allclose(gamma, np.eye(5)[scores.argmax(-1)], atol=1e-12)
    gradient = jax.jit(jax.grad(lambda v: discrete.apply(coefficients, v, measure).sum()))(u)
    assert np.all(np.isfinite(gradient))


def test_gradients_at_weight_zero_are_finite_and_right():
    grid = grid_of(UNEQUAL, UNEQUAL)
    discrete, coefficients = discretised(grid)
    rng = np.random.default_rng(6)
    u, against = jnp.asarray(rng.standard_normal((5, 4))), jnp.asarray(rng.standard_normal((5, 4)))
    weights = jnp.array([0.5, 0.0, 1.5, 0.0, 0.2])
    valid = np.asarray(weights) > 0

    @jax.jit
    def loss(states, w):
        """Reads the rows of valid tokens, as every use of a mask does."""
        measure = TokenMeasure(log_weights(w))
        image = discrete.apply(coefficients, states, measure)
        return jnp.sum(jnp.where(valid[:, None], against * image, 0.0))

    by_state, by_weight = jax.grad(loss, argnums=(0, 1))(u, weights)
    np.testing.assert_array_equal(by_state[~valid], 0.0)  # hidden tokens are not read at all
    np.testing.assert_array_equal(by_weight[~valid], 0.0)  # the rule stated in log_weights
    step = 1e-6  # central differences: error step^2, round-off 1e-16 / step
    for value, gradient, change in (
        (u, by_state, lambda d: (u + d, weights)),
        (weights, by_weight, lambda d: (u, weights + d)),
    ):
        for index in np.ndindex(value.shape):
            if valid[index[0]]:
                shift = jnp.zeros_like(value).at[index].set(step)
                quotient = (loss(*change(shift)) - loss(*change(-shift))) / (2 * step)
                assert float(gradient[index]) == pytest.approx(float(quotient), abs=1e-8)
    # weights matter only up to a common factor (Euler's relation of degree 0)
    assert float(by_weight @ weights) == pytest.approx(0.0, abs=1e-14)


def test_constant_tokens_give_the_constant_back():
    """If u does not depend on x then gamma averages equal values, whatever the weights."""
    row = np.random.default_rng(7).standard_normal((1, 4))
    answers = []
    for tokens in (1, 5):
        grid = grid_of(UNEQUAL, UNEQUAL, tokens=tokens)
        discrete, coefficients = discretised(grid)
        measure = TokenMeasure.build(grid.tokens, None, DOUBLE)
        u = jnp.asarray(np.repeat(row, tokens, axis=0))
        answers.append(np.asarray(discrete.apply(coefficients, u, measure)))
    np.testing.assert_allclose(answers[1], np.repeat(answers[0], 5, axis=0), rtol=1e-13)

"""Causal attention: the Volterra integral over x~ <= x, with the weight of the diagonal."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from continuum import (
    AnalyticKernel,
    Causal,
    CellKernel,
    IntegralAttention,
    LinearIntegral,
    interval,
)
from discretize import Grid, UniformGrid
from discretize.operators import TokenMeasure, discretize_operator
from discretize.quadrature import LEFT, TRAPEZOID
from discretize.sampling import At
from tests.helpers import relative_difference

D, N = 4, 6
Y, X = interval(D, "Omega_y"), interval(N, "Omega_x")
HEADS = interval(1, "Omega_h") * Y
RNG = np.random.default_rng(2)


def attention(causal, weights):
    parts = [LinearIntegral(CellKernel(w[None], Y, HEADS, (D,), (1, D))) for w in weights[:3]]
    out = LinearIntegral(CellKernel(weights[3][None], HEADS, Y, (1, D), (D,)))
    return IntegralAttention(*parts, out, causal=causal)


def applied(operator, u, mask=None, rule=None):
    tokens = UniformGrid(X, (N,)) if rule is None else UniformGrid(X, (N,), rule)
    discrete = discretize_operator(operator, Grid(tokens, UniformGrid(Y, (D,))))
    tables = discrete.coefficients(At(np.zeros(1), tokens))
    now = {p: {n: t.rows(1)[0] for n, t in part.items()} for p, part in tables.items()}
    measure = TokenMeasure.build(
        tokens, None if mask is None else jnp.asarray(mask), np.dtype(float)
    )
    return np.asarray(discrete.apply(now, jnp.asarray(u), measure))


def test_full_diagonal_weight_is_torch_s_causal_attention():
    weights, u = RNG.normal(size=(4, D, D)), RNG.normal(size=(N, D))
    q, k, v = (torch.tensor(u @ w)[None, None] for w in weights[:3])
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    found = applied(attention(Causal(), weights), u)
    # torch's own kernel: equal to round-off of short sums
    assert relative_difference(found, expected[0, 0].numpy() @ weights[3]) <= 1e-14


@pytest.mark.parametrize("diagonal", [0.5, 0.25])
def test_the_diagonal_counts_as_much_as_it_is_told(diagonal):
    weights, u = RNG.normal(size=(4, D, D)), RNG.normal(size=(N, D))
    q, k, v = (u @ w for w in weights[:3])
    share = np.exp(q @ k.T / np.sqrt(D)) * (np.tri(N, k=-1) + diagonal * np.eye(N))
    expected = share / share.sum(-1, keepdims=True) @ v @ weights[3]
    assert relative_difference(applied(attention(Causal(diagonal), weights), u), expected) <= 1e-14


def test_masked_keys_are_not_seen_and_nothing_is_spoiled():
    """Padding in front: its rows see no key, yet stay finite and leave the others alone."""
    weights, u = RNG.normal(size=(4, D, D)), RNG.normal(size=(N, D))
    mask = np.arange(N) >= 2
    found = applied(attention(Causal(), weights), u, mask)
    q, k, v = (u[2:] @ w for w in weights[:3])
    share = np.exp(q @ k.T / np.sqrt(D)) * np.tri(N - 2)
    expected = share / share.sum(-1, keepdims=True) @ v @ weights[3]
    assert relative_difference(found[2:], expected) <= 1e-14
    assert np.isfinite(found).all()
    operator = attention(Causal(), weights)
    gradient = jax.grad(lambda s: jnp.sum(_apply(operator, s, mask) ** 2))(jnp.asarray(u))
    assert np.isfinite(gradient).all()


def _apply(operator, u, mask):
    tokens = UniformGrid(X, (N,))
    discrete = discretize_operator(operator, Grid(tokens, UniformGrid(Y, (D,))))
    tables = discrete.coefficients(At(np.zeros(1), tokens))
    now = {p: {n: t.rows(1)[0] for n, t in part.items()} for p, part in tables.items()}
    return discrete.apply(now, u, TokenMeasure.build(tokens, jnp.asarray(mask), np.dtype(float)))[
        2:
    ]


def test_other_rules_than_one_node_per_cell_are_refused():
    weights = RNG.normal(size=(4, D, D))
    u = RNG.normal(size=(N + 1, D))
    with pytest.raises(ValueError, match="one node per cell"):
        applied(attention(Causal(), weights), u, rule=TRAPEZOID)
    assert np.isfinite(applied(attention(Causal(), weights), u[:N], rule=LEFT)).all()


@pytest.mark.parametrize("diagonal", [0.0, -1.0, 1.5])
def test_a_share_outside_0_to_1_is_refused(diagonal):
    with pytest.raises(ValueError, match="0 < diagonal <= 1"):
        Causal(diagonal)


def test_a_volterra_integral_converges_to_the_integral():
    """Uniform attention of a smooth value: A(u)(x) is the mean of the value over [0, x]."""
    unit = interval(1, "Omega_y")
    zero, one = (
        LinearIntegral(
            AnalyticKernel(lambda xi, p, t, c=c: c + 0 * xi * p[..., 0], unit, unit * unit, False)
        )
        for c in (0.0, 1.0)
    )
    back = LinearIntegral(
        AnalyticKernel(lambda p, y, t: 1.0 + 0 * y * p[..., 0], unit * unit, unit, False)
    )
    operator = IntegralAttention(zero, zero, one, back, causal=Causal(0.5))
    errors = []
    for cells in (20, 60, 180):
        tokens = UniformGrid(interval(1, "Omega_x"), (cells,))
        discrete = discretize_operator(operator, Grid(tokens, UniformGrid(unit, (1,))))
        tables = discrete.coefficients(At(np.zeros(1), tokens))
        now = {p: {n: t.rows(1)[0] for n, t in part.items()} for p, part in tables.items()}
        x = tokens.nodes
        measure = TokenMeasure.build(tokens, None, np.dtype(float))
        found = np.asarray(discrete.apply(now, jnp.exp(x)[:, None], measure))[:, 0]
        errors.append(abs(found - np.expm1(x) / x)[cells // 2 :].max())
    orders = np.diff(np.log(errors)) / -np.log(3)
    np.testing.assert_allclose(orders, 2.0, atol=0.05)  # order 2 away from x = 0

"""Rotations, biases and grouped heads: what depends on positions, by cells and by points."""

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from continuum import (
    BucketBias,
    Causal,
    CellKernel,
    IntegralAttention,
    LinearBias,
    LinearIntegral,
    Normalisation,
    Product,
    Rotary,
    interval,
    rotary_frequencies,
)
from discretize import Grid, UniformGrid
from discretize.operators import TokenMeasure, discretize_operator
from discretize.sampling import At, is_table
from tests.helpers import relative_difference, slope

D, N, H = 4, 6, 2
Y, X = interval(D, "Omega_y"), interval(N, "Omega_x")
RNG = np.random.default_rng(5)


def linear(weights, source, target):
    cells = [tuple(map(round, domain.extents)) for domain in (source, target)]
    return LinearIntegral(CellKernel(jnp.asarray(weights)[None], source, target, *cells))


def attention(groups=H, **positions):
    heads, shared = (interval(n, "Omega_h") * interval(D, "Omega_eta") for n in (H, groups))
    rng = np.random.default_rng(3)
    query, output = rng.normal(size=(D, H * D)), rng.normal(size=(H * D, D))
    key, value = rng.normal(size=(2, D, groups * D))
    operator = IntegralAttention(
        linear(query, Y, heads),
        linear(key, Y, shared),
        linear(value, Y, shared),
        linear(output, heads, Y),
        **positions,
    )
    return operator, (query, key, value, output)


def applied(operator, u, tokens, features=None):
    import jax

    grid = Grid(tokens, features or UniformGrid(Y, (D,)))
    discrete = discretize_operator(operator, grid)
    tables = discrete.coefficients(At(np.zeros(1), tokens))
    now = jax.tree.map(lambda table: jnp.asarray(table.values[0]), tables, is_leaf=is_table)
    measure = TokenMeasure.build(tokens, None, np.dtype(float))
    return np.asarray(discrete.apply(now, jnp.asarray(u), measure))


def by_torch(weights, u, groups, bias=None, turned=lambda heads: heads):
    query, key, value, output = weights
    split = lambda v, n: torch.tensor(v.reshape(len(u), n, D)).transpose(0, 1)  # noqa: E731
    q, k, v = split(u @ query, H), split(u @ key, groups), split(u @ value, groups)
    k, v = (part.repeat_interleave(H // groups, 0) for part in (turned(k), v))
    mixed = torch.nn.functional.scaled_dot_product_attention(
        turned(q), k, v, None if bias is None else torch.tensor(bias)
    )
    return mixed.transpose(0, 1).reshape(len(u), -1).numpy() @ output


def test_grouped_heads_share_keys_and_values():
    operator, weights = attention(groups=1)
    assert operator.groups == 2
    u = RNG.normal(size=(N, D))
    found = applied(operator, u, UniformGrid(X, (N,)))
    assert relative_difference(found, by_torch(weights, u, 1)) <= 1e-14


def test_a_linear_bias_is_added_to_the_scores():
    slopes = np.array([0.5, 0.25])
    operator, weights = attention(bias=LinearBias(slopes))
    u, place = RNG.normal(size=(N, D)), np.arange(N)
    bias = -slopes[:, None, None] * abs(place[:, None] - place)
    found = applied(operator, u, UniformGrid(X, (N,)))
    assert relative_difference(found, by_torch(weights, u, H, bias)) <= 1e-14


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotations_are_those_of_complex_numbers(interleaved):
    """Pairs of features as complex numbers, multiplied by exp(i p omega)."""
    frequencies = rotary_frequencies(2, 50.0)
    operator, weights = attention(rotary=Rotary(frequencies, interleaved))
    u = RNG.normal(size=(N, D))

    def turned(heads):
        first, second = heads[..., 0:1], heads[..., 1:2]
        angle = torch.arange(N)[:, None] * torch.tensor(frequencies)
        image = torch.complex(first, second) * torch.exp(1j * angle)
        return torch.cat([image.real, image.imag, heads[..., 2:]], -1)

    found = applied(operator, u, UniformGrid(X, (N,)))
    assert relative_difference(found, by_torch(weights, u, H, turned=turned)) <= 1e-14


POSITIONS = {
    "rotary": lambda where: {"rotary": Rotary(rotary_frequencies(4, 100.0), coordinate=where)},
    "linear bias": lambda where: {"bias": LinearBias(np.array([0.5, 1.0]), where)},
    "causal": lambda where: {"causal": Causal(coordinate=where)},
}


@pytest.mark.parametrize("name", POSITIONS)
def test_cells_are_invariant_and_points_are_not(name):
    """What reads cells gives the same on refined grids; what reads x is another model there."""
    u = RNG.normal(size=(N, D))
    coarse, fine = UniformGrid(X, (N,)), UniformGrid(X, (3 * N,))
    features = UniformGrid(Y, (2 * D,))
    for where, same in (("cell", True), ("point", False)):
        operator, _ = attention(**POSITIONS[name](where))
        expected = applied(operator, u, coarse).repeat(3, 0).repeat(2, 1)
        found = applied(operator, u.repeat(3, 0).repeat(2, 1), fine, features)
        difference = relative_difference(found, expected)
        assert difference <= 1e-14 if same else difference > 1e-3


def test_points_converge_as_the_token_grid_is_refined():
    """A smooth state under rotation and bias of real x: the midpoint rule has order 2."""
    smooth = lambda x: np.sin(x[:, None] * np.arange(1, D + 1) / N)  # noqa: E731
    operator, _ = attention(
        **(POSITIONS["rotary"]("point") | {"bias": LinearBias(np.zeros(H), "point")})
    )
    sizes, found = [27, 81, 729], {}
    for size in sizes:
        grid = UniformGrid(X, (size,))
        found[size] = applied(operator, smooth(grid.nodes), grid)[size // 2]  # x = N / 2
    errors = [abs(found[size] - found[729]).max() for size in sizes[:-1]]
    assert slope(sizes[:-1], errors) == pytest.approx(2.0, abs=0.1)


def test_buckets_near_zero_hold_one_distance_each():
    bias = BucketBias(np.arange(16.0).reshape(8, 2), furthest=16, both=True)
    np.testing.assert_array_equal(bias.bucket(np.array([0, -1, 1])), [0, 1, 5])
    assert len(set(bias.bucket(np.array([-16, -100, -1000])))) == 1
    assert bias(np.array([[0, 1]])).shape == (2, 1, 2)
    np.testing.assert_array_equal(bias(np.array([[0, 1]]))[:, 0, 1], [10.0, 11.0])


def test_rms_normalisation_is_torch_s():
    u, gamma = RNG.normal(size=(N, D)), RNG.normal(size=D)
    from continuum import CellField

    operator = Normalisation(Y, CellField(gamma[None], Y), eps=1e-3, centred=False)
    expected = torch.nn.functional.rms_norm(
        torch.tensor(u), (D,), torch.tensor(gamma), eps=1e-3
    ).numpy()
    assert relative_difference(applied(operator, u, UniformGrid(X, (N,))), expected) <= 1e-15


def test_rms_projects_onto_a_sphere_and_leaves_zero():
    u = np.concatenate([RNG.normal(size=(N - 1, D)), np.zeros((1, D))])
    found = applied(Normalisation(Y, centred=False), u, UniformGrid(X, (N,)))
    np.testing.assert_allclose((found[:-1] ** 2).mean(-1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(found[-1], 0.0)


def test_a_product_multiplies_its_factors():
    first, second = RNG.normal(size=(2, D, D))
    operator = Product((linear(first, Y, Y), linear(second, Y, Y)))
    u = RNG.normal(size=(N, D))
    found = applied(operator, u, UniformGrid(X, (N,)))
    assert relative_difference(found, (u @ first) * (u @ second)) <= 1e-15


BAD = {
    "a diagonal of cells": (lambda: Causal(0.5, "cell"), "expected 1 for cells, got 0.5"),
    "another coordinate": (lambda: Causal(coordinate="node"), "point, cell, got 'node'"),
    "heads that do not divide": (
        lambda: attention(groups=3),
        r"expected the key to map .* got .* \[0, 3\] x \[0, 4\]",
    ),
    "a bias of other heads": (
        lambda: attention(bias=LinearBias(np.ones(3))),
        "a bias with 2 heads, got 3",
    ),
    "more pairs than features": (
        lambda: attention(rotary=Rotary(np.ones(3))),
        "needs heads of at least 6 features, got 4",
    ),
    "an odd number of features": (lambda: rotary_frequencies(3), "even number >= 2, got 3"),
    "too few buckets": (lambda: BucketBias(np.ones((2, 2))), "at least 4 buckets"),
    "a product of different maps": (
        lambda: Product((linear(np.ones((D, D)), Y, Y), linear(np.ones((D, N)), Y, X))),
        "Product: expected operators",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_refused(case):
    build, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        build()

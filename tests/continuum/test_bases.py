"""Kernels in a basis, layered kernels, and what lies between rows in depth."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

from continuum import (
    AnalyticField,
    AnalyticKernel,
    BasisField,
    BasisKernel,
    CellField,
    CellKernel,
    Domain,
    LayeredField,
    LayeredKernel,
    interval,
)
from continuum.kernels import BASES, Basis, random_coefficients
from continuum.kernels.cells import depth_position

Y = Domain((-1.0,), (2.0,), "Omega_y")
V = Domain((0.5,), (4.5,), "Omega_v")
HEADS = interval(2, "Omega_h") * interval(3, "Omega_eta")
RNG = np.random.default_rng(5)

#: The functions of s in [0, 1], as scipy has them.
FUNCTIONS = {
    "fourier": lambda n, s: (
        np.sqrt(2 - (n == 0)) * np.real((-1j) ** (n % 2 == 0 and n > 0) * wave(n, s))
    ),
    "legendre": lambda n, s: np.sqrt(2 * n + 1) * scipy.special.eval_legendre(n, 2 * s - 1),
    "chebyshev": lambda n, s: scipy.special.eval_chebyt(n, 2 * s - 1),
}


def wave(n, s):
    return np.exp(2j * np.pi * ((n + 1) // 2) * s)


@pytest.mark.parametrize("name", BASES)
def test_basis_functions_are_those_of_scipy(name):
    """On the interval, ends included, up to degree 200; NumPy stays NumPy, and jax agrees."""
    s = np.concatenate([[0.0, 1.0, 0.5], RNG.uniform(0, 1, 40)])
    found = BASES[name].functions(s, 201)
    assert isinstance(found, np.ndarray) and found.shape == (43, 201)
    expected = np.stack([FUNCTIONS[name](n, s) for n in range(201)], axis=-1)
    # 200 steps of the recurrence, and scipy's own; for waves the rounding of 200 pi s
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-12)
    traced = jax.jit(lambda p: BASES[name].functions(p, 5))(jnp.asarray(s))
    np.testing.assert_allclose(traced, expected[:, :5], rtol=0, atol=1e-13)
    assert BASES[name].functions(s, 1).shape == (43, 1)


@pytest.mark.parametrize("name", ["fourier", "legendre"])
def test_bases_are_orthonormal_for_the_mean(name):
    s, w = np.polynomial.legendre.leggauss(60)
    phi = BASES[name].functions((s + 1) / 2, 12)
    np.testing.assert_allclose(phi.T * (w / 2) @ phi, np.eye(12), atol=1e-13)  # round-off


def test_chebyshev_functions_are_orthogonal_with_their_weight_only():
    s = (1 + np.cos(np.pi * (np.arange(60) + 0.5) / 60)) / 2  # Gauss-Chebyshev
    phi = BASES["chebyshev"].functions(s, 12)
    np.testing.assert_allclose(phi.T @ phi / 60, np.diag([1.0] + [0.5] * 11), atol=1e-13)
    assert abs(np.max(np.abs(phi)) - 1.0) < 1e-14
    x, w = np.polynomial.legendre.leggauss(60)
    plain = BASES["chebyshev"].functions((x + 1) / 2, 3)
    assert abs((w * plain[:, 0]) @ plain[:, 2]) > 0.1


def test_a_kernel_in_a_basis_is_its_double_sum():
    """With other bases, sizes and intervals on the two sides, at scattered points."""
    c = RNG.standard_normal((1, 4, 5))
    kernel = BasisKernel(c, Y, V, "fourier", "legendre")
    assert not kernel.time_dependent
    xi, y = np.linspace(-1, 2, 7)[:, None], np.linspace(0.5, 4.5, 6)[None, :]
    expected = sum(
        c[0, a, b] * FUNCTIONS["fourier"](a, (xi + 1) / 3) * FUNCTIONS["legendre"](b, (y - 0.5) / 4)
        for a in range(4)
        for b in range(5)
    )
    np.testing.assert_allclose(kernel(xi, y, 0.3), expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(kernel(0.2, 1.0, 0.0), kernel(np.array(0.2), jnp.array(1.0), 0.0))


def test_a_tensor_basis_on_the_heads():
    """Products of functions of zeta and eta, eta's index running fastest."""
    c = RNG.standard_normal((1, 2, 6))
    kernel = BasisKernel(
        c, Y, HEADS, "chebyshev", ("legendre", "fourier"), source_sizes=(2,), target_sizes=(2, 3)
    )
    points = RNG.uniform([0, 0], [2, 3], (5, 2))
    expected = sum(
        c[0, a, 3 * h + e]
        * FUNCTIONS["chebyshev"](a, (0.4 + 1) / 3)
        * FUNCTIONS["legendre"](h, points[:, 0] / 2)
        * FUNCTIONS["fourier"](e, points[:, 1] / 3)
        for a in range(2)
        for h in range(2)
        for e in range(3)
    )
    np.testing.assert_allclose(kernel(0.4, points, 0.0), expected, rtol=1e-13, atol=1e-14)
    field = BasisField(c[0, :1], HEADS, "legendre", sizes=(2, 3))
    assert [b.name for b in field.basis] == ["legendre"] * 2


def test_coefficients_are_controls():
    """The gradient with respect to C_ab is phi_a(xi) psi_b(y)."""
    kernel = BasisKernel(RNG.standard_normal((2, 2, 3)), Y, Y, "legendre", "legendre", degree=1)
    found = jax.grad(lambda k: k(0.2, 1.1, 0.25))(kernel).coefficients
    phi = [FUNCTIONS["legendre"](n, 1.2 / 3) for n in range(2)]
    psi = [FUNCTIONS["legendre"](n, 2.1 / 3) for n in range(3)]
    np.testing.assert_allclose(found, np.multiply.outer([0.75, 0.25], np.outer(phi, psi)))


def test_float32_coefficients_stay_float32():
    field = BasisField(jnp.ones((2, 3), jnp.float32), Y, "fourier", degree=1)
    assert field(np.array([0.1, 0.2]), 0.3).dtype == jnp.float32


def fields_in_depth(rows, duration, degree):
    """The same function of t, whatever y is, as three kinds of field."""
    layers = tuple(CellField(row[None], Y) for row in rows)
    return {
        "cells": CellField(rows, Y, duration=duration, degree=degree),
        "basis": BasisField(rows, Y, "fourier", duration, degree),
        "layers": LayeredField(layers, duration, degree),
    }


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 4]), st.floats(0.1, 3.0))
def test_rows_in_depth_are_interpolated_as_by_numpy(seed, count, duration):
    rng = np.random.default_rng(seed)
    values, here = rng.standard_normal(count), np.array([0.3])
    nodes = np.arange(count) * duration
    times = np.concatenate([rng.uniform(-1, count * duration + 1, 24 - count), nodes])
    expected = np.interp(times, nodes, values)
    for kind, field in fields_in_depth(values[:, None], duration, 1).items():
        assert field.time_dependent == (count > 1)
        found = np.ravel(field(here, times))
        # near a node t / duration is rounded: a share of the slope that is about round-off
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13, err_msg=kind)
    cell = np.searchsorted(nodes - 1e-6 * duration, times, side="right") - 1
    for kind, field in fields_in_depth(values[:, None], duration, 0).items():
        found = np.ravel(field(here, times))
        np.testing.assert_array_equal(found, values[np.maximum(cell, 0)], err_msg=kind)
    index, weight = depth_position(times, duration, count)
    traced = jax.jit(lambda t: depth_position(t, duration, count))(jnp.asarray(times))
    np.testing.assert_allclose(index + weight, np.add(*traced), rtol=1e-15)
    assert np.all((weight >= 0) & (weight < 1)) and np.all((index >= 0) & (index < count))


def test_kernels_are_interpolated_in_depth_too():
    values = RNG.standard_normal((3, 2, 4))
    children = tuple(CellKernel(row[None], Y, Y) for row in values)
    xi, y = np.array([-0.5, 1.5])[:, None], np.array([-0.9, 0.1, 0.9, 1.9])[None, :]
    for degree, expected in ((0, values[1]), (1, 0.25 * values[1] + 0.75 * values[2])):
        for kernel in (
            CellKernel(values, Y, Y, duration=0.5, degree=degree),
            LayeredKernel(children, 0.5, degree),
        ):
            np.testing.assert_allclose(kernel(xi, y, 0.875), expected, rtol=1e-15)


def test_random_coefficients_have_the_stated_sizes():
    rng = np.random.default_rng(3)
    shape, samples = (2, 3, 4), 2000
    found = np.stack([random_coefficients(rng, shape, 1.5, 0.2) for _ in range(samples)])
    expected = 0.2 * np.outer(np.arange(1.0, 4) ** -1.5, np.arange(1.0, 5) ** -1.5)
    # a deviation estimated from n samples is off by a share of 1 / sqrt(2 n), here taken five times
    np.testing.assert_allclose(
        found.std(axis=0), np.stack([expected] * 2), rtol=5 / np.sqrt(2 * samples)
    )
    same = [random_coefficients(np.random.default_rng(9), shape, 1.0) for _ in range(2)]
    np.testing.assert_array_equal(*same)


def moving(y, t):
    return y * t


def bad():
    still = AnalyticKernel(lambda xi, y, t: xi + y, Y, Y, time_dependent=False)
    ones = np.ones((1, 2, 2))
    return {
        "an unknown basis": (
            lambda: BasisKernel(ones, Y, Y, "fourier", "wavelets"),
            "unknown basis 'wavelets'; expected one of fourier, legendre, chebyshev",
        ),
        "sizes that do not fill the coefficients": (
            lambda: BasisKernel(ones, Y, HEADS, "fourier", "fourier", target_sizes=(2, 2)),
            r"BasisKernel target: expected 2 numbers of functions .* the 2 coefficients, got",
        ),
        "no sizes for two coordinates": (
            lambda: BasisField(ones[0], HEADS, "fourier"),
            r"BasisField: expected 2 numbers of functions .* got \(2,\)",
        ),
        "two bases for one coordinate": (
            lambda: BasisField(ones[0], Y, ("fourier", "legendre")),
            "expected one basis, or 1 of them for .* got 2",
        ),
        "an unbounded domain": (
            lambda: BasisField(ones[0], Domain((0.0,), (np.inf,)), "fourier"),
            r"a basis needs a bounded domain, got Omega = \[0, N\]",
        ),
        "a quadratic in depth": (
            lambda: CellKernel(ones, Y, Y, degree=2),
            "CellKernel: expected degree 0 .* or 1 .* got 2",
        ),
        "no duration": (
            lambda: CellField(ones[0], Y, duration=0.0),
            "CellField: expected a finite duration > 0, got 0.0",
        ),
        "no rows": (
            lambda: BasisField(np.ones((0, 2)), Y, "fourier"),
            "BasisField: expected at least one row in depth",
        ),
        "no children": (lambda: LayeredKernel(()), "LayeredKernel: expected at least one child"),
        "a child that moves": (
            lambda: LayeredField((AnalyticField(moving, Y),)),
            "LayeredField: expected children that are constant in t, but child 0 depends on t",
        ),
        "children of two domains": (
            lambda: LayeredKernel((still, CellKernel(ones, Y, V))),
            "LayeredKernel: child 1 lives on other domains than child 0",
        ),
    }


@pytest.mark.parametrize("case", bad())
def test_bad_kernels_are_refused(case):
    build, message = bad()[case]
    with pytest.raises(ValueError, match=message):
        build()


def test_a_basis_of_ones_own():
    hats = Basis("hats", lambda s, n: np.maximum(0, 1 - np.abs(s[..., None] * n - np.arange(n))))
    field = BasisField(np.array([[1.0, 5.0]]), interval(1.0, "Omega_y"), hats)
    np.testing.assert_allclose(field(np.array([0.0, 0.25, 0.5]), 0.0), [1.0, 3.0, 5.0])

"""Kernels and fields: the values at points, against tables and products formed by hand."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from continuum import (
    AnalyticField,
    AnalyticKernel,
    CellField,
    CellKernel,
    Domain,
    SeparableKernel,
    interval,
    token_axis,
)
from continuum.kernels.cells import depth_index

SOURCE = Domain((-1.0,), (2.0,), "Omega_y")  # 3 long
HEADS = interval(2, "Omega_h") * interval(3, "Omega_eta")


def table(*shape):
    """Distinct numbers, so that a wrong cell gives a wrong value."""
    return jnp.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)


def cell_by_search(low, high, count, point):
    """The cell [a, b) with a <= point < b; the outer ones reach to infinity."""
    edges = np.linspace(low, high, count + 1)
    inside = [k for k in range(count) if edges[k] <= point < edges[k + 1]]
    return inside[0] if inside else (0 if point < low else count - 1)


def test_analytic_kernel_is_its_function():
    kernel = AnalyticKernel(lambda xi, y, t: xi + 10.0 * y + 100.0 * t, SOURCE, SOURCE)
    xi, y = np.array([0.0, 1.0])[:, None], np.array([0.0, 0.5, 2.0])[None, :]
    np.testing.assert_array_equal(kernel(xi, y, 3.0), 300.0 + xi + 10.0 * y)
    assert kernel.time_dependent
    field = AnalyticField(lambda y, t: y * t, SOURCE, time_dependent=False)
    np.testing.assert_array_equal(field(np.array([1.0, 2.0]), 3.0), [3.0, 6.0])
    assert not field.time_dependent


def test_separable_kernel_is_a_sum_of_products():
    left = (AnalyticField(lambda y, t: y + t, SOURCE), AnalyticField(lambda y, t: y**2, SOURCE))
    right = (AnalyticField(lambda y, t: 2.0 * y, SOURCE), AnalyticField(lambda y, t: t - y, SOURCE))
    kernel = SeparableKernel(left, right)
    xi, y, t = np.linspace(-1, 2, 4)[:, None], np.linspace(-1, 2, 5)[None, :], 0.75
    expected = (xi + t) * (2 * y) + xi**2 * (t - y)
    np.testing.assert_allclose(kernel(xi, y, t), expected, rtol=1e-15, atol=1e-15)  # round-off
    assert np.linalg.matrix_rank(np.asarray(kernel(xi, y, t))) == 2
    assert (kernel.source, kernel.target, kernel.time_dependent) == (SOURCE, SOURCE, True)


def test_separable_kernel_depends_on_time_only_if_a_factor_does():
    still = AnalyticField(lambda y, t: y, SOURCE, time_dependent=False)
    assert not SeparableKernel((still,), (still,)).time_dependent
    assert SeparableKernel((still,), (CellField(table(2, 3), SOURCE),)).time_dependent


@given(st.integers(0, 2**32 - 1))
def test_cell_kernel_takes_the_cell_that_holds_the_point(seed):
    rng = np.random.default_rng(seed)
    values = table(3, 6, 8)
    kernel = CellKernel(values, SOURCE, HEADS, (6,), (2, 4), duration=1.5)
    # inside and outside, every fourth point on an edge: all edges here are exact in binary
    points = rng.uniform([-3.0, -1.0, -1.0, -2.0], [4.0, 3.0, 4.0, 8.0], (12, 4))
    steps = np.array([0.5, 1.0, 0.75, 1.5])
    points[::4] = np.round(points[::4] / steps) * steps
    points[:, 3] += 1e-3 * (points[:, 3] > 0)  # away from the slack in t, which has its own test
    for xi, zeta, eta, t in points.tolist():
        depth = cell_by_search(0.0, 4.5, 3, t)
        row = cell_by_search(-1.0, 2.0, 6, xi)
        column = 4 * cell_by_search(0.0, 2.0, 2, zeta) + cell_by_search(0.0, 3.0, 4, eta)
        assert kernel(xi, np.array([zeta, eta]), t) == values[depth, row, column]
    xi, p, t = (jnp.asarray(part) for part in (points[:, 0], points[:, 1:3], points[:, 3]))
    on_host = [
        kernel(x, np.array(q), s) for x, q, s in zip(xi.tolist(), p, t.tolist(), strict=True)
    ]
    np.testing.assert_array_equal(kernel(xi, p, t), on_host)  # host and jax points agree


def test_head_coordinate_is_the_slow_one():
    # the value at (zeta, eta) in cell (h, e) is column h * 3 + e: heads side by side, as in models
    kernel = CellKernel(table(1, 3, 6), SOURCE, HEADS, (3,), (2, 3))
    for h in range(2):
        for e in range(3):
            assert kernel(-0.5, np.array([h + 0.5, e + 0.5]), 0.0) == 1.0 + 3 * h + e


def test_cells_are_closed_below_and_open_above():
    field = CellField(table(2, 3), interval(3, "Omega_y"), duration=0.5)
    below = 1.0 - 1e-11  # ten times the slack that forgives the rounding of nodes
    assert field(1.0, 0.0) == 2.0 and field(below, 0.0) == 1.0
    assert field(0.5, 0.5) == 4.0 and field(0.5, 0.499) == 1.0


def test_points_and_times_outside_take_the_nearest_cell():
    field = CellField(table(2, 3), interval(3, "Omega_y"))
    np.testing.assert_array_equal(field(np.array([-5.0, 3.0, 9.0]), -1.0), [1.0, 3.0, 3.0])
    np.testing.assert_array_equal(field(np.array([-5.0, 3.0, 9.0]), 2.0), [4.0, 6.0, 6.0])


@pytest.mark.parametrize("steps", [3, 7, 10, 49, 1000])
def test_rounded_step_times_land_in_their_own_cell(steps):
    """N * (T / n_steps) may round below the cell's beginning; one step per cell must not repeat."""
    duration = 0.7 / steps
    times = np.arange(steps) * duration
    np.testing.assert_array_equal(depth_index(times, duration, steps), np.arange(steps))
    np.testing.assert_array_equal(depth_index(jnp.asarray(times), duration, steps), range(steps))
    # the same times summed up, the worst rounding there is
    summed = np.cumsum(np.full(steps, duration)) - duration
    np.testing.assert_array_equal(depth_index(summed, duration, steps), np.arange(steps))


def test_one_depth_cell_means_constant_in_time():
    assert not CellField(table(1, 3), SOURCE).time_dependent
    assert CellField(table(2, 3), SOURCE).time_dependent
    assert not CellKernel(table(1, 3, 3), SOURCE, SOURCE).time_dependent
    assert CellKernel(table(2, 3, 3), SOURCE, SOURCE).time_dependent


def bad_kernels():
    def field(domain):
        return AnalyticField(lambda y, t: y, domain)

    other = interval(5, "Omega_v")
    return {
        "cells that do not fill the array": (
            lambda: CellKernel(table(1, 3, 8), SOURCE, HEADS, (3,), (2, 3)),
            r"CellKernel target: expected 2 cell counts .* product is the array's 8 cells, got "
            r"\(2, 3\)",
        ),
        "one count for two coordinates": (
            lambda: CellKernel(table(1, 3, 6), SOURCE, HEADS),
            r"CellKernel target: expected 2 cell counts .* got \(6,\)",
        ),
        "source cells": (
            lambda: CellKernel(table(1, 3, 6), SOURCE, SOURCE, (4,)),
            r"CellKernel source: .* the array's 3 cells, got \(4,\)",
        ),
        "an unbounded domain": (
            lambda: CellField(table(1, 3), token_axis()),
            r"CellField: cells need a bounded domain, got Omega_x = \[0, N\]",
        ),
        "unequal numbers of factors": (
            lambda: SeparableKernel((field(SOURCE),) * 2, (field(SOURCE),)),
            "as many left as right factors and at least one, got 2 and 1",
        ),
        "no factors": (lambda: SeparableKernel((), ()), "at least one, got 0 and 0"),
        "factors of two domains": (
            lambda: SeparableKernel((field(SOURCE), field(other)), (field(SOURCE),) * 2),
            r"must share a domain, got \['Omega_y = \[-1, 2\]', 'Omega_v = \[0, 5\]'\]",
        ),
    }


@pytest.mark.parametrize("case", bad_kernels())
def test_bad_kernels_are_refused(case):
    build, message = bad_kernels()[case]
    with pytest.raises(ValueError, match=message):
        build()

"""Expressions of separate variables, called with points."""

import jax
import numpy as np

from continuum import parse
from continuum.kernels import on_host
from experiments.building.points import ConstantInTime, OnPoints


def function():
    return OnPoints(parse("zeta + 10*eta + 100*y + t", ("zeta", "eta", "y", "t")), (2, 1, 1))


def test_coordinates_stand_in_the_last_axis():
    heads = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    y = np.array([7.0, 8.0])
    found = function()(heads[:, None], y[None, :], 0.5)
    expected = heads[:, :1] + 10 * heads[:, 1:] + 100 * y + 0.5
    np.testing.assert_array_equal(found, expected)
    assert ConstantInTime(lambda a, b: a - b)(5.0, 2.0, 99.0) == 3.0


def test_numpy_points_are_evaluated_on_the_host():
    heads, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([7.0])
    found = on_host(function(), heads, y, np.array(0.5))
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, heads[:, 0] + 10 * heads[:, 1] + 100 * y + 0.5)
    still = ConstantInTime(OnPoints(parse("x1 - x2*y", ("x1", "x2", "y")), (2, 1)))
    found = on_host(still, heads, y, np.array(0.5))
    np.testing.assert_array_equal(found, heads[:, 0] - heads[:, 1] * y)


def test_equal_functions_share_what_was_compiled():
    first, second = function(), function()
    assert first == second and hash(first) == hash(second) and first is not second
    traced = []

    def once(f, y):
        traced.append(f)
        return f(np.ones(2), y, 0.0)

    compiled = jax.jit(once, static_argnums=0)
    compiled(first, 1.0)
    compiled(second, 2.0)
    assert len(traced) == 1

"""Flows with a rate: the halves of Strang-shaped steps."""

import numpy as np
import pytest

from continuum import (
    CellKernel,
    Equation,
    Flow,
    LinearIntegral,
    Sequence,
    describe,
    interval,
)
from discretize import Grid, UniformGrid, discretize
from solvers import solve
from tests.helpers import relative_difference, slope

Y, X = interval(3, "Omega_y"), interval(2, "Omega_x")
RNG = np.random.default_rng(0)
W = 0.5 * RNG.normal(size=(3, 3))
U0 = RNG.normal(size=(2, 3))


def problem(steps, structure):
    term = LinearIntegral(CellKernel(W[None], Y, Y))
    equation = Equation("halves", {"w": term}, structure, Y, 1.0, X)
    return discretize(equation, Grid(UniformGrid(X, (2,)), UniformGrid(Y, (3,))), num_steps=steps)


HALVES = Sequence((Flow(("w",), 0.5), Flow(("w",), 0.5)))


def test_a_half_flow_takes_half_a_step():
    found = solve(problem(1, Flow(("w",), 0.5)), U0).final
    assert relative_difference(np.asarray(found), U0 + 0.5 * U0 @ W) <= 1e-15


@pytest.mark.parametrize(("scheme", "order"), [("lie", 1), ("strang", 2), ("rk4", 4)])
def test_two_halves_are_a_whole_for_every_scheme(scheme, order):
    """The limit is exp(T W), reached with the scheme's order."""
    import scipy.linalg

    exact = U0 @ scipy.linalg.expm(W)
    sizes = [8, 16, 32, 64]
    errors = [
        abs(np.asarray(solve(problem(n, HALVES), U0, scheme=scheme).final) - exact).max()
        for n in sizes
    ]
    assert slope(sizes, errors) == pytest.approx(order, abs=0.05)


def test_rates_are_described():
    text = describe(problem(1, HALVES).equation)
    assert "u <- u + 0.5 dt (w)(u)" in text
    with pytest.raises(ValueError, match="expected a finite rate > 0, got 0.0"):
        Flow(("w",), 0.0)

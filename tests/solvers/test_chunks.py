"""Runs in pieces: the same bits, observables, and the step that spoils a state."""

import jax.numpy as jnp
import numpy as np
import pytest

import solvers
from continuum import (
    AnalyticKernel,
    Apply,
    CellField,
    CellKernel,
    Equation,
    Flow,
    IntegralAttention,
    LinearIntegral,
    MomentSet,
    Pointwise,
    Projection,
    Sequence,
    interval,
)
from discretize import Grid, UniformGrid, discretize
from solvers.observables import moments, violations
from tests.helpers import relative_difference

Y, X = interval(1, "Omega_y"), interval(2, "Omega_x")
GRID = Grid(UniformGrid(X, (4,)), UniformGrid(Y, (6,)))
RNG = np.random.default_rng(0)
START = np.asarray(MomentSet().project(jnp.asarray(RNG.normal(size=(4, 6)))))


def problem(degree=0):
    """Residual flow with kernels of every dependence on t: none, analytic, cells, linear cells."""
    heads = interval(1, "Omega_h") * Y
    cells = lambda *shape: CellKernel(RNG.normal(size=shape), Y, Y, duration=0.25, degree=degree)  # noqa: E731
    into = lambda: LinearIntegral(  # noqa: E731
        CellKernel(RNG.normal(size=(1, 6, 6)), Y, heads, (6,), (1, 6)),
    )
    out = LinearIntegral(CellKernel(RNG.normal(size=(1, 6, 6)), heads, Y, (1, 6), (6,)))
    attention = IntegralAttention(into(), into(), into(), out)
    dense = LinearIntegral(cells(4, 6, 6), CellField(RNG.normal(size=(4, 6)), Y, duration=0.25))
    moving = LinearIntegral(AnalyticKernel(lambda xi, y, t: jnp.cos(xi - y + 3 * t), Y, Y))
    terms = {
        "attention": attention,
        "feedforward": LinearIntegral(dense.kernel) if degree else dense,
        "moving": moving,
        "s1": Projection(MomentSet(), Y),
    }
    names = ("attention", "feedforward", "moving")
    children = tuple(Sequence((Flow((name,)), Apply("s1"))) for name in names)
    return discretize(Equation("flow", terms, Sequence(children), Y, 1.0, X), GRID, num_steps=24)


def collect(chunks):
    chunks = list(chunks)
    states = np.concatenate([chunk.states for chunk in chunks])
    observed = {
        name: np.concatenate([chunk.observed[name] for chunk in chunks])
        for name in chunks[0].observed
    }
    return chunks, states, observed


@pytest.mark.parametrize(("scheme", "degree"), [("lie", 0), ("strang", 1), ("order4", 0)])
def test_a_run_in_chunks_is_the_run(scheme, degree):
    found = problem(degree)
    solver = solvers.Solver(found, tokens=4, scheme=scheme)
    watched = {**moments(found, GRID.tokens), **violations(found)}
    whole = solver(START, save_every=2)
    chunks, states, observed = collect(
        solver.chunks(START, save_every=2, chunk=5, observables=watched)
    )
    assert [(c.first_step, c.last_step) for c in chunks] == [(0, 10), (10, 20), (20, 24)]
    # compiled separately, so equal to round-off, grown over 24 steps
    assert relative_difference(states, whole.trajectory[1:]) <= 1e-12
    np.testing.assert_allclose(np.concatenate([c.times for c in chunks]), whole.times[1:])
    every_second = {name: values[1::2] for name, values in observed.items()}
    np.testing.assert_allclose(every_second["mean"], states.mean((-2, -1)), atol=1e-14)
    np.testing.assert_allclose(every_second["energy"], (states**2).mean((-2, -1)), rtol=1e-12)
    assert observed["violation_s1"].shape == (24,) and observed["violation_s1"].max() <= 1e-14


def test_a_run_that_goes_on_has_the_same_bits():
    solver = solvers.Solver(problem(), tokens=4, scheme="strang")
    watched = violations(solver.problem)
    chunks, states, observed = collect(
        solver.chunks(START, save_every=3, chunk=2, observables=watched)
    )
    again = solvers.Solver(problem_again(solver.problem), tokens=4, scheme="strang")
    rest, states_after, observed_after = collect(
        again.chunks(
            chunks[1].state, save_every=3, chunk=2, start=chunks[1].last_step, observables=watched
        )
    )
    np.testing.assert_array_equal(states_after, states[4:])
    np.testing.assert_array_equal(observed_after["violation_s1"], observed["violation_s1"][12:])


def problem_again(found):
    return discretize(found.equation, found.grid, num_steps=found.num_steps)


def test_a_start_between_borders_is_refused():
    solver = solvers.Solver(problem(), tokens=4)
    with pytest.raises(ValueError, match=r"multiple of chunk \* save_every = 6 below 24, got 4"):
        next(solver.chunks(START, save_every=3, chunk=2, start=4))


def test_the_first_bad_step_and_substep_are_named():
    """Overflow in a step that plain NumPy finds as well."""
    terms = {
        "small": Pointwise("tanh", Y),
        "growth": LinearIntegral(AnalyticKernel(lambda xi, y, t: 1e60 + 0 * xi * y, Y, Y)),
    }
    structure = Sequence((Flow(("small",)), Flow(("growth",))))
    found = discretize(Equation("blow-up", terms, structure, Y, 1.0, X), GRID, num_steps=20)
    u, step = np.ones((4, 6)), 0
    with np.errstate(over="ignore"):
        while np.isfinite(u).all():
            u = u + np.tanh(u) / 20
            u = u + 1e60 * u.mean(-1, keepdims=True) / 20
            step += 1
    solver = solvers.Solver(found, tokens=4)
    with pytest.raises(solvers.NonFiniteError, match="after growth in step") as caught:
        list(solver.chunks(np.ones((4, 6)), save_every=1, chunk=4))
    assert (caught.value.step, caught.value.substep) == (step - 1, "growth")


@pytest.mark.parametrize("degree", [0, 1])
def test_few_rows_in_depth_stay_few(degree):
    """A kernel of four depth cells costs four rows, however many steps are taken."""
    solver = solvers.Solver(problem(degree), tokens=4, num_steps=4000)
    table = solver.coefficients["1"]["0"]["matrix"]
    assert table.values.shape == (4, 6, 6) and len(table.index) == 4000
    few = solvers.Solver(solver.problem, tokens=4, num_steps=8)
    rows = few.coefficients["1"]["0"]["matrix"].rows(8)
    kernel = solver.problem.equation.terms["feedforward"].kernel
    values = np.asarray(kernel.values)
    for k, t in enumerate(np.arange(8) / 8):
        place = min(t / 0.25, 3.0) if degree else np.floor(t / 0.25)
        low, part = int(place), place - int(place)
        mix = (1 - part) * values[low] + part * values[min(low + 1, 3)]
        np.testing.assert_allclose(rows[k], np.eye(6) + mix / 6 / 8, rtol=1e-13, atol=1e-15)

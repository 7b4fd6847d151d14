"""Every scheme converges with the order it declares, on a problem that was tested first."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

import solvers
from continuum import (
    AnalyticKernel,
    Apply,
    Average,
    CellField,
    CellKernel,
    Equation,
    Flow,
    LinearIntegral,
    MomentSet,
    NonnegativeCone,
    Normalisation,
    Pointwise,
    Projection,
    Sequence,
    interval,
)
from discretize import Grid, UniformGrid, discretize
from solvers.composition import TRIPLE_JUMP
from tests.helpers import relative_difference, slope

Y, X = interval(1, "Omega_y"), interval(1, "Omega_x")
GRID = Grid(UniformGrid(X, (3,)), UniformGrid(Y, (6,)))
S1 = MomentSet(1.0, 0.3)
HORIZON = 0.5


def flow(constrained):
    """u_t = W(t) u + tanh(u), tangentially on S1(1, 0.3) if constrained: smooth, not autonomous."""
    kernel = AnalyticKernel(lambda xi, y, t: jnp.cos(3 * xi - y + 2 * t), Y, Y)
    terms = {"linear": LinearIntegral(kernel), "pointwise": Pointwise("tanh", Y)}
    children = [Flow(("linear",)), Flow(("pointwise",))]
    if constrained:
        terms["s1"] = Projection(S1, Y)
        children = [Sequence((child, Apply("s1"))) for child in children]
    return discretize(Equation("flow", terms, Sequence(tuple(children)), Y, HORIZON, X), GRID)


def start():
    return np.asarray(S1.project(jnp.asarray(np.random.default_rng(7).normal(size=(3, 6)))))


@pytest.fixture(scope="module", params=[True, False], ids=["on S1", "unconstrained"])
def exact(request):
    """The problem, and its solution by scipy's DOP853 from plain NumPy formulas."""
    y = (np.arange(6) + 0.5) / 6

    def tendency(t, flat):
        u = flat.reshape(3, 6)
        total = u @ np.cos(3 * y[:, None] - y + 2 * t) / 6 + np.tanh(u)
        if request.param:
            radial = u - 1.0
            total = total - total.mean(-1, keepdims=True)
            total = total - radial * (total * radial).mean(-1, keepdims=True) / 0.09
        return total.ravel()

    found = scipy.integrate.solve_ivp(
        tendency, (0, HORIZON), start().ravel(), method="DOP853", rtol=1e-13, atol=1e-14
    )
    return flow(request.param), found.y[:, -1].reshape(3, 6), request.param


def errors_of(problem, u0, expected, scheme, sizes):
    """The errors at T; sizes are multiples of the first one, so one compiled loop serves all."""
    solve = lambda n: solvers.Solver(problem, tokens=3, num_steps=int(n), scheme=scheme)  # noqa: E731
    found = [relative_difference(solve(n).final(u0, block=int(sizes[0])), expected) for n in sizes]
    assert found[-1] > 1e-13  # above the reference's own error and round-off, some 1e-14
    return found


@pytest.mark.parametrize("scheme", list(solvers.SCHEMES))
def test_a_scheme_has_the_order_it_declares(exact, scheme):
    problem, expected, constrained = exact
    if constrained and scheme == "strang-exponential":
        with pytest.raises(ValueError, match="exact only for S1 with mean 0"):
            solvers.solve(problem, start(), scheme=scheme)
        return
    order = solvers.SCHEMES[scheme].order
    sizes = 2 ** np.arange(3, 7) if order == 4 else 2 ** np.arange(4, 9)
    errors = errors_of(problem, start(), expected, scheme, sizes)
    assert abs(slope(sizes[1:], errors[1:]) - order) <= 0.05


def test_the_state_stays_on_the_set(exact):
    problem, _, constrained = exact
    solution = solvers.solve(problem, start(), num_steps=8, scheme="strang", save_every=1)
    violation = float(jnp.max(S1.violation(solution.trajectory)))
    # free of the set, the state leaves it at once
    assert violation <= 1e-14 if constrained else violation > 1e-2


def test_strang_keeps_its_order_on_kernels_constant_on_depth_cells():
    """A stage at the end of a step belongs to this step's cell, not to the next layer's."""
    values = np.random.default_rng(3).normal(size=(3, 6, 6))
    terms = {
        "linear": LinearIntegral(CellKernel(values, Y, Y, duration=0.2)),
        "pointwise": Pointwise("tanh", Y),
        "s1": Projection(S1, Y),
    }
    children = tuple(Sequence((Flow((n,)), Apply("s1"))) for n in ("linear", "pointwise"))
    problem = discretize(Equation("layers", terms, Sequence(children), Y, 0.6, X), GRID)
    sizes = 3 * 2 ** np.arange(2, 7)
    solve = lambda n: solvers.Solver(problem, tokens=3, num_steps=int(n), scheme="strang")  # noqa: E731
    finals = [solve(n).final(start(), block=12) for n in sizes]
    errors = [relative_difference(a, b) for a, b in zip(finals, finals[1:], strict=False)]
    assert abs(slope(sizes[1:-1], errors[1:]) - 2) <= 0.05


def mean_preserving(n=6):
    """A W whose images have mean zero, so that exp(t W) u0 / rms is the exact flow on S1(0, 1)."""
    values = np.random.default_rng(5).normal(size=(n, n))
    return values - values.mean(axis=1, keepdims=True)


def test_the_exponential_is_exact_on_the_sphere():
    values = mean_preserving()
    terms = {
        "linear": LinearIntegral(CellKernel(6 * values[None], Y, Y)),
        "s1": Projection(MomentSet(), Y),
    }
    problem = discretize(
        Equation("sphere", terms, Sequence((Flow(("linear",)), Apply("s1"))), Y, HORIZON, X), GRID
    )
    u0 = np.asarray(MomentSet().project(jnp.asarray(start())))
    moved = u0 @ scipy.linalg.expm(HORIZON * values)
    expected = moved / np.sqrt((moved**2).mean(-1, keepdims=True))
    for steps in (1, 7):
        found = solvers.solve(problem, u0, num_steps=steps, scheme="strang-exponential").final
        assert relative_difference(found, expected) <= 1e-13  # round-off of two exponentials


def test_the_exponential_with_a_bias_is_exact():
    rng = np.random.default_rng(6)
    values, bias = rng.normal(size=(6, 6)), rng.normal(size=6)
    operator = LinearIntegral(CellKernel(6 * values[None], Y, Y), CellField(bias[None], Y), 0.7)
    problem = discretize(
        Equation("affine", {"linear": operator}, Flow(("linear",)), Y, HORIZON, X), GRID
    )
    whole = values + 0.7 * np.eye(6)
    fixed = -np.linalg.solve(whole.T, bias)  # u* whole + bias = 0
    expected = (start() - fixed) @ scipy.linalg.expm(HORIZON * whole) + fixed
    found = solvers.solve(problem, start(), num_steps=3, scheme="strang-exponential").final
    assert relative_difference(found, expected) <= 1e-13  # round-off of exponential and solve


@pytest.mark.parametrize(
    ("kernel", "bias", "message"),
    [
        (CellKernel(np.eye(6)[None] + np.arange(6.0)[:, None], Y, Y), None, "of another mean"),
        (CellKernel(6 * mean_preserving()[None], Y, Y), CellField(np.ones((1, 6)), Y), "bias"),
    ],
)
def test_an_exponential_that_is_not_the_flow_on_the_sphere_is_refused(kernel, bias, message):
    terms = {"linear": LinearIntegral(kernel, bias), "s1": Projection(MomentSet(), Y)}
    structure = Sequence((Flow(("linear",)), Apply("s1")))
    problem = discretize(Equation("sphere", terms, structure, Y, HORIZON, X), GRID)
    with pytest.raises(ValueError, match=message):
        solvers.solve(problem, start(), scheme="strang-exponential")


def test_order4_refuses_what_cannot_run_backwards():
    terms = {
        "w": LinearIntegral(AnalyticKernel(lambda xi, y, t: xi * y, Y, Y)),
        "cone": Projection(NonnegativeCone(), Y),
    }
    structure = Sequence((Sequence((Flow(("w",)), Apply("cone"))),))
    problem = discretize(Equation("cone", terms, structure, Y, 1.0, X), GRID)
    with pytest.raises(ValueError, match="cannot run backwards"):
        solvers.solve(problem, start(), scheme="order4")
    backwards = dataclasses.replace(solvers.SCHEMES["lie"], name="jump", parts=TRIPLE_JUMP)
    with pytest.raises(ValueError, match="takes negative substeps, but .* cannot run backwards"):
        solvers.solve(problem, start(), scheme=backwards)


def test_a_state_off_the_set_is_projected_before_it_moves():
    problem, off = flow(True), start() + 0.5
    finals = [
        solvers.solve(problem, state, num_steps=8, scheme="strang").final
        for state in (off, np.asarray(S1.project(jnp.asarray(off))))
    ]
    assert relative_difference(*finals) <= 1e-14  # the projection of a member is itself


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        (Sequence((Average(Flow(("w",))), Apply("map"))), "Average has no flow"),
        (Sequence((Flow(("w",)), Apply("map"))), "expected the projection onto S1 after a flow"),
    ],
)
def test_a_structure_without_flows_is_refused(structure, message):
    terms = {
        "w": LinearIntegral(AnalyticKernel(lambda xi, y, t: xi * y, Y, Y)),
        "map": Projection(NonnegativeCone(), Y),
    }
    problem = discretize(Equation("odd", terms, structure, Y, 1.0, X), GRID)
    with pytest.raises(ValueError, match=message):
        solvers.solve(problem, start(), scheme="strang")


def test_a_normalisation_with_eps_has_no_tangent_space():
    terms = {
        "w": LinearIntegral(AnalyticKernel(lambda xi, y, t: xi * y, Y, Y)),
        "norm": Normalisation(Y, eps=1e-5),
    }
    structure = Sequence((Flow(("w",)), Apply("norm")))
    problem = discretize(Equation("eps", terms, structure, Y, 1.0, X), GRID)
    with pytest.raises(ValueError, match=r"eps = 1e-05, .* expected eps = 0"):
        solvers.solve(problem, start(), scheme="strang")

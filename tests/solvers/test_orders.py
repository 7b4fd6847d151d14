"""Every scheme converges with the order it declares, on a problem that was tested first."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate

import solvers
from continuum import (
    AnalyticKernel,
    Apply,
    Average,
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


@pytest.mark.parametrize("scheme", list(solvers.SCHEMES))
def test_a_scheme_has_the_order_it_declares(exact, scheme):
    problem, expected, _ = exact
    order = solvers.SCHEMES[scheme].order
    sizes = 2 ** np.arange(4, 9)
    finals = [solvers.solve(problem, start(), num_steps=int(n), scheme=scheme).final for n in sizes]
    errors = [relative_difference(final, expected) for final in finals]
    assert errors[-1] > 1e-12  # above the reference's own error and round-off
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
    finals = [
        solvers.solve(problem, start(), num_steps=int(n), scheme="strang").final for n in sizes
    ]
    errors = [relative_difference(a, b) for a, b in zip(finals, finals[1:], strict=False)]
    assert abs(slope(sizes[1:-1], errors[1:]) - 2) <= 0.05


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
    with pytest.raises(ValueError, match=r"eps = 1e-05 .* expected eps = 0"):
        solvers.solve(problem, start(), scheme="strang")

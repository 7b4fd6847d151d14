"""The loop and its interface: times, saves, substeps, masks, batches, schemes, bad input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

import solvers
from continuum import (
    AnalyticKernel,
    Apply,
    Equation,
    Flow,
    LinearIntegral,
    MomentSet,
    Pointwise,
    Projection,
    Sequence,
    interval,
)
from discretize import Grid, UniformGrid, discretize
from discretize.encoders import recover
from experiments.reference import encode, random_encoder
from tests.helpers import relative_difference
from tests.references.translate import to_torch


@pytest.fixture(scope="module")
def parameters():
    return random_encoder(4, 6, 8, 2, 12, activation="gelu", final_norm=True)


@pytest.fixture(scope="module")
def recovered(parameters):
    return recover(to_torch(parameters))


@pytest.fixture(scope="module")
def u0():
    return np.random.default_rng(0).normal(size=(3, 5, 8))


@pytest.fixture(scope="module")
def mask():
    valid = np.ones((3, 5), bool)
    valid[1, 3:] = False
    valid[2, 1:] = False
    return valid


def test_saved_states_are_the_layers_of_the_reference(parameters, recovered, u0, mask):
    expected = encode(parameters, u0, mask)
    solution = solvers.solve(recovered, u0, mask=mask, save_every=1)
    assert_array_equal(solution.times, np.arange(7.0))
    assert_array_equal(solution.trajectory[0], u0)
    for k, layer in enumerate(expected.layers):
        # six layers of sums of at most 12 terms
        assert relative_difference(solution.trajectory[k + 1], layer["output"], mask) <= 1e-13
    assert relative_difference(solution.final, expected.output, mask) <= 1e-13
    # the final norm belongs to .final, not to the trajectory
    assert relative_difference(solution.final, solution.trajectory[-1], mask) > 1e-3


@pytest.mark.parametrize("stride", [1, 2, 3, 6])
def test_saving_more_often_changes_no_state(recovered, u0, stride):
    every = solvers.solve(recovered, u0, save_every=1)
    some = solvers.solve(recovered, u0, save_every=stride)
    assert_array_equal(some.times, every.times[::stride])
    assert some.trajectory.shape[0] == 6 // stride + 1
    # other loops compile to other code: equal to round-off
    assert relative_difference(some.trajectory, every.trajectory[::stride]) <= 1e-14


def test_by_default_the_initial_and_the_final_state_are_saved(recovered, u0):
    solution = solvers.solve(recovered.problem, u0)
    assert_array_equal(solution.times, [0.0, 6.0])
    assert_array_equal(solution.trajectory[0], u0)
    assert_array_equal(solution.trajectory[1], solution.final)


def test_substeps_are_those_of_the_reference(parameters, recovered, u0, mask):
    solution = solvers.solve(recovered, u0, mask=mask, substeps=True)
    expected = encode(parameters, u0, mask).layers
    names = {
        "attention": "attention",
        "norm_attention": "normalised",
        "dense_1": "hidden",
        "dense_2": "feedforward",
        "relaxation": "sum",
        "norm_output": "output",
    }
    assert [name for name, _ in solution.substeps] == list(names)
    for name, states in solution.substeps:
        factor = 2.0 if name == "relaxation" else 1.0  # the relaxation is half the residual sum
        for got, layer in zip(states, expected, strict=True):
            assert relative_difference(factor * got, layer[names[name]], mask) <= 1e-13


def test_a_sample_alone_equals_the_sample_in_a_batch(recovered, u0, mask):
    together = solvers.solve(recovered, u0, mask=mask).final
    for k in range(3):
        alone = solvers.solve(recovered, u0[k], mask=mask[k]).final
        assert alone.shape == (5, 8)
        assert relative_difference(alone, together[k], mask[k]) <= 1e-13


def test_a_mask_integrates_over_the_valid_tokens_only(recovered, u0, mask):
    masked = solvers.solve(recovered, u0, mask=mask).final
    for k, count in enumerate(mask.sum(axis=1)):
        short = solvers.solve(recovered, u0[k, :count]).final
        assert relative_difference(masked[k, :count], short) <= 1e-13
    garbage = np.where(mask[..., None], u0, 1e6)
    again = solvers.solve(recovered, garbage, mask=mask).final
    assert relative_difference(again, masked, mask) <= 1e-13


def test_one_mask_serves_a_whole_batch(recovered, u0, mask):
    shared = solvers.solve(recovered, u0, mask=mask[1]).final
    repeated = solvers.solve(recovered, u0, mask=np.tile(mask[1], (3, 1))).final
    assert relative_difference(shared, repeated, np.tile(mask[1], (3, 1))) <= 1e-14


def test_a_solver_is_reusable_and_equals_solve(recovered, u0):
    solver = solvers.Solver(recovered, tokens=5)
    first, second = solver(u0).final, solver(u0[:1]).final
    assert_array_equal(first, solvers.solve(recovered, u0).final)
    assert relative_difference(second, first[:1]) <= 1e-14


def test_solve_runs_inside_jit_and_is_differentiable(recovered, u0, mask):
    def loss(u):
        return jnp.sum(solvers.solve(recovered, u, mask=mask).final * jnp.asarray(mask)[..., None])

    gradient = np.asarray(jax.jit(jax.grad(loss))(jnp.asarray(u0)))
    direction = np.random.default_rng(5).normal(size=u0.shape) * mask[..., None]
    h = 1e-6
    numeric = (loss(u0 + h * direction) - loss(u0 - h * direction)) / (2 * h)
    # central differences: h^2 of truncation and 1e-16 / h of round-off, both about 1e-10
    assert_allclose(np.sum(gradient * direction), numeric, rtol=1e-6, atol=1e-8)
    assert np.all(gradient[~mask] == 0.0)


def flow(steps, horizon=0.5):
    """u_t = Pi (W u + tanh(u)) on S1(1, 0.3): smooth, autonomous, on 3 tokens and 6 features."""
    y, x = interval(1, "Omega_y"), interval(1, "Omega_x")
    kernel = AnalyticKernel(lambda xi, z, t: jnp.cos(3 * xi - z + t), y, y)
    terms = {
        "linear": LinearIntegral(kernel),
        "pointwise": Pointwise("tanh", y),
        "s1": Projection(MomentSet(1.0, 0.3), y),
    }
    structure = Sequence(
        (
            Sequence((Flow(("linear",)), Apply("s1"))),
            Sequence((Flow(("pointwise",)), Apply("s1"))),
        )
    )
    grid = Grid(UniformGrid(x, (3,)), UniformGrid(y, (6,)))
    return discretize(Equation("flow", terms, structure, y, horizon, x), grid, num_steps=steps)


def test_num_steps_overrides_the_problem(recovered, u0):
    assert solvers.solve(recovered.problem, u0, num_steps=12).num_steps == 12
    halved = discretize(recovered.problem.equation, recovered.problem.grid, num_steps=12)
    assert_array_equal(
        solvers.solve(halved, u0).final, solvers.solve(recovered.problem, u0, num_steps=12).final
    )


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"u0": np.zeros((5, 9))}, ValueError, r"expected shape \(tokens, 8\).*got \(5, 9\)"),
        ({"u0": np.zeros(8)}, ValueError, r"expected shape \(tokens, features\) or .*got \(8,\)"),
        ({"u0": np.zeros((1, 1, 5, 8))}, ValueError, r"expected shape .* got \(1, 1, 5, 8\)"),
        ({"u0": np.zeros((0, 5, 8))}, ValueError, r"at least one sample"),
        ({"u0": np.zeros((5, 8), np.float32)}, TypeError, r"expected dtype float64.*got float32"),
        ({"u0": np.zeros((5, 8), int)}, TypeError, r"expected dtype float64.*got int64"),
        ({"u0": np.full((5, 8), np.nan)}, ValueError, r"found NaN or infinity at \(0, 0\)"),
        ({"mask": np.zeros((3, 5), bool)}, ValueError, r"every token.*sample 0"),
        (
            {"mask": np.ones((3, 4), bool)},
            ValueError,
            r"shape \(5,\) or \(3, 5\).*\(3, 4\)",
        ),
        ({"mask": np.ones((3, 5), int)}, TypeError, r"expected booleans.*int64.*astype\(bool\)"),
        ({"save_every": 4}, ValueError, r"expected a divisor of num_steps = 6, got 4"),
        ({"save_every": 0}, ValueError, r"expected a whole number >= 1, got 0"),
        ({"num_steps": 0}, ValueError, r"num_steps: expected a whole number >= 1, got 0"),
        ({"scheme": "leapfrog"}, ValueError, r"unknown scheme 'leapfrog'; expected one of lie"),
    ],
)
def test_bad_input_is_refused_with_what_was_expected_and_found(
    recovered, u0, change, error, message
):
    arguments = {"u0": u0, **change}
    with pytest.raises(error, match=message):
        solvers.solve(recovered, arguments.pop("u0"), **arguments)


def test_a_state_on_another_number_of_tokens_than_the_grid_is_refused():
    with pytest.raises(ValueError, match=r"expected a state with 3 tokens.*got 4"):
        solvers.solve(flow(2), np.ones((4, 6)))


def test_torch_tensors_are_states_and_masks_too(recovered, u0, mask):
    expected = solvers.solve(recovered, u0, mask=mask).final
    got = solvers.solve(recovered, torch.from_numpy(u0), mask=torch.from_numpy(mask)).final
    assert_array_equal(got, expected)

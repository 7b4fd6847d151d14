"""The way back: equation -> torch -> equation is exact; other grids and steps export too."""

import jax
import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal

import solvers
from continuum import (
    Affine,
    AnalyticKernel,
    CellField,
    Equation,
    Flow,
    IntegralAttention,
    LinearIntegral,
    MomentSet,
    NonnegativeCone,
    Pointwise,
    Projection,
    paper_equation,
    residual_flow,
)
from continuum.domains import interval
from discretize import Grid, UniformGrid, discretize
from discretize.encoders import recover, to_torch, torch_state_dict
from experiments.reference import random_encoder
from tests.helpers import relative_difference
from tests.references.translate import to_torch as reference_to_torch

CASES = [
    pytest.param(norm, equation, bias, id=f"{norm}-{equation}-{'bias' if bias else 'no bias'}")
    for norm in ("post", "pre")
    for equation in ("split", "residual")
    for bias in (True, False)
]


def _encoder(norm, bias, **options):
    parameters = random_encoder(
        5, 3, 12, 3, 20, norm, "gelu", bias=bias, final_norm=True, **options
    )
    return reference_to_torch(parameters, bias=bias)


@pytest.mark.parametrize(("norm", "equation", "bias"), CASES)
def test_torch_to_equation_to_torch_returns_every_bit(norm, equation, bias):
    encoder = _encoder(norm, bias)
    returned = torch_state_dict(recover(encoder, equation=equation))
    expected = encoder.state_dict()
    assert returned.keys() == expected.keys()
    for name, tensor in expected.items():
        assert_array_equal(returned[name].numpy(), tensor.numpy(), err_msg=name)


@pytest.mark.parametrize(("norm", "equation", "bias"), CASES)
def test_equation_to_torch_to_equation_returns_every_bit(norm, equation, bias):
    first = recover(_encoder(norm, bias), equation=equation)
    again = recover(to_torch(first), equation=equation)
    solved = [solvers.solve(r, _state(12)).final for r in (first, again)]
    assert_array_equal(solved[0], solved[1])
    a, b = (jax.tree.leaves(r.problem.equation) for r in (first, again))
    assert len(a) == len(b)
    for one, other in zip(a, b, strict=True):
        assert_array_equal(one, other)


def test_the_exported_module_computes_what_the_equation_computes():
    recovered = recover(_encoder("post", True))
    u0 = _state(12)
    with torch.no_grad():
        expected = to_torch(recovered)(torch.from_numpy(u0)).numpy()
    # 3 layers of sums of at most 20 terms: a few hundred units of round-off at most
    assert relative_difference(solvers.solve(recovered, u0).final, expected) <= 1e-13


@pytest.mark.parametrize("steps", [2, 5])
def test_an_analytic_equation_on_a_fine_grid_and_a_small_step_exports(steps):
    problem = _analytic_problem(steps)
    u0 = np.random.default_rng(2).normal(size=(6, problem.grid.features.size))
    encoder = to_torch(problem)
    assert encoder.num_layers == steps
    with torch.no_grad():
        expected = encoder(torch.from_numpy(u0)).numpy()
    # the folded weights round differently from the factors they are made of
    assert relative_difference(solvers.solve(problem, u0).final, expected) <= 1e-13


def test_the_flow_of_an_affine_norm_is_an_encoder_at_unit_steps_only():
    recovered = recover(_encoder("post", True), equation="residual")
    halved = discretize(recovered.problem.equation, recovered.problem.grid, num_steps=6)
    with pytest.raises(ValueError, match=r"at dt = 1 only, got dt = 0\.5"):
        to_torch(halved)


def test_what_is_no_transformer_layer_is_refused():
    problem = recover(_encoder("pre", True), equation="residual").problem
    terms = dict(problem.equation.terms)
    unsplit = Equation(
        "unsplit", terms, Flow(("attention", "feedforward")), problem.equation.features, 3.0
    )
    with pytest.raises(ValueError, match=r"not a Transformer layer.*Flow\("):
        to_torch(discretize(unsplit, problem.grid))
    post = recover(_encoder("post", True)).problem
    terms = dict(post.equation.terms)
    square = LinearIntegral(
        AnalyticKernel(lambda xi, y, t: xi * y, post.equation.features, post.equation.features)
    )
    three = paper_equation(
        terms["attention"],
        (square, square, square),
        (Pointwise("gelu", post.equation.features),) * 2,
        terms["norm_attention"],
        terms["norm_output"],
        horizon=3.0,
    )
    with pytest.raises(ValueError, match=r"J = 2.*dense_3"):
        to_torch(discretize(three, post.grid))


def test_a_drift_that_is_not_the_norms_is_refused():
    problem = recover(_encoder("post", True), equation="residual").problem
    terms = dict(problem.equation.terms)
    drift, inner = terms["attention"].terms
    terms["attention"] = Affine(drift.gamma, drift.gamma, -1.0) + inner
    changed = residual_flow(*terms.values(), horizon=3.0, observed=problem.equation.observed)
    with pytest.raises(ValueError, match="with one gamma and beta"):
        to_torch(discretize(changed, problem.grid))


def _state(features):
    return np.random.default_rng(1).normal(size=(2, 5, features))


def _analytic_problem(steps):
    """A hand-written equation with smooth kernels, |Omega_y| = 2 and 10 cells in y."""
    y, v = interval(2.0, "Omega_y"), interval(3.0, "Omega_v")
    heads = interval(2.0, "Omega_h") * interval(1.0, "Omega_eta")

    def linear(function, source, target, identity=0.0):
        bias = None
        if target.dimension == 1:
            bias = CellField(np.linspace(0.1, 0.3, 2)[:, None] * np.ones((2, 1)), target, (1,))
        return LinearIntegral(AnalyticKernel(function, source, target), bias, identity)

    def into_heads(xi, eta, t):
        return jax.numpy.cos(xi * (1 + eta[..., 0]) + 2 * eta[..., 1] + t)

    attention = IntegralAttention(
        linear(into_heads, y, heads),
        linear(lambda xi, eta, t: into_heads(xi, eta, 1 - t), y, heads),
        linear(lambda xi, eta, t: into_heads(2 * xi, eta, t), y, heads),
        linear(lambda xi, z, t: jax.numpy.sin(xi[..., 1] + z) * (1 + xi[..., 0]), heads, y),
        scale=0.7,
    )
    dense = (
        linear(lambda xi, z, t: jax.numpy.cos(xi * z + t), y, v),
        linear(lambda xi, z, t: jax.numpy.sin(xi - z), v, y),
    )
    norm = Projection(MomentSet(0.2, 0.5), y)
    cone = Projection(NonnegativeCone(), v)
    equation = paper_equation(
        attention, dense, (cone,), norm, norm, horizon=1.0, tokens=interval(3, "Omega_x")
    )
    grid = Grid(UniformGrid(equation.tokens, (6,)), UniformGrid(y, (10,)))
    return discretize(equation, grid, num_steps=steps)

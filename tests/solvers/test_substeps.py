"""Each substep alone, against its definition in plain NumPy."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from continuum import (
    AnalyticField,
    AnalyticKernel,
    Apply,
    Average,
    Equation,
    Flow,
    LinearIntegral,
    MomentSet,
    Normalisation,
    Projection,
    Sequence,
    interval,
)
from discretize import Grid, UniformGrid, discretize
from discretize.encoders import recover
from discretize.operators import TokenMeasure
from discretize.sampling import At, Table
from experiments.reference import random_encoder
from solvers import substeps_of
from solvers.substeps import LinearEuler, Normalise, recorded_names
from solvers.substeps.base import ignore
from tests.references.translate import to_torch

Y, V, X = interval(2, "Omega_y"), interval(3, "Omega_v"), interval(1, "Omega_x")
GRID = Grid(UniformGrid(X, (3,)), UniformGrid(Y, (8,)))
#: float64 sums of at most 12 terms of size 1
ROUND_OFF = 1e-14


def linear(source, target, identity=0.0):
    kernel = AnalyticKernel(lambda xi, y, t: jnp.cos(xi * y + t), source, target)
    return LinearIntegral(kernel, AnalyticField(lambda y, t: y - t, target), identity)


def equation_of(structure, **terms):
    return Equation("test", terms, structure, Y, 1.0, X)


def run(substep, u, dt, times=(0.25,)):
    """One substep at the first of ``times``."""
    tables = substep.prepare(At(np.asarray(times), GRID.tokens), dt)
    return np.asarray(substep.advance(at_first(tables), jnp.asarray(u), TokenMeasure(), ignore))


def at_first(tables):
    if isinstance(tables, Table):
        return tables.values[0]
    return {name: at_first(value) for name, value in tables.items()}


def state(size=8):
    return np.random.default_rng(3).normal(size=(3, size))


@pytest.mark.parametrize("dt", [1.0, 0.3, -0.5])
@pytest.mark.parametrize("identity", [0.0, -1.0])
def test_linear_euler_between_domains_is_its_definition(dt, identity):
    operator = linear(Y, V, identity)
    problem = discretize(
        equation_of(Sequence((Flow(("w",)), Flow(("back",)))), w=operator, back=linear(V, Y)), GRID
    )
    substep = substeps_of(problem)[0]
    assert isinstance(substep, LinearEuler)
    u, got = state(), None
    got = run(substep, u, dt)
    xi, y = np.arange(8) * 0.25 + 0.125, np.arange(12) * 0.25 + 0.125
    extended = np.concatenate([u, np.zeros((3, 4))], axis=1)
    integral = u @ (0.25 * np.cos(np.outer(xi, y) + 0.25))
    expected = extended + dt * (integral + identity * extended + (y - 0.25))
    assert_allclose(got, expected, rtol=0, atol=ROUND_OFF * 10)


def test_a_dense_layer_is_recovered_without_rounding():
    """(1 + dt c) E vanishes at dt = 1, c = -1: the matrix is the sampled kernel itself."""
    operator = linear(Y, Y, -1.0)
    problem = discretize(equation_of(Flow(("w",)), w=operator), GRID)
    tables = substeps_of(problem)[0].prepare(At(np.array([0.25]), GRID.tokens), 1.0)
    kernel = problem.terms["w"].coefficients(At(np.array([0.25]), GRID.tokens))["matrix"]
    assert_array_equal(tables["matrix"].values, kernel.values)


@pytest.mark.parametrize("rate", [1.0, 2.0])
def test_relaxation_averages_and_runs_its_branch_at_its_rate(rate):
    operator = linear(Y, Y)
    structure = Sequence((Average(Flow(("w",)), omega=0.25, rate=rate),))
    problem = discretize(equation_of(structure, w=operator), GRID)
    u = state()
    got = run(substeps_of(problem)[0], u, 0.5)
    branch = run(
        substeps_of(discretize(equation_of(Flow(("w",)), w=operator), GRID))[0], u, 0.5 * rate
    )
    assert_allclose(got, 0.75 * u + 0.25 * branch, rtol=0, atol=ROUND_OFF)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_a_normalisation_after_a_relaxation_takes_eps_times_its_scale_squared(scale):
    eps = 0.1
    structure = Sequence((Average(Flow(("w",)), scale=scale), Apply("n")))
    problem = discretize(equation_of(structure, w=linear(Y, Y), n=Normalisation(Y, eps=eps)), GRID)
    substep = substeps_of(problem)[1]
    assert isinstance(substep, Normalise)
    u = state()
    centred = u - u.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    expected = centred / np.sqrt(variance + eps * scale**2)
    assert_allclose(run(substep, u, 1.0), expected, rtol=0, atol=ROUND_OFF)


def test_the_scale_reaches_only_the_map_right_after_the_relaxation():
    structure = Sequence((Apply("n"), Average(Flow(("w",)), scale=0.5), Apply("n"), Apply("n")))
    terms = {"w": linear(Y, Y), "n": Normalisation(Y, eps=0.1)}
    substeps = substeps_of(discretize(equation_of(structure, **terms), GRID))
    assert [s.scale for s in substeps if isinstance(s, Normalise)] == [1.0, 0.5, 1.0]


@pytest.mark.parametrize("inside", [True, False])
def test_the_scale_passes_through_nested_sequences(inside):
    average = Average(Flow(("w",)), scale=0.5)
    if inside:
        structure = Sequence((average, Sequence((Apply("n"), Apply("n")))))
    else:
        structure = Sequence((Sequence((Apply("n"), average)), Apply("n")))
    terms = {"w": linear(Y, Y), "n": Normalisation(Y, eps=0.1)}
    found = []
    for substep in substeps_of(discretize(equation_of(structure, **terms), GRID)):
        found += [s.scale for s in getattr(substep, "children", [substep]) if type(s) is Normalise]
    assert found == ([0.5, 1.0] if inside else [1.0, 0.5])


def test_several_terms_in_one_flow_are_added_at_the_same_point():
    terms = {"a": linear(Y, Y), "b": linear(Y, Y, 0.5)}
    together = substeps_of(discretize(equation_of(Flow(("a", "b")), **terms), GRID))[0]
    u, dt = state(), 0.3
    increments = [
        run(substeps_of(discretize(equation_of(Flow((n,)), **{n: terms[n]}), GRID))[0], u, dt) - u
        for n in ("a", "b")
    ]
    assert_allclose(run(together, u, dt), u + sum(increments), rtol=0, atol=10 * ROUND_OFF)


def test_a_projection_substep_does_not_depend_on_dt():
    problem = discretize(equation_of(Apply("p"), p=Projection(MomentSet(0.5, 2.0), Y)), GRID)
    substep, u = substeps_of(problem)[0], state()
    got = run(substep, u, 0.1)
    assert_array_equal(got, run(substep, u, 7.0))
    assert_allclose(got.mean(axis=-1), 0.5, atol=ROUND_OFF)
    assert_allclose(got.std(axis=-1), 2.0, atol=ROUND_OFF)


@pytest.mark.parametrize("layers", [1, 3])
def test_the_paper_scheme_has_four_plus_j_substeps(layers):
    recovered = recover(to_torch(random_encoder(0, layers, 8, 2, 12)))
    names = [name for s in substeps_of(recovered.problem) for name in recorded_names(s)]
    # M = 4 + J with J = 2 dense layers, whatever the number of time steps
    assert names == [
        "attention",
        "norm_attention",
        "dense_1",
        "dense_2",
        "relaxation",
        "norm_output",
    ]

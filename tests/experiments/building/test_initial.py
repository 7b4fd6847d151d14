"""Initial states are functions of x and y, sampled on any grid."""

import numpy as np
import pytest
from numpy.polynomial import legendre

from discretize import Grid, UniformGrid
from experiments.building import build
from tests.experiments.building.configs import built_config

X, Y = (np.arange(3) + 0.5) / 3, (np.arange(4) + 0.5) / 2
S1 = {"form": "flow", "horizon": 1.0, "dense": [{"kernel": "1"}],
      "moments": {"mean": 0.5, "deviation": 2.0}}  # fmt: skip


def u0(tmp_path, **tables):
    return np.asarray(build(built_config(tmp_path, **tables)).u0)


def test_expressions(tmp_path):
    found = u0(tmp_path, initial={"expression": "sin(x)*y + 2"})
    np.testing.assert_allclose(found, np.sin(X)[:, None] * Y + 2, rtol=0, atol=1e-15)


def test_the_projection_uses_the_weights_of_the_rule(tmp_path):
    found = u0(tmp_path, equation=S1, grid={"tokens": 3, "features": 4, "rule": {
        "features": "trapezoid"}})  # fmt: skip
    w = np.array([0.5, 1, 1, 1, 0.5]) / 4
    np.testing.assert_allclose(found @ w, 0.5, rtol=0, atol=1e-14)
    np.testing.assert_allclose((found - 0.5) ** 2 @ w, 4.0, rtol=0, atol=1e-13)
    plain = u0(tmp_path, equation=S1, initial={"expression": "x + y", "project": False})
    np.testing.assert_allclose(plain, X[:, None] + Y, rtol=0, atol=1e-15)


def test_given_coefficients(tmp_path):
    table = np.random.default_rng(0).normal(size=(2, 3))
    found = u0(tmp_path, initial={"basis": "legendre", "coefficients": table.tolist()})
    scaled = table * np.sqrt(2 * np.arange(2) + 1)[:, None] * np.sqrt(2 * np.arange(3) + 1)
    expected = legendre.leggrid2d(2 * X - 1, Y - 1, scaled)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


def test_random_coefficients(tmp_path):
    initial = {
        "basis": "legendre",
        "size": 3,
        "token_size": 2,
        "decay": 1.0,
        "scale": 0.5,
        "seed": 7,
    }
    table = 0.5 * np.random.default_rng([5, 7]).standard_normal((1, 2, 3))[0]
    table = table / np.array([1, 2])[:, None] / np.array([1, 2, 3])
    given = {"basis": "legendre", "coefficients": table.tolist()}
    found, expected = u0(tmp_path, initial=initial), u0(tmp_path, initial=given)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("kind", ["cells", "embeddings"])
def test_files(tmp_path, kind):
    table = np.random.default_rng(1).normal(size=(3, 2))
    np.save(tmp_path / "u.npy", table)
    found = u0(tmp_path, initial={kind: "u.npy"})
    np.testing.assert_array_equal(found, np.repeat(table, 2, axis=1))


def test_cells_in_two_dimensions(tmp_path):
    table = np.random.default_rng(1).normal(size=(2, 1, 4))
    np.save(tmp_path / "u.npy", table)
    domains = {"tokens": [[0.0, 1.0], [0.0, 2.0]], "features": [0.0, 2.0]}
    grid = {"tokens": [2, 3], "features": 4}
    found = u0(tmp_path, initial={"cells": "u.npy"}, domains=domains, grid=grid)
    np.testing.assert_array_equal(found, np.repeat(table[:, 0], 3, axis=0))


@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_random_cells_stay_the_same_function_on_every_grid(tmp_path, kind):
    initial = {"random": kind, "seed": 3, "mean": 1.0, "scale": 0.25}
    experiment = build(built_config(tmp_path, initial=initial))
    rng = np.random.default_rng([5, 3])
    draw = rng.standard_normal((3, 4)) if kind == "normal" else rng.uniform(-1, 1, (3, 4))
    np.testing.assert_allclose(experiment.u0, 1 + 0.25 * draw, rtol=0, atol=1e-15)
    grid = experiment.grid
    fine = Grid(UniformGrid(grid.tokens.domain, (6,)), UniformGrid(grid.features.domain, (4,)))
    np.testing.assert_array_equal(experiment.initial(fine), np.repeat(experiment.u0, 2, axis=0))
    config = experiment.config.with_overrides({"grid.tokens": 6})
    np.testing.assert_array_equal(build(config).u0, experiment.initial(fine))


def test_a_problem_in_another_precision_than_jax_is_refused(tmp_path):
    with pytest.raises(ValueError, match="problem in float32, but jax computes in float64"):
        build(built_config(tmp_path), dtype="float32")

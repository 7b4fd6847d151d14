"""Observables are weighted means; jumps are where kernels are not smooth in t."""

import numpy as np

from continuum import interval
from discretize import UniformGrid
from experiments.building import build
from experiments.building.observables import build_observables
from tests.experiments.building.configs import built_config


def test_the_mean_over_both_domains(tmp_path):
    config = built_config(
        tmp_path,
        observables={"moment": "u**2*x + y*t", "one": "1"},
        grid={"tokens": 3, "features": 4, "rule": {"tokens": "trapezoid", "features": "simpson"}},
    )
    experiment = build(config)
    x, y = np.arange(4) / 3, np.arange(5) / 2
    u = np.random.default_rng(0).normal(size=(4, 5))
    wx, wy = np.array([0.5, 1, 1, 0.5]) / 3, np.array([1, 4, 2, 4, 1]) / 12
    expected = wx @ (u**2 * x[:, None] + y * 0.7) @ wy
    found = experiment.observables["moment"](u, 0.7)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    # a rounding or two
    np.testing.assert_allclose(experiment.observables["one"](u, 0.7), 1.0, rtol=1e-15)


def test_two_token_coordinates_and_padding(tmp_path):
    domains = {"tokens": [[0.0, 1.0], [0.0, 1.0]], "features": [0.0, 2.0]}
    config = built_config(
        tmp_path, observables={"m": "x1*u + x2"}, domains=domains,
        initial={"expression": "x1"}, grid={"tokens": [2, 1], "features": 2},
    )  # fmt: skip
    u = np.array([[1.0, 3.0], [5.0, 7.0]])
    found = build(config).observables["m"](u, 0.0)
    np.testing.assert_allclose(found, (0.25 * 2 + 0.75 * 6) / 2 + 0.5, rtol=1e-15)
    line = built_config(tmp_path, observables={"m": "u + x"})
    grids = UniformGrid(interval(2, "Omega_x"), (2,)), UniformGrid(interval(1, "Omega_y"), (2,))
    mask = np.array([[True, True], [True, False]])
    masked = build_observables(line, *grids, mask)["m"]
    np.testing.assert_allclose(masked(np.stack([u, u]), 0.0), [4 + 1.0, 2 + 0.5], rtol=1e-15)


def test_jumps(tmp_path):
    layers = {"layers": ["xi", "y", "1"]}
    smooth = {"kernel": {"basis": "fourier", "size": 2}, "bias": "sin(t)"}
    equation = {"form": "flow", "horizon": 1.5, "dense": [smooth]}
    assert build(built_config(tmp_path, equation=equation)).jumps == ()
    varying = {"basis": "fourier", "size": 2, "depth": 2, "in_time": "linear"}
    equation["dense"] = [{"kernel": layers, "bias": varying}]
    assert build(built_config(tmp_path, equation=equation)).jumps == (0.5, 0.75, 1.0)

"""Exact solutions that a config names are solutions of the equation that it builds."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate

import solvers
from continuum import MomentSet
from experiments.building import build, on_grid, solution_of
from experiments.building.manufactured import manufactured_equation
from experiments.building.setting import Setting
from experiments.config.studies import ClosedFormReference, ManufacturedReference
from tests.experiments.building.configs import built_config

DOMAINS = {"tokens": [[0.0, 1.0]], "features": [0.0, 1.0], "heads": 2.0}
MEAN_FIELD = {
    "form": "flow",
    "horizon": 1.0,
    "attention": {
        "query": {"kernel": "0"},
        "key": {"kernel": "xi*eta"},
        "value": {"kernel": {"separable": [["1 + xi", "exp(-eta)*zeta"]]}},
        "output": {"kernel": "cos(eta - y)/(1 + zeta)"},
    },
}
SPHERE = {
    "form": "flow",
    "horizon": 1.0,
    "moments": {"mean": 0.0, "deviation": 2.0},
    "dense": [{"kernel": {"separable": [["xi", "sin(2*pi*y)"], ["exp(xi)", "cos(2*pi*y)"]]}}],
}
REFLECTION = {
    "form": "flow",
    "horizon": 1.0,
    "nonnegative": True,
    "source": {"expression": "-3*cos(4*t)*(1 + y)"},
}
#: A step so short that a Lie step is the tangential right-hand side, but for 1e-6.
SHORT = 1e-6


def right_side(config, n, state, **manufactured):
    """u_t on n cells along every coordinate, from one step of the program at t = 0."""
    cells = {"grid.tokens": n, "grid.features": n, "grid.heads": n}
    experiment = build(
        config.with_overrides(cells | {"equation.horizon": SHORT, "time.steps": 1}), **manufactured
    )
    u = state(experiment)
    final = solvers.solve(experiment.problem, u, num_steps=1, scheme="lie").final
    return (np.asarray(final) - u) / SHORT, experiment.grid


def agrees_to_second_order(pair):
    """Whether the errors on 16 and 32 cells are those of midpoints."""
    errors = [pair(n) for n in (16, 32)]
    # the next term of the error still shows
    assert abs(np.log2(errors[0] / errors[1]) - 2) <= 0.15
    assert errors[-1] < 0.02


@pytest.mark.parametrize(("name", "equation"), [("mean-field", MEAN_FIELD), ("sphere", SPHERE)])
def test_closed_forms_solve_the_equation_that_is_built(tmp_path, name, equation):
    config = built_config(
        tmp_path, domains=DOMAINS, equation=equation, initial={"expression": "1 + sin(x) + y**2"}
    )
    solution = solution_of(config, ClosedFormReference(kind="closed-form", name=name))

    def state(experiment):
        """The solution, on the sphere of the grid where there is one."""
        u = on_grid(solution, experiment.grid, 0.4)
        if name == "mean-field":
            return u
        return np.asarray(
            MomentSet(0.0, 2.0).project(jnp.asarray(u), experiment.grid.features.mean)
        )

    def error(n):
        found, grid = right_side(config, n, state)
        # the kernels are constant in t, so t = 0.4 is as good as t = 0
        after, before = (on_grid(solution, grid, 0.4 + dt) for dt in (1e-4, -1e-4))
        return np.abs(found - (after - before) / 2e-4).max()

    agrees_to_second_order(error)
    grid = build(config).grid
    start = on_grid(solution, grid, 0.0)
    if name == "mean-field":
        np.testing.assert_allclose(start, build(config).u0, rtol=0, atol=1e-14)
    else:
        y, w = np.polynomial.legendre.leggauss(20)
        x = np.array([[0.3]])
        u0 = 1 + np.sin(x) + (0.5 + 0.5 * y) ** 2
        centred = u0 - u0 @ w / 2
        expected = 2 * centred / np.sqrt(centred**2 @ w / 2)
        found = solution(x, 0.5 + 0.5 * y[None], 0.0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_the_reflection_is_approached(tmp_path):
    config = built_config(
        tmp_path, domains=DOMAINS, equation=REFLECTION, initial={"expression": "1 + sin(x) + y**2"}
    )
    experiment = build(config)
    reference = ClosedFormReference(kind="closed-form", name="reflection")
    exact = on_grid(solution_of(config, reference), experiment.grid, 1.0)
    errors = []
    for steps in (100, 200):
        found = solvers.solve(experiment.problem, experiment.u0, num_steps=steps).final
        errors.append(np.sqrt(np.mean((np.asarray(found) - exact) ** 2)))
    assert abs(np.log2(errors[0] / errors[1]) - 1) <= 0.1  # order 1 in L2
    assert np.asarray(found).min() >= 0.0 and np.abs(exact - experiment.u0).max() > 0.5


MANUFACTURED = {
    "form": "flow",
    "horizon": 0.5,
    "attention": {
        "query": {"kernel": "cos(xi - eta) + zeta", "bias": "0.1*eta"},
        "key": {"kernel": "sin(xi + 2*eta)*(1 + t)"},
        "value": {"kernel": "xi*eta - zeta"},
        "output": {"kernel": "cos(y*eta)/(1 + zeta)", "bias": "y"},
    },
    "dense": [{"kernel": "xi*y + t", "bias": "sin(y)", "identity": -0.5}],
    "source": {"expression": "x*t"},
}
SOLUTION = "sin(x + 2*y)*exp(-t) + y"


def _u(x, y, t):
    return np.sin(x + 2 * y) * np.exp(-t) + y


def _integrate(function, upper=1.0):
    return scipy.integrate.quad(function, 0.0, upper, epsabs=1e-11, epsrel=1e-11)[0]


def _attention(x, y, t):
    """A(u*)(x, y) by nested adaptive quadrature."""

    def q(zeta, eta):
        return _integrate(lambda xi: (np.cos(xi - eta) + zeta) * _u(x, xi, t)) + 0.1 * eta

    def moment(f, other):
        return _integrate(lambda xi: f(xi) * _u(other, xi, t))

    def head(zeta):
        # sin(xi + 2 eta) = cos(xi) sin(2 eta) + sin(xi) cos(2 eta): two moments make the score
        sine = _integrate(lambda eta: q(zeta, eta) * np.sin(2 * eta))
        cosine = _integrate(lambda eta: q(zeta, eta) * np.cos(2 * eta))

        def weight(other):
            score = sine * moment(np.cos, other) + cosine * moment(np.sin, other)
            return np.exp((1 + t) * score)

        total = _integrate(weight)
        first = _integrate(lambda other: weight(other) * moment(lambda xi: xi, other)) / total
        plain = _integrate(lambda other: weight(other) * moment(np.ones_like, other)) / total
        mixed = _integrate(lambda eta: np.cos(y * eta) * (first * eta - zeta * plain))
        return mixed / (1 + zeta)

    # smooth in zeta: ten Gauss nodes on [0, 2] are exact to 1e-11
    nodes, weights = np.polynomial.legendre.leggauss(10)
    return sum(w * head(z) for w, z in zip(weights, nodes + 1.0, strict=True)) + y


def test_the_source_of_a_manufactured_solution(tmp_path):
    """Compared with adaptive quadrature at one point off every grid."""
    config = built_config(
        tmp_path, domains=DOMAINS, equation=MANUFACTURED, initial={"expression": "0"}
    )
    equation = manufactured_equation(SOLUTION, Setting(config, np.dtype(np.float64)))
    x, y, t = 0.3, 0.8, 0.2
    source = equation.terms["manufactured"].function
    found = source(jnp.array([[x]]), jnp.array([[y]]), t)[0, 0]
    dense = _integrate(lambda xi: (xi * y + t) * _u(x, xi, t)) + np.sin(y) - 0.5 * _u(x, y, t)
    speed = -np.sin(x + 2 * y) * np.exp(-t)
    expected = speed - _attention(x, y, t) - dense - x * t
    assert abs(float(found) - expected) <= 1e-9 * abs(expected)


def test_a_manufactured_solution_on_a_sphere_solves_the_equation(tmp_path):
    solution = "1 + sqrt(0.5)*sin(2*pi*y + x + t)"
    moments = {"mean": 1.0, "deviation": 0.5}
    config = built_config(tmp_path, domains=DOMAINS, equation=MANUFACTURED | {"moments": moments})
    exact = solution_of(config, ManufacturedReference(kind="manufactured", solution=solution))

    def error(n):
        found, grid = right_side(config, n, lambda e: np.asarray(e.u0), manufactured=solution)
        x, y = grid.tokens.nodes[:, None], grid.features.nodes
        return np.abs(found - np.sqrt(0.5) * np.cos(2 * np.pi * y + x)).max()

    agrees_to_second_order(error)
    experiment = build(config, manufactured=solution)
    start = on_grid(exact, experiment.grid, 0.0)
    np.testing.assert_allclose(experiment.u0, start, rtol=0, atol=1e-15)


def test_two_token_coordinates(tmp_path):
    """No attention to x: the source is that of the mean over the unit square."""
    attention = MEAN_FIELD["attention"] | {"value": {"kernel": "1"}, "output": {"kernel": "1"}}
    config = built_config(
        tmp_path,
        domains={"tokens": [[0.0, 1.0], [0.0, 1.0]], "features": [0.0, 1.0]},
        equation=MEAN_FIELD | {"attention": attention},
        initial={"expression": "x1"},
        grid={"tokens": [2, 2], "features": 2},
    )
    experiment = build(config, manufactured="x1*x2 + y**2 + t")
    source = experiment.equation.terms["manufactured"].function
    x = np.array([[[0.1, 0.9]], [[0.5, 0.2]]])
    found = source(x, np.array([[0.3, 0.6, 0.9]]), 2.0)
    # the mean of u over x and y is 1/4 + 1/3 + t
    np.testing.assert_allclose(found, np.full((2, 3), 1 - (1 / 4 + 1 / 3 + 2.0)), rtol=1e-13)
    nodes = np.array([0.25, 0.25, 0.75, 0.75]) * np.array([0.25, 0.75, 0.25, 0.75])
    np.testing.assert_allclose(experiment.u0, nodes[:, None] + np.array([0.25, 0.75]) ** 2)


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        ({"dense": [{"kernel": {"identity": 1.0, "cells": 4}}]}, "needs smooth kernels"),
        (
            {"nonnegative": True, "dense": [{"kernel": "1"}]},
            "must be nonnegative",
        ),
        (
            {"attention": MANUFACTURED["attention"] | {"causal": {"diagonal": 1.0}}},
            "causal attention is not covered",
        ),
    ],
)
def test_what_cannot_be_manufactured(tmp_path, equation, message):
    config = built_config(tmp_path, equation={"form": "flow", "horizon": 1.0, **equation})
    with pytest.raises(ValueError, match=message):
        build(config, manufactured="cos(pi*(x + t)) + 0*y")

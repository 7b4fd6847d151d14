"""A step of every form is the step that plain numpy takes."""

import numpy as np
import pytest
from scipy.special import erf

import solvers
from experiments.building import build
from tests.experiments.building.configs import built_config

STEPS, HORIZON = 2, 1.5
DT = HORIZON / STEPS
HEADS = 2.0
X, Y = (np.arange(3) + 0.5) / 3, (np.arange(4) + 0.5) / 2  # [0, 1] and [0, 2]
V = (np.arange(6) + 0.5) / 2  # the hidden domain [0, 3] at the spacing of y
H = 0.5

ATTENTION = {
    "query": {"kernel": "cos(xi - eta) + zeta", "bias": "0.1*eta"},
    "key": {"kernel": "sin(xi + 2*eta)*(1 + t)"},
    "value": {"kernel": "xi*eta - zeta", "bias": "zeta"},
    "output": {"kernel": "cos(y*eta)/(1 + zeta)", "bias": "y"},
}
DENSE = [{"kernel": "xi - y + t", "bias": "y"}, {"kernel": "cos(xi*y)/4", "identity": 0.5}]
DOMAINS = {"tokens": [[0.0, 1.0]], "features": [0.0, 2.0], "hidden": [0.0, 3.0], "heads": HEADS}
MOMENTS = {"mean": 1.0, "deviation": 0.5}


def attention(u, t, causal=None, scale=None):
    """A(u) with two heads: cells of length 1 in zeta, eta on the nodes of y, weights 1/3 in x."""
    total = np.zeros_like(u)
    weights = np.full((3, 3), 1 / 3)
    if causal is not None:
        weights = np.tril(weights, -1) + np.eye(3) * causal / 3
    for zeta in (0.5, 1.5):
        q = H * u @ (np.cos(Y[:, None] - Y) + zeta) + 0.1 * Y
        k = H * u @ (np.sin(Y[:, None] + 2 * Y) * (1 + t))
        v = H * u @ (Y[:, None] * Y - zeta) + zeta
        scores = (q @ k.T) * H * (2**-0.5 if scale is None else scale)
        gamma = np.exp(scores - scores.max(-1, keepdims=True)) * weights
        gamma = gamma / gamma.sum(-1, keepdims=True)
        total += H * (gamma @ v) @ (np.cos(Y * Y[:, None]) / (1 + zeta))
    return total + Y


def project(u, eps=0.0):
    centred = u - u.mean(-1, keepdims=True)
    return 0.5 * centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) + 1.0


def normal(u, eps):
    centred = u - u.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps)


def gelu(u):
    return u / 2 * (1 + erf(u / np.sqrt(2)))


def relu(u):
    return np.maximum(u, 0.0)


def first(u, t):
    """Omega_y -> the hidden domain."""
    return H * u @ (Y[:, None] - V + t) + V


def second(v):
    """The hidden domain -> Omega_y, with half of the restriction."""
    return H * v @ (np.cos(V[:, None] * Y) / 4) + 0.5 * v[:, :4]


def extended(u):
    return np.concatenate([u, np.zeros((3, 2))], axis=1)


def solved(tmp_path, equation, step, *, project_first, grid=None):
    """The program's final state, and numpy's after the same steps."""
    config = built_config(
        tmp_path,
        domains=DOMAINS,
        equation={"horizon": HORIZON, **equation},
        initial={"expression": "sin(3*x) + y*cos(x) + 1"},
        grid=grid or {"tokens": 3, "features": 4, "heads": 2},
    )
    experiment = build(config)
    u = np.sin(3 * X)[:, None] + Y * np.cos(X)[:, None] + 1
    u = project(u) if project_first else u
    for n in range(STEPS):
        u = step(u, n * DT)
    found = solvers.solve(experiment.problem, experiment.u0, num_steps=STEPS, scheme="lie").final
    return np.asarray(found), u


def agree(pair):
    found, expected = pair
    # some hundred roundings of numbers of this size
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def paper_step(activation, rate, eps, omega=0.5):
    # at rate 1 the relaxed state is omega times the residual sum, and takes eps omega^2
    closing = eps * omega**2 if rate == 1.0 else eps

    def step(u, t):
        u = project(u + DT * attention(u, t), eps)
        v = activation(extended(u) + rate * DT * first(u, t))
        v = v[:, :4] + rate * DT * second(v)
        return project((1 - omega) * u + omega * v, closing)

    return step


@pytest.mark.parametrize(
    ("keys", "step"),
    [
        ({"activation": "relu", "eps": 1e-2}, paper_step(relu, 1.0, 1e-2)),
        ({"rate": "consistent", "omega": 0.25}, paper_step(gelu, 4.0, 0.0, 0.25)),
        ({"rate": 3, "eps": 1e-2}, paper_step(gelu, 3.0, 1e-2)),
    ],
)
def test_the_paper(tmp_path, keys, step):
    equation = {"form": "paper", "moments": MOMENTS, "attention": ATTENTION, "dense": DENSE, **keys}
    agree(solved(tmp_path, equation, step, project_first=True))


@pytest.mark.parametrize(("name", "activation", "eps"), [("gelu", gelu, 0), ("relu", relu, 0.01)])
def test_the_residual_flow(tmp_path, name, activation, eps):
    def step(u, t):
        u = project(u + DT * attention(u, t, scale=2.0), eps)
        return project(u + DT * second(activation(first(u, t))), eps)

    equation = {
        "form": "residual", "moments": MOMENTS, "attention": ATTENTION | {"scale": 2.0},
        "dense": DENSE, "activation": name, "eps": eps,
    }  # fmt: skip
    agree(solved(tmp_path, equation, step, project_first=True))


def test_the_prenorm_flow(tmp_path):
    def step(u, t):
        u = u + DT * attention(normal(u, 1e-3), t)
        return u + DT * second(np.tanh(first(normal(u, 1e-3), t)))

    equation = {
        "form": "prenorm", "attention": ATTENTION, "dense": DENSE, "activation": "tanh", "eps": 1e-3
    }  # fmt: skip
    agree(solved(tmp_path, equation, step, project_first=False))


@pytest.mark.parametrize(("moments", "nonnegative"), [(True, True), (False, False)])
def test_a_flow_of_every_term_in_turn(tmp_path, moments, nonnegative):
    def constrain(u):
        u = project(u) if moments else u
        return relu(u) if nonnegative else u

    def step(u, t):
        u = constrain(u + DT * attention(u, t, causal=0.5))
        u = constrain(u + DT * (H * u @ (Y[:, None] - Y + t) + Y))
        u = constrain(u + DT * (H * u @ (np.cos(Y[:, None] * Y) / 4) + 0.5 * u))
        return constrain(u + DT * (np.sin(5 * X)[:, None] * Y - 2 * t))

    equation = {
        "form": "flow", "nonnegative": nonnegative, "attention": ATTENTION | {
            "causal": {"diagonal": 0.5}}, "dense": DENSE,
        "source": {"expression": "sin(5*x)*y - 2*t"},
    }  # fmt: skip
    if moments:
        equation["moments"] = MOMENTS
    agree(solved(tmp_path, equation, step, project_first=moments))


def test_two_token_coordinates_and_other_rules(tmp_path):
    """Weights of x reach the softmax, those of y the integrals; points are split in x1 and x2."""
    config = built_config(
        tmp_path,
        domains={"tokens": [[0.0, 1.0], [0.0, 2.0]], "features": [0.0, 2.0]},
        equation={
            "form": "flow",
            "horizon": 1.0,
            "attention": {
                "query": {"kernel": "xi*eta"}, "key": {"kernel": "1 + xi"},
                "value": {"kernel": "cos(xi - eta)"}, "output": {"kernel": "eta + y"},
            },
            "source": {"expression": "x1*x2 - y*t"},
        },
        initial={"expression": "x1 - x2*y"},
        grid={"tokens": [2, 2], "features": 4,
              "rule": {"tokens": ["trapezoid", "left"], "features": "simpson"}},
        time={"steps": 1},
    )  # fmt: skip
    experiment = build(config)
    x1, x2 = np.repeat([0.0, 0.5, 1.0], 2), np.tile([0.0, 1.0], 3)
    wx = np.repeat([0.25, 0.5, 0.25], 2)
    y, w = np.arange(5) / 2, np.array([1, 4, 2, 4, 1]) / 6
    u = x1[:, None] - x2[:, None] * y
    np.testing.assert_allclose(experiment.u0, u, rtol=0, atol=1e-15)
    q, k, v = (
        (u * w) @ table
        for table in (y[:, None] * y, 1 + y[:, None] + 0 * y, np.cos(y[:, None] - y))
    )
    gamma = np.exp((q * w) @ k.T / np.sqrt(2)) * wx
    gamma = gamma / gamma.sum(-1, keepdims=True)
    u = u + (gamma @ v * w) @ (y[:, None] + y)
    u = u + x1[:, None] * x2[:, None] + 0 * y
    found = solvers.solve(experiment.problem, experiment.u0, num_steps=1, scheme="lie").final
    np.testing.assert_allclose(found, u, rtol=0, atol=1e-13 * np.abs(u).max())

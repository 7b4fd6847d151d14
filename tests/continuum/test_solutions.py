"""Closed forms against ODE solvers of scipy on fine quadratures that nobody here wrote."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from continuum import Domain, interval, parse
from continuum.solutions import MeanField, Reflection, SphereFlow

X = Domain((-1.0,), (1.0,), "Omega_x")
PLANE = interval(2.0, "Omega_x") * interval(1.0, "Omega_x")
Y = Domain((0.5,), (2.0,), "Omega_y")

#: scipy's tolerances, and what is left of them after an integration over a unit of time.
EXACT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
CLOSE = {"rtol": 1e-10, "atol": 1e-11}


def gauss(domain, count=40):
    x, w = np.polynomial.legendre.leggauss(count)
    (low,), (extent,) = domain.lower, domain.extents
    return low + extent * (x + 1) / 2, w * extent / 2


def initial(x, y):
    return 1.0 + np.cos(2 * x) * np.exp(-y) + x * y


def integrate(tendency, u0, t):
    flat = solve_ivp(
        lambda s, u: tendency(u.reshape(u0.shape)).ravel(), (0, t), u0.ravel(), **EXACT
    )
    assert flat.success
    return flat.y[:, -1].reshape(u0.shape)


@pytest.mark.parametrize("shift", [0.0, 0.5], ids=["growing", "lam = 0 nearly"])
def test_mean_field_attention(shift):
    """The whole softmax, with scores of zero, against the formula."""

    def left(y):
        return np.cos(2 * np.pi * y / 1.5) + 0.8 - 1.6 * shift

    def right(y):
        return 1.0 + np.sin(2 * np.pi * y / 1.5)

    (x, wx), (y, wy) = gauss(X), gauss(Y)
    u0 = np.asarray(initial(x[:, None], y))
    a, c = np.asarray(left(y)), np.asarray(right(y))

    def attention(u):
        scores = np.zeros((len(x), len(x)))  # W^Q = 0 and b^Q = 0
        gamma = np.exp(scores) / (np.exp(scores) @ wx)[:, None]
        return (gamma * wx) @ ((u @ (wy * a))[:, None] * c)

    solution = MeanField(initial, left, right, X, Y)
    assert abs(solution.rate - (1.2 if shift == 0 else 0.0)) < 1e-14  # <a, c> by hand
    expected = integrate(attention, u0, 0.9)
    np.testing.assert_allclose(solution(x[:, None], y[None, :], 0.9), expected, **CLOSE)
    assert np.max(np.abs(expected - u0)) > 0.05


def test_mean_field_has_no_jump_at_rate_zero():
    """expm1(lam t) / lam for small lam, against mpmath's value of it."""
    import mpmath

    for rate in (1e-3, 1e-9, -1e-14, 0.0):
        solution = MeanField(
            lambda x, y: 1.0 + 0 * (x + y),
            lambda y, rate=rate: rate / 1.5 + 0 * y,
            lambda y: 1 + 0 * y,
            X,
            Y,
        )
        with mpmath.workdps(40):
            grown = mpmath.expm1(2 * mpmath.mpf(solution.rate)) if solution.rate else 0
            expected = 1 + float(grown * solution.start / solution.rate) if solution.rate else 1.0
        np.testing.assert_allclose(solution(0.0, 1.0, 2.0), expected, rtol=1e-15)


def test_mean_field_on_a_plane_of_tokens():
    """p0 takes the mean over both coordinates: (1/2) int_0^2 x1 int_0^1 x2^2 = 1/3."""
    solution = MeanField(
        lambda x, y: x[..., 0] * x[..., 1] ** 2 * (y + 0.0 * y),
        lambda y: 1.0 / y,
        lambda y: 1.0 + 0.0 * y,
        PLANE,
        Y,
    )
    assert solution.start == pytest.approx(1.5 / 3, rel=1e-14)
    assert solution.rate == pytest.approx(np.log(4.0), rel=1e-14)
    points = np.array([[[0.5, 0.2]], [[1.5, 0.9]]])
    found = solution(points, np.array([[0.7, 1.1, 1.9]]), 0.5)
    u0 = np.array([[0.5 * 0.04], [1.5 * 0.81]]) * np.array([[0.7, 1.1, 1.9]])
    np.testing.assert_allclose(found, u0 + 0.5 * (2.0 - 1.0) / np.log(4.0), rtol=1e-14)


K = 2 * np.pi / 1.5
LEFT = (lambda y: np.sin(y) + y**2, lambda y: np.exp(-y))
RIGHT = (lambda y: np.sin(K * y), lambda y: np.cos(K * y) - 0.5 * np.sin(2 * K * y))


def test_linear_flow_on_the_sphere():
    """The tangent-projected ODE at Gauss-Legendre nodes, from the projected initial state."""
    (y, w), x = gauss(Y), np.array([-0.7, 0.1, 0.9])
    mean = w / 1.5
    a, c = (np.stack([np.asarray(f(y)) for f in side]) for side in (LEFT, RIGHT))
    u0 = np.asarray(initial(x[:, None], y))
    u0 = u0 - (u0 @ mean)[:, None]
    u0 *= 0.7 / np.sqrt(u0**2 @ mean)[:, None]

    def tendency(u):
        f = (u @ (w * a).T) @ c
        return f - (f @ mean)[:, None] - u * ((f * u) @ mean)[:, None] / 0.7**2

    solution = SphereFlow(initial, LEFT, RIGHT, X, Y, 0.7)
    found = solution(x[:, None], y[None, :], 1.3)
    np.testing.assert_allclose(found, integrate(tendency, u0, 1.3), **CLOSE)
    np.testing.assert_allclose(solution(x[:, None], y[None, :], 0.0), u0, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(found @ mean, 0.0, atol=1e-14)
    np.testing.assert_allclose(np.sqrt(found**2 @ mean), 0.7, rtol=1e-13)
    assert np.max(np.abs(found - u0)) > 0.1
    # points apart from any grid, as a flat list of pairs
    np.testing.assert_allclose(solution(x, y[:3], 1.3), np.diag(found[:, :3]), atol=1e-14)


def test_the_flow_on_the_sphere_runs_backwards():
    forward = SphereFlow(initial, LEFT, RIGHT, X, Y)
    half = SphereFlow(lambda x, y: forward(x, y, 0.5), LEFT, RIGHT, X, Y)
    x, y = np.array([[0.3]]), np.linspace(0.5, 2.0, 7)[None, :]
    # two integrals of round-off each
    np.testing.assert_allclose(half(x, y, -0.5), forward(x, y, 0.0), rtol=1e-12, atol=1e-13)


def falling_and_rising(x, y, t):
    return np.cos(3 * t + y) * (1.0 + 0.5 * x) - 0.3


def total(x, y, t):
    return (np.sin(3 * t + y) - np.sin(y)) / 3 * (1.0 + 0.5 * x) - 0.3 * t


def by_events(u, rate, end):
    """u_t = rate(t) while u > 0 or rate > 0, else u = 0: scipy finds the times of the changes."""
    t, free = 0.0, True
    while True:
        if free:

            def event(s, v):
                return v[0]

            event.terminal, event.direction = True, -1
            run = solve_ivp(lambda s, v: [rate(s)], (t, end), [u], events=event, **EXACT)
        else:

            def event(s, v):
                return rate(s)

            event.terminal, event.direction = True, 1
            run = solve_ivp(lambda s, v: [0.0], (t, end), [0.0], events=event, max_step=0.02)
        t, u = run.t[-1], run.y[0, -1]
        if run.status == 0:
            return u
        u, free = 0.0, not free


@pytest.mark.parametrize("closed", [True, False], ids=["closed form", "Gauss-Legendre"])
def test_reflection(closed):
    def start(x, y):
        return 0.2 * (1.0 + x) + 0.05 * y

    solution = Reflection(start, falling_and_rising, X, total if closed else None)
    assert solution.integration == ("closed form" if closed else "Gauss-Legendre")
    x, y = np.array([-0.8, 0.0, 0.6]), np.array([0.5, 1.2, 2.0])
    found = solution(x[:, None], y[None, :], 3.1)
    expected = [
        [
            by_events(
                float(start(p, q)), lambda s, p=p, q=q: np.cos(3 * s + q) * (1 + p / 2) - 0.3, 3.1
            )
            for q in y
        ]
        for p in x
    ]
    np.testing.assert_allclose(found, expected, **CLOSE)
    free = start(x[:, None], y) + np.asarray(total(x[:, None], y, 3.1))
    assert np.sum(found > free + 0.1) >= 3  # the obstacle did act
    assert np.min(found) >= 0.0


def test_reflection_without_contact_is_the_integral():
    solution = Reflection(
        lambda x, y: 2.0 + 0 * (x[..., 0] * y), lambda x, y, t: y * t - 0.1, PLANE
    )
    points, y = np.array([[[0.5, 0.2]], [[1.5, 0.9]]]), np.array([[0.7, 1.1, 1.9]])
    expected = np.broadcast_to(2.0 + y * 0.5 - 0.1, (2, 3))
    np.testing.assert_allclose(solution(points, y, 1.0), expected, rtol=1e-14)


def test_formulas_are_functions():
    """What the config gives: parsed expressions."""
    u0, a, c = parse("1 + x*y", ("x", "y")), parse("y", ("y",)), parse("1", ("y",))
    solution = MeanField(u0, a, c, X, Y)
    # lam = int y = 15/8, p0 = int y (mean over x of 1 + x y) = 15/8
    expected = 1.0 + 0.5 * 1.0 + np.expm1(15 / 8 * 0.4)
    np.testing.assert_allclose(solution(0.5, 1.0, 0.4), expected, rtol=1e-14)


REFUSED = {
    "a kink": (
        lambda: MeanField(initial, lambda y: np.abs(y - 1.01), lambda y: y, X, Y).rate,
        "did not converge to round-off .* expected data that are smooth",
    ),
    "tokens without end": (
        lambda: MeanField(initial, np.sin, np.cos, Domain((0.0,), (np.inf,)), Y).start,
        r"expected a bounded domain to integrate over, got Omega = \[0, N\]",
    ),
    "a right factor with a mean": (
        lambda: SphereFlow(initial, LEFT, (np.sin, RIGHT[0]), X, Y),
        "expected right factors of mean zero over y",
    ),
    "other numbers of factors": (
        lambda: SphereFlow(initial, LEFT, RIGHT[:1], X, Y),
        "as many left as right factors and at least one, got 2 and 1",
    ),
    "a state constant in y": (
        lambda: SphereFlow(lambda x, y: 1.0 + x + 0 * y, LEFT, RIGHT, X, Y)(0.5, 1.0, 1.0),
        "expected an initial state that varies with y",
    ),
    "a negative start": (
        lambda: Reflection(lambda x, y: x - y, falling_and_rising, X)(0.0, 1.0, 1.0),
        "expected u0 >= 0, got a minimum of -1",
    ),
    "a negative time": (
        lambda: Reflection(lambda x, y: y, falling_and_rising, X)(0.0, 1.0, -1.0),
        "expected t >= 0",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_closed_form_is_refused(case):
    build, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        build()

"""Fixed-step time stepping against a hand-written scan, and against diffrax's Euler."""

import collections
import functools
import re
import time
from collections.abc import Callable
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import solvers
from benchmarks.timing import Paired, pair
from continuum import (
    CellField,
    CellKernel,
    Equation,
    Flow,
    IntegralAttention,
    LinearIntegral,
    Sequence,
    interval,
)
from discretize import Grid, UniformGrid, discretize
from solvers.solver import Program, _advance, _without_arrays
from tests.helpers import relative_difference

#: Tokens, features and steps of the problem; float64.
SIZES = (64, 64, 512)

#: Two float64 programs of the same arithmetic, over 512 steps.
_FLOAT64 = 1e-10


@functools.cache
def problem():
    """u_t = A(u) + W u + b, unconstrained, on unit cells: attention and a linear term."""
    tokens, features, steps = SIZES
    rng = np.random.default_rng(0)
    y, x = interval(features, "Omega_y"), interval(tokens, "Omega_x")
    heads = interval(1, "Omega_h") * y
    weights = {
        name: rng.normal(size=(features, features)) / features
        for name in ("query", "key", "value", "output", "dense")
    }
    bias = 0.1 * rng.normal(size=features)
    into = [
        LinearIntegral(CellKernel(weights[n][None], y, heads, (features,), (1, features)))
        for n in ("query", "key", "value")
    ]
    out = LinearIntegral(CellKernel(weights["output"][None], heads, y, (1, features), (features,)))
    terms = {
        "attention": IntegralAttention(*into, out),
        "dense": LinearIntegral(CellKernel(weights["dense"][None], y, y), CellField(bias[None], y)),
    }
    structure = Sequence((Flow(("attention",)), Flow(("dense",))))
    grid = Grid(UniformGrid(x, (tokens,)), UniformGrid(y, (features,)))
    found = discretize(Equation("stepping", terms, structure, y, 4.0, x), grid, num_steps=steps)
    arrays = {name: jnp.asarray(w) for name, w in weights.items()} | {"bias": jnp.asarray(bias)}
    return found, arrays, jnp.asarray(rng.normal(size=(tokens, features)))


def attention(w: dict[str, Array], u: Array) -> Array:
    """The attention term, by hand, in the order of operations of the library."""
    query, key, value = (
        jnp.moveaxis((u @ w[name]).reshape(*u.shape[:-1], 1, -1), -2, -3)
        for name in ("query", "key", "value")
    )
    scores = (query @ jnp.swapaxes(key, -1, -2)) / np.sqrt(u.shape[-1])
    shift = jax.lax.stop_gradient(jnp.max(scores, axis=-1, keepdims=True))
    unnormalised = jnp.exp(scores - shift)
    gamma = unnormalised / jnp.sum(unnormalised, axis=-1, keepdims=True)
    mixed = jnp.moveaxis(gamma @ value, -3, -2).reshape(*u.shape)
    return mixed @ w["output"]


def by_hand() -> Callable[[], Array]:
    """Lie splitting as one would write it: E + dt W formed once, a scan over the steps."""
    found, w, u0 = problem()
    steps = found.num_steps
    dt = found.equation.horizon / steps

    @jax.jit
    def run(w: dict[str, Array], step: Array, shift: Array, dt: Array, u: Array) -> Array:
        def one(u: Array, _: None) -> tuple[Array, None]:
            u = u + dt * attention(w, u)
            return u @ step + shift, None

        with jax.default_matmul_precision("highest"):
            return jax.lax.scan(one, u, length=steps)[0]

    effective = jnp.eye(len(w["bias"])) + dt * w["dense"]
    arguments = (w, effective, dt * w["bias"], jnp.asarray(dt), u0)
    return functools.partial(_blocked, run, arguments), run, arguments


def _blocked(run: Any, arguments: tuple) -> Array:
    return run(*arguments).block_until_ready()


def ours(scheme: str) -> Callable[[], Array]:
    found, _, u0 = problem()
    solver = solvers.Solver(found, tokens=SIZES[0], scheme=scheme)
    return lambda: solver(u0).final.block_until_ready()


def scan(rounds: int) -> Paired:
    """Lie splitting: ours against the hand-written scan."""
    theirs, _, _ = by_hand()
    return pair(
        "Lie / raw scan", ours("lie"), theirs, gigaflop=_gigaflop(), rounds=rounds, agree=_agree
    )


def _diffrax() -> Callable[[], Array]:
    found, w, u0 = problem()
    dt = found.equation.horizon / found.num_steps

    @eqx.filter_jit
    def run(w: dict[str, Array], u: Array) -> Array:
        def slope(t: Array, u: Array, w: dict[str, Array]) -> Array:
            return attention(w, u) + u @ w["dense"] + w["bias"]

        with jax.default_matmul_precision("highest"):
            return diffrax.diffeqsolve(
                diffrax.ODETerm(slope),
                diffrax.Euler(),
                t0=0.0,
                t1=found.equation.horizon,
                dt0=dt,
                y0=u,
                args=w,
                max_steps=2 * found.num_steps,
            ).ys[0]

    return lambda: run(w, u0).block_until_ready()


def euler(rounds: int) -> Paired:
    """Forward Euler of the whole right-hand side: ours against diffrax's."""
    return pair(
        "Euler / diffrax",
        ours("euler"),
        _diffrax(),
        gigaflop=_gigaflop(),
        rounds=rounds,
        agree=_agree,
    )


def with_compilation() -> dict[str, float]:
    """Seconds of the first call, compilation included: ours, diffrax's, and the scan's."""
    found = {}
    for name, make in (
        ("ours, Euler", lambda: ours("euler")),
        ("diffrax, Euler", _diffrax),
        ("ours, Lie", lambda: ours("lie")),
        ("raw scan, Lie", lambda: by_hand()[0]),
    ):
        jax.clear_caches()
        call = make()
        start = time.perf_counter()
        call()
        found[name] = time.perf_counter() - start
    return found


def loop_bodies() -> dict[str, dict[str, int]]:
    """The operations in the compiled loop bodies of ours and of the hand-written scan."""
    found, _, u0 = problem()
    solver = solvers.Solver(found, tokens=SIZES[0], scheme="lie")
    state, measure = solver._start(u0, None)
    program = Program(solver.scheme, solver.substeps, None, False, (), None)
    lowered = _advance.lower(
        _without_arrays(program),
        {"step": solver.coefficients},
        state,
        measure,
        found.num_steps,
        found.num_steps,
    )
    _, run, arguments = by_hand()
    texts = {
        "ours": lowered.compile().compiled.as_text(),
        "raw scan": run.lower(*arguments).compile().as_text(),
    }
    return {name: _operations(text) for name, text in texts.items()}


def _operations(text: str) -> dict[str, int]:
    """How often each costly operation occurs in a compiled module."""
    names = re.findall(r"= \S+ (dot|fusion|convolution|custom-call|copy|transpose|reduce)\(", text)
    return dict(sorted(collections.Counter(names).items()))


def _gigaflop() -> float:
    tokens, features, steps = SIZES
    products = 5 * tokens * features**2 + 2 * tokens**2 * features
    return 2e-9 * steps * products


def _agree(found: object, expected: object) -> None:
    difference = relative_difference(np.asarray(found), np.asarray(expected))
    if not difference <= _FLOAT64:
        raise AssertionError(f"the two sides differ by {difference:.1e}")

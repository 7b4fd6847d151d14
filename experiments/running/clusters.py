"""Clusters of tokens, counted over t for several scales of the attention."""

import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from experiments.building import build
from experiments.config import Config
from experiments.options import Options
from experiments.progress import progress_bar
from solvers import Solver

#: The file in the directory of a run.
NAME = "clusters.json"


def count(states: Array, distance: float) -> Array:
    """The number of clusters: tokens that no earlier cluster's first token is near to.

    Args:
        states: (tokens, features).
        distance: what is near, in the root mean square over features.
    """
    gaps = jnp.sqrt(jnp.mean((states[:, None] - states[None]) ** 2, axis=-1))
    near = gaps <= distance

    def one(leads: Array, token: Array) -> tuple[Array, None]:
        return leads.at[token].set(~jnp.any(leads & near[token])), None

    tokens = jnp.arange(states.shape[0])
    leads, _ = jax.lax.scan(one, jnp.zeros(states.shape[0], bool), tokens)
    return jnp.sum(leads)


def angles(states: np.ndarray) -> np.ndarray | None:
    """The angles of tokens on the circle of three features with mean zero; None for others."""
    if states.shape[-1] != 3:
        return None
    first, second = np.array([1.0, -1.0, 0.0]) / 2**0.5, np.array([1.0, 1.0, -2.0]) / 6**0.5
    return np.arctan2(states @ second, states @ first)


def clusters(config: Config, options: Options) -> bytes:
    """The content of ``clusters.json``: scales, times, counts and final angles.

    Args:
        config: with [clusters] and an attention.
        options: precision and progress.
    """
    asked = config.clusters
    assert asked is not None
    found: dict[str, Any] = {"scales": list(asked.scales), "distance": asked.distance}
    counts: list[list[int]] = []
    ends: list[np.ndarray | None] = []
    times: list[float] = []
    title = f"{config.title}: clusters"
    with progress_bar(title, len(asked.scales), "scales", options.progress) as tell:
        for number, scale in enumerate(asked.scales, start=1):
            changed = config.with_overrides({"equation.attention.scale": scale})
            series, end, times = _series(changed, options, asked.distance)
            counts.append(series)
            ends.append(angles(end))
            tell(number)
    found |= {"times": times, "counts": counts}
    found["angles"] = None if ends[0] is None else [end.tolist() for end in ends if end is not None]
    return (json.dumps(found, indent=1) + "\n").encode()


def _series(
    config: Config, options: Options, distance: float
) -> tuple[list[int], np.ndarray, list[float]]:
    experiment = build(config, dtype=options.precision.value)
    solver = Solver(
        experiment.problem,
        tokens=experiment.tokens.size,
        num_steps=experiment.steps,
        scheme=experiment.scheme,
    )
    u0 = experiment.u0
    watched = {"clusters": lambda u, t: count(u, distance)}
    pieces = list(
        solver.chunks(
            u0,
            save_every=experiment.save_every,
            chunk=experiment.chunk,
            observables=watched,
        )
    )
    after = np.concatenate([piece.observed["clusters"] for piece in pieces])
    series = [int(count(u0, distance)), *(int(value) for value in after)]
    return series, pieces[-1].state, (np.arange(len(series)) * solver.dt).tolist()

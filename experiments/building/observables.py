"""The user's observables: means of expressions over Omega_x x Omega_y."""

from collections.abc import Callable
from typing import TypeAlias

import jax.numpy as jnp
import numpy as np
from jax import Array

from continuum import parse
from discretize import UniformGrid
from experiments.config.root import Config
from experiments.config.slots import token_variables

Observable: TypeAlias = Callable[[Array, Array], Array]


def build_observables(
    config: Config, tokens: UniformGrid, features: UniformGrid, mask: np.ndarray | None = None
) -> dict[str, Observable]:
    """Functions (u, t) -> (1 / |Omega|) int expression(u, x, y, t) dx dy, by name.

    States have the shape (*batch, tokens, features), values (*batch).

    Args:
        config: tells the expressions.
        tokens: the grid of Omega_x.
        features: the grid of Omega_y.
        mask: (*batch, tokens), True on valid tokens; Omega_x is their part of the domain.
    """
    names = ("u", *token_variables(config), "y", "t")
    return {
        name: _mean(parse(text, names, config.parameters), tokens, features, mask)
        for name, text in config.observables.items()
    }


def _mean(
    expression: Callable[..., Array],
    tokens: UniformGrid,
    features: UniformGrid,
    mask: np.ndarray | None,
) -> Observable:
    nodes = tokens.nodes if tokens.nodes.ndim == 2 else tokens.nodes[:, None]
    x = [column[:, None] for column in nodes.T]
    weights = tokens.weights if mask is None else tokens.weights * mask
    shares = weights / weights.sum(axis=-1, keepdims=True)

    def observe(u: Array, t: Array) -> Array:
        values = jnp.broadcast_to(expression(u, *x, features.nodes, t), u.shape)
        along = features.mean(values)[..., 0].astype(u.dtype)
        return jnp.sum(along * jnp.asarray(shares, u.dtype), axis=-1)

    return observe

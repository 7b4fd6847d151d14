"""Norms of differences over Omega_x x Omega_y."""

import numpy as np

from discretize import Grid, UniformGrid


def l2(values: np.ndarray, grid: Grid, mask: np.ndarray | None = None) -> float:
    """The root of the mean of v^2, that is L2 over the norm of 1; of a batch the largest.

    (sum_ij w_i w_j v_ij^2 / sum_ij w_i w_j)^(1/2), w the quadrature weights.

    Args:
        values: (tokens, features) or (batch, tokens, features).
        grid: of the values.
        mask: True on tokens that count.
    """
    tokens = _token_weights(values, grid, mask)
    features = np.asarray(grid.features.weights)
    squares = np.einsum("...xy,...x,y->...", np.square(values), tokens, features)
    return float(np.sqrt(np.max(squares / (tokens.sum(-1) * features.sum()))))


def maximum(values: np.ndarray, grid: Grid, mask: np.ndarray | None = None) -> float:
    """The largest absolute value at a node that counts."""
    counted = np.abs(values) if mask is None else np.abs(values)[np.asarray(mask)]
    return float(np.max(counted))


#: The norms by name.
NORMS = {"l2": l2, "max": maximum}


def _token_weights(values: np.ndarray, grid: Grid, mask: np.ndarray | None) -> np.ndarray:
    assert isinstance(grid.tokens, UniformGrid)
    weights = np.broadcast_to(grid.tokens.weights, values.shape[:-1])
    return weights if mask is None else weights * np.asarray(mask)

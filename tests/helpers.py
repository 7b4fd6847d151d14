"""What several test modules share."""

import dataclasses

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discretize.quadrature import Rule


def relative_difference(
    found: ArrayLike, expected: ArrayLike, mask: ArrayLike | None = None
) -> float:
    """max|found - expected| / max|expected| over valid tokens.

    Args:
        found: (*batch, tokens, features).
        expected: the same shape.
        mask: (tokens,) or (*batch, tokens), True on valid tokens; all tokens without one.
    """
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        raise AssertionError(f"expected shape {expected.shape}, found {found.shape}")
    if mask is not None:
        valid = np.broadcast_to(np.asarray(mask), found.shape[:-1])
        found, expected = found[valid], expected[valid]
    return float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))


def slope(sizes: ArrayLike, errors: ArrayLike) -> float:
    """The order p of errors ~ size^(-p): minus the slope of the least-squares line of the logs."""
    return float(-np.polyfit(np.log(np.asarray(sizes)), np.log(np.asarray(errors)), 1)[0])


@dataclasses.dataclass(frozen=True)
class WeightedMean:
    """v -> sum_k w_k v_k / sum_k w_k over the last axis, kept: the mean a constraint set takes."""

    weights: tuple[float, ...]

    def __call__(self, values):
        weights = np.array(self.weights)
        return (values * (weights / weights.sum())).sum(axis=-1, keepdims=True)


def gapped_mask(rng: np.random.Generator, batch: int, tokens: int) -> NDArray[np.bool_]:
    """A random mask, with gaps, that leaves every sample a valid token."""
    mask = rng.random((batch, tokens)) < 0.6
    mask[np.arange(batch), rng.integers(tokens, size=batch)] = True
    return mask


#: One node in the middle of every cell, with weights that grow: a rule of no use but to tell
#: weights of one node from those of another.
UNEQUAL = Rule(
    "unequal",
    order=0,
    degree=0,
    nodes=lambda n: np.arange(n) + 0.5,
    weights=lambda n: n * np.arange(2.0, n + 2) / np.arange(2.0, n + 2).sum(),
)

"""Integrals to round-off, for data of closed-form solutions."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from jax.typing import ArrayLike

from continuum.domains import Domain

#: Gauss-Legendre nodes per panel and coordinate; exact up to degree 63 on one panel.
_NODES = 32

#: The largest number of points in one integral.
_MAX_POINTS = 2**17

#: Two successive values agree when their difference is within this many units of round-off.
_ULPS = 64.0


def integral(function: Callable[[np.ndarray], ArrayLike], domain: Domain) -> np.ndarray:
    """Int f over a box, by Gauss-Legendre panels that are halved until nothing changes any more.

    Args:
        function: (n,) points, or (n, dimension) where that is above one, -> values (..., n).
        domain: a bounded box.

    Returns:
        The integrals, shape (...).

    Raises:
        ValueError: if the domain is unbounded, or halving does not converge to round-off because
            the function is not smooth.
    """
    if not math.isfinite(domain.measure):
        raise ValueError(f"expected a bounded domain to integrate over, got {domain}")
    previous, panels = None, 1
    while (_NODES * panels) ** domain.dimension <= _MAX_POINTS:
        points, weights = _gauss_legendre(domain, panels)
        values = np.asarray(function(points))
        found, scale = values @ weights, np.max(np.abs(values) @ weights, initial=0.0)
        tolerance = _ULPS * np.finfo(found.dtype).eps * scale
        if previous is not None and np.max(np.abs(found - previous), initial=0.0) <= tolerance:
            return np.asarray(found)
        previous, panels = found, 2 * panels
    raise ValueError(
        f"an integral over {domain} did not converge to round-off with {panels // 2} panels of "
        f"{_NODES} Gauss-Legendre nodes: expected data that are smooth (no abs, maximum, where) "
        "and finite"
    )


@functools.lru_cache(maxsize=32)
def _gauss_legendre(domain: Domain, panels: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the composite rule on a box."""
    x, w = np.polynomial.legendre.leggauss(_NODES)
    s = ((np.arange(panels)[:, None] + 0.5 * (x + 1.0)) / panels).reshape(-1)
    weights = np.tile(0.5 * w / panels, panels)
    axes = [low + extent * s for low, extent in zip(domain.lower, domain.extents, strict=True)]
    total = functools.reduce(np.multiply.outer, [weights * extent for extent in domain.extents])
    if domain.dimension == 1:
        return axes[0], total
    mesh = np.meshgrid(*axes, indexing="ij")
    return np.stack([m.reshape(-1) for m in mesh], axis=-1), total.reshape(-1)


def at_every(x: Any, tokens: Domain) -> np.ndarray:
    """Points x with one more axis, against which points y can be lined up."""
    return np.expand_dims(np.asarray(x), -1 if tokens.dimension == 1 else -2)

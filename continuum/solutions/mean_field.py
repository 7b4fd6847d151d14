"""Attention that looks at all tokens alike."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from jax.typing import ArrayLike
from scipy.special import exprel

from continuum.domains import Domain
from continuum.solutions.integrals import integral


@dataclasses.dataclass(frozen=True)
class MeanField:
    """u_t = A(u) with W^Q = 0, b^Q = 0 and a value kernel of rank one, without projections.

    Then gamma = 1 / |Omega_x|, and with output kernel times value kernel a(xi) c(y),

        u(x, y, t) = u0(x, y) + c(y) p0 expm1(lam t) / lam,
        p0 = (1 / |Omega_x|) int int a(y) u0(x, y) dx dy,    lam = int a c dy,

    where expm1(lam t) / lam is t at lam = 0.  With several heads or features of a head, a and c are
    those of the product: int W^V(xi; zeta, eta) W^O(zeta, eta; y) dzeta deta = a(xi) c(y).  The
    biases of value and output are zero, and the attention is not causal.

    Args:
        initial: u0(x, y).
        left: a(xi).
        right: c(y).
        tokens: Omega_x, bounded.
        features: Omega_y.
    """

    initial: Callable[..., ArrayLike]
    left: Callable[[Any], ArrayLike]
    right: Callable[[Any], ArrayLike]
    tokens: Domain
    features: Domain

    @functools.cached_property
    def rate(self) -> float:
        """Lam, at which p = <a, mean_x u> grows."""
        return float(
            integral(lambda y: np.asarray(self.left(y)) * np.asarray(self.right(y)), self.features)
        )

    @functools.cached_property
    def start(self) -> float:
        """P0, the value of p at t = 0."""
        return float(integral(lambda y: self.left(y) * self._mean(y), self.features))

    def _mean(self, y: np.ndarray) -> np.ndarray:
        """The mean of u0 over Omega_x at points y."""

        def values(x: np.ndarray) -> np.ndarray:
            at = np.broadcast_to(self.initial(np.expand_dims(x, 1), y[None, :]), (len(x), len(y)))
            return at.T

        return integral(values, self.tokens) / self.tokens.measure

    def __call__(self, x: ArrayLike, y: ArrayLike, t: float) -> np.ndarray:
        """The solution at points (x, y), which broadcast, and time t (of either sign)."""
        grown = self.start * t * exprel(self.rate * t)
        return np.asarray(np.asarray(self.initial(x, y)) + grown * np.asarray(self.right(y)))

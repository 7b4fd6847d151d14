"""A linear flow on the sphere of functions with mean zero and given deviation."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from jax.typing import ArrayLike

from continuum.domains import Domain
from continuum.solutions.integrals import at_every, integral

#: What is smaller than this many units of round-off, relative to what it is the rest of, is zero.
_ULPS = 1e4


@dataclasses.dataclass(frozen=True)
class SphereFlow:
    """u_t = Pi_{T_u S1} W u on S1(0, sigma2), (W u)(y) = sum_r c_r(y) int a_r(xi) u(xi) dxi.

    Every c_r has mean zero, so W maps into the functions of mean zero, and for every x

        u(x, ., t) = sigma2 v / rms(v),    v = exp(t W) u0 = u0 + sum_r q_r(t) c_r,
        q(t) = int_0^t exp(s M) ds p0,     M_rs = int a_r c_s dy,   p0_r = int a_r u0 dy.

    The exponential of the continuous operator is thus that of an r x r matrix, without any grid.
    The initial state is projected onto S1(0, sigma2) first.

    Args:
        initial: u0(x, y), not constant in y: the call raises a ValueError where it is.
        left: the a_r, functions of xi.
        right: the c_r, functions of y with mean zero; as many.
        tokens: Omega_x, whose dimension says what points x look like.
        features: Omega_y.
        deviation: sigma2.

    Raises:
        ValueError: if there are not as many a_r as c_r, or none, or a c_r has another mean.
    """

    initial: Callable[..., ArrayLike]
    left: tuple[Callable[[Any], ArrayLike], ...]
    right: tuple[Callable[[Any], ArrayLike], ...]
    tokens: Domain
    features: Domain
    deviation: float = 1.0

    def __post_init__(self) -> None:
        """Check the factors."""
        if len(self.left) != len(self.right) or not self.left:
            raise ValueError(
                "SphereFlow: expected as many left as right factors and at least one, got "
                f"{len(self.left)} and {len(self.right)}"
            )
        means = np.abs(self._integral(self._right))
        sizes = self._integral(lambda y: self._right(y) ** 2 * self.features.measure) ** 0.5
        if np.any(means > _ULPS * np.finfo(sizes.dtype).eps * sizes):
            raise ValueError(
                "SphereFlow: expected right factors of mean zero over y, such as sin(2*pi*y) on "
                f"[0, 1], got the means {means / self.features.measure}"
            )

    @functools.cached_property
    def matrix(self) -> np.ndarray:
        """M, shape (r, r): what W does to the coefficients of the c_r."""
        return self._integral(lambda y: self._left(y)[:, None] * self._right(y))

    def __call__(self, x: ArrayLike, y: ArrayLike, t: float) -> np.ndarray:
        """The solution at points (x, y), which broadcast, and time t (of either sign)."""
        lined_up = at_every(x, self.tokens)
        mean = self._integral(lambda s: self._initial(lined_up, s)) / self.features.measure

        def start(x: Any, y: Any, mean: np.ndarray) -> np.ndarray:
            return self._initial(x, y) - mean

        moments = [
            self._integral(lambda s, a=a: np.asarray(a(s)) * start(lined_up, s, mean[..., None]))
            for a in self.left
        ]
        grown = np.tensordot(self._accumulated(t), np.stack(moments), axes=1)

        variance = self._integral(lambda s: start(lined_up, s, mean[..., None]) ** 2)
        floor = _ULPS * np.finfo(variance.dtype).eps * np.abs(mean)
        if np.any(variance / self.features.measure <= floor**2):
            raise ValueError(
                "SphereFlow: expected an initial state that varies with y, for every x"
            )

        def moved(x: Any, y: Any, mean: np.ndarray, grown: np.ndarray) -> np.ndarray:
            terms = (q * np.asarray(c(y)) for q, c in zip(grown, self.right, strict=True))
            return start(x, y, mean) + sum(terms)

        square = self._integral(
            lambda s: moved(lined_up, s, mean[..., None], grown[..., None]) ** 2
        )
        scale = self.deviation / np.sqrt(square / self.features.measure)
        return np.asarray(scale * moved(x, y, mean, grown))

    def _accumulated(self, t: float) -> np.ndarray:
        """Int_0^t exp(s M) ds, a block of the exponential of [[M, E], [0, 0]]."""
        rank = len(self.left)
        block = np.zeros((2 * rank, 2 * rank))
        block[:rank, :rank], block[:rank, rank:] = self.matrix, np.eye(rank)
        return scipy.linalg.expm(t * block)[:rank, rank:]

    def _integral(self, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        return integral(function, self.features)

    def _initial(self, x: Any, y: Any) -> np.ndarray:
        return np.asarray(self.initial(x, y))

    def _left(self, y: np.ndarray) -> np.ndarray:
        return np.stack([np.broadcast_to(a(y), y.shape) for a in self.left])

    def _right(self, y: np.ndarray) -> np.ndarray:
        return np.stack([np.broadcast_to(c(y), y.shape) for c in self.right])

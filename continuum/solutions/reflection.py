"""A given source against the obstacle u >= 0."""

import dataclasses
from collections.abc import Callable

import numpy as np
from jax.typing import ArrayLike

from continuum.domains import Domain

#: Gauss-Legendre nodes per piece of time.
_NODES = 8

#: Bisections of a piece of time: enough to use up the digits of float64.
_BISECTIONS = 52


@dataclasses.dataclass(frozen=True)
class Reflection:
    """u_t in g(x, y, t) - dI_S2(u), S2 = {u >= 0}: Skorokhod's reflection, at every (x, y).

        u = u0 + G + max(0, -min_{0 <= s <= t} (u0 + G(s))),    G(s) = int_0^s g,    u0 >= 0.

    The minimum is taken at s = 0, at s = t and at the zeros of g between them, which are bracketed
    by ``pieces`` equal pieces of [0, t] and then bisected: two zeros inside one piece are missed.

    Args:
        initial: u0(x, y) >= 0.
        source: g(x, y, t), for arrays of x, y and t that broadcast.
        tokens: Omega_x, whose dimension says what points x look like.
        integral: G(x, y, t) in closed form; without it G is integrated by Gauss-Legendre with 8
            nodes on every piece, see :attr:`integration`.
        pieces: of [0, t].
    """

    initial: Callable[..., ArrayLike]
    source: Callable[..., ArrayLike]
    tokens: Domain
    integral: Callable[..., ArrayLike] | None = None
    pieces: int = 128

    @property
    def integration(self) -> str:
        """How G is known: ``closed form`` or ``Gauss-Legendre``."""
        return "Gauss-Legendre" if self.integral is None else "closed form"

    def __call__(self, x: ArrayLike, y: ArrayLike, t: float) -> np.ndarray:
        """The solution at points (x, y), which broadcast, and time t >= 0.

        Raises:
            ValueError: if t < 0, or u0 < 0 at one of the points.
        """
        if t < 0.0:
            raise ValueError(
                f"Reflection: expected t >= 0, as reflection is not reversible, got {t}"
            )
        x, y = np.asarray(x), np.asarray(y)
        shape = np.broadcast_shapes(
            x.shape if self.tokens.dimension == 1 else x.shape[:-1], y.shape
        )
        start = np.broadcast_to(self.initial(x, y), shape).reshape(-1)
        if np.any(start < 0.0):
            raise ValueError(f"Reflection: expected u0 >= 0, got a minimum of {start.min():g}")
        x = np.broadcast_to(x, (*shape, *x.shape[len(x.shape) - self._tail :]))
        x, y = x.reshape(-1, *x.shape[len(shape) :]), np.broadcast_to(y, shape).reshape(-1)
        times = np.linspace(0.0, t, self.pieces + 1)
        total = self._totals(x, y, times)
        lowest = np.minimum(total.min(axis=0), self._inner_minimum(x, y, times, total))
        return (start + total[-1] + np.maximum(0.0, -(start + lowest))).reshape(shape)

    @property
    def _tail(self) -> int:
        """The number of axes of x that hold coordinates."""
        return int(self.tokens.dimension > 1)

    def _totals(self, x: np.ndarray, y: np.ndarray, times: np.ndarray) -> np.ndarray:
        """G at every time and point, shape (times, points)."""
        if self.integral is not None:
            values = np.asarray(self.integral(x[None], y[None], times[:, None]))
            return np.broadcast_to(values, (len(times), len(y)))
        steps = [self._piece(x, y, a, b) for a, b in zip(times, times[1:], strict=False)]
        return np.concatenate([np.zeros((1, len(y))), np.cumsum(steps, axis=0)])

    def _piece(
        self, x: np.ndarray, y: np.ndarray, begin: float | np.ndarray, end: float | np.ndarray
    ) -> np.ndarray:
        """Int g from begin to end, for every point."""
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        begin, end = np.broadcast_to(begin, y.shape), np.broadcast_to(end, y.shape)
        middle, half = 0.5 * (begin + end), 0.5 * (end - begin)
        values = np.asarray(self.source(x[None], y[None], middle + half * nodes[:, None]))
        return half * (weights @ np.broadcast_to(values, (_NODES, len(y))))

    def _inner_minimum(
        self, x: np.ndarray, y: np.ndarray, times: np.ndarray, total: np.ndarray
    ) -> np.ndarray:
        """The least G at a zero of g where g turns from negative to positive; inf without one."""
        rates = np.asarray(self.source(x[None], y[None], times[:, None]))
        rates = np.broadcast_to(rates, total.shape)
        piece, point = np.nonzero((rates[:-1] < 0.0) & (rates[1:] > 0.0))
        lowest = np.full(len(y), np.inf)
        if not len(piece):
            return lowest
        x, y = x[point], y[point]
        low, high = times[piece], times[piece + 1]
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            falling = np.asarray(self.source(x, y, middle)) < 0.0
            low, high = np.where(falling, middle, low), np.where(falling, high, middle)
        if self.integral is not None:
            found = np.asarray(self.integral(x, y, high))
        else:
            found = total[piece, point] + self._piece(x, y, times[piece], high)
        np.minimum.at(lowest, point, found)
        return lowest

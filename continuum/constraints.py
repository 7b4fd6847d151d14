"""The constraint sets of the equation and the projections onto them.

A set knows no grid: what it needs of a quadrature comes in as ``mean``, the functional
``v -> (1 / |Omega_y|) int v dy`` that maps ``(..., y)`` to ``(..., 1)``.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float

#: Written with methods and operators alone, so that arrays of NumPy and of jax both go through.
MeanFunctional: TypeAlias = Callable[[Any], Any]

#: A row counts as constant in y when its deviation is within this many units of round-off.
_DEGENERATE_ULPS = 8.0


def plain_mean(values: Any) -> Any:
    """The mean over the last axis with equal weights, that axis kept with length one."""
    return values.mean(axis=-1, keepdims=True)


@dataclasses.dataclass(frozen=True)
class MomentSet:
    """S1(sigma1, sigma2) = { v : mean_y v = sigma1, mean_y (v - sigma1)^2 = sigma2^2 }.

    Constant targets; a sphere, so not convex (paper, section 2).  Its projection is layer
    normalisation without learned scale and with eps = 0.

    Args:
        mean: the prescribed mean sigma1.
        deviation: the prescribed standard deviation sigma2 >= 0.
    """

    mean: float = 0.0
    deviation: float = 1.0

    def __post_init__(self) -> None:
        """Refuse targets that no function can have."""
        if not (math.isfinite(self.mean) and math.isfinite(self.deviation)):
            raise ValueError(f"MomentSet: targets must be finite, got {self}")
        if self.deviation < 0:
            raise ValueError(f"MomentSet: expected deviation >= 0, got {self.deviation}")

    def project(
        self, values: Float[Array, "*batch y"], mean: MeanFunctional = plain_mean
    ) -> Float[Array, "*batch y"]:
        """P_S1(v) = sigma2 (v - alpha) / sqrt(beta) + sigma1: a nearest point of the set.

        alpha and beta are the mean and variance of v over y.  Where v is constant in y every
        point of the set is equally near, and the rule here is: move along the ramp
        y -> index(y), normalised.  With a single feature cell no such direction exists and
        sigma1 is returned; :meth:`violation` then reports sigma2.
        """
        alpha = mean(values)
        centred = values - alpha
        beta = mean(centred**2)
        flat = self._degenerate(alpha, beta)
        unit = centred / jnp.where(flat, 1.0, jnp.sqrt(jnp.where(flat, 1.0, beta)))
        direction = jnp.where(flat, _ramp(values.shape[-1], values.dtype, mean), unit)
        return self._place(direction)

    def _place(self, direction: Array) -> Array:
        scaled = direction if self.deviation == 1.0 else self.deviation * direction
        return scaled if self.mean == 0.0 else scaled + self.mean

    @staticmethod
    def _degenerate(alpha: Array, beta: Array) -> Array:
        floor = _DEGENERATE_ULPS * jnp.finfo(beta.dtype).eps * jnp.abs(alpha)
        return beta <= floor * floor

    def degenerate(
        self, values: Float[Array, "*batch y"], mean: MeanFunctional = plain_mean
    ) -> Bool[Array, "*batch"]:
        """True where v is constant in y up to round-off, so that its projection is set-valued."""
        alpha = mean(values)
        return self._degenerate(alpha, mean((values - alpha) ** 2))[..., 0]

    def violation(
        self, values: Float[Array, "*batch y"], mean: MeanFunctional = plain_mean
    ) -> Float[Array, "*batch"]:
        """max(|mean v - sigma1|, |deviation of v about sigma1 - sigma2|) for every x."""
        first = jnp.abs(mean(values) - self.mean)
        second = jnp.abs(jnp.sqrt(mean((values - self.mean) ** 2)) - self.deviation)
        return jnp.maximum(first, second)[..., 0]

    def contains(
        self,
        values: Float[Array, "*batch y"],
        mean: MeanFunctional = plain_mean,
        tolerance: float = 1e-12,
    ) -> Bool[Array, "*batch"]:
        """Membership up to ``tolerance`` in the units of u."""
        return self.violation(values, mean) <= tolerance

    def tangent(
        self,
        at: Float[Array, "*batch y"],
        direction: Float[Array, "*batch y"],
        mean: MeanFunctional = plain_mean,
    ) -> Float[Array, "*batch y"]:
        """Pi_u f = f - mean f - (u - sigma1) mean(f (u - sigma1)) / sigma2^2.

        The orthogonal projection of ``direction`` f onto the tangent space of S1 at u = ``at``.
        With sigma2 = 0 the set is one point and the tangent space is {0}.
        """
        if self.deviation == 0.0:
            return jnp.zeros_like(direction)
        radial = at - self.mean
        return direction - mean(direction) - radial * (mean(direction * radial) / self.deviation**2)


@dataclasses.dataclass(frozen=True)
class NonnegativeCone:
    """S2 = { v : v >= 0 }, a convex cone; its projection is ReLU (paper, section 2)."""

    def project(
        self, values: Float[Array, "*batch y"], mean: MeanFunctional = plain_mean
    ) -> Float[Array, "*batch y"]:
        """P_S2(v) = max(v, 0): the nearest point of the cone."""
        del mean  # the same point is nearest for every positive weight
        return jnp.maximum(values, 0.0)

    def violation(
        self, values: Float[Array, "*batch y"], mean: MeanFunctional = plain_mean
    ) -> Float[Array, "*batch"]:
        """max_y max(-v, 0) for every x."""
        del mean
        return jnp.max(jnp.maximum(-values, 0.0), axis=-1)

    def contains(
        self,
        values: Float[Array, "*batch y"],
        mean: MeanFunctional = plain_mean,
        tolerance: float = 0.0,
    ) -> Bool[Array, "*batch"]:
        """Membership: v >= -tolerance everywhere."""
        return self.violation(values, mean) <= tolerance

    def tangent(
        self,
        at: Float[Array, "*batch y"],
        direction: Float[Array, "*batch y"],
        mean: MeanFunctional = plain_mean,
    ) -> Float[Array, "*batch y"]:
        """The projection of ``direction`` onto the tangent cone: max(f, 0) where u <= 0, else f."""
        del mean
        return jnp.where(at > 0.0, direction, jnp.maximum(direction, 0.0))


@dataclasses.dataclass(frozen=True)
class Compatibility:
    """Whether two constraint sets meet, and why; true in a condition when they do."""

    meets: bool
    reason: str

    def __bool__(self) -> bool:
        """Whether the sets have a common member."""
        return self.meets


def compatible(
    moments: MomentSet,
    cone: NonnegativeCone,
    *,
    measure: float | None = None,
    smallest_weight: float | None = None,
) -> Compatibility:
    """Say whether S1(sigma1, sigma2) and S2 have a common member.

    Continuously they meet iff sigma1 > 0, or sigma1 = sigma2 = 0.  On a grid whose smallest
    feature weight is w_min one also needs sigma2^2 <= (|Omega_y| / w_min - 1) sigma1^2: the
    widest nonnegative function of mean sigma1 is one spike.

    Args:
        moments: the moment set S1.
        cone: the nonnegative cone S2.
        measure: |Omega_y|, for the condition on a grid.
        smallest_weight: w_min, for the condition on a grid.
    """
    del cone
    mean, deviation = moments.mean, moments.deviation
    if mean == 0.0 and deviation == 0.0:
        return Compatibility(True, "both targets are zero: the zero function lies in both sets")
    if mean <= 0.0:
        return Compatibility(
            False,
            f"a nonnegative function has mean >= 0 and mean 0 only when it vanishes, but S1 asks "
            f"for mean {mean:g} and deviation {deviation:g}: the sets are disjoint and the "
            "equation with both constraints has no solution",
        )
    if measure is not None and smallest_weight is not None:
        widest = math.sqrt(max(measure / smallest_weight - 1.0, 0.0)) * mean
        if deviation > widest:
            return Compatibility(
                False,
                f"on this grid a nonnegative function of mean {mean:g} deviates by at most "
                f"{widest:g} (one spike), but S1 asks for {deviation:g}: refine y or lower sigma2",
            )
    return Compatibility(True, f"sigma1 = {mean:g} > 0")


def _ramp(size: int, dtype: np.dtype, mean: MeanFunctional) -> np.ndarray:
    """The direction used for rows constant in y: y -> index(y) with mean 0 and mean square 1.

    Formed on the host: traced, it would be compiled anew into every projection.
    """
    if size == 1:
        return np.zeros(1, dtype)
    ramp = np.arange(size, dtype=dtype)
    centred = ramp - np.asarray(mean(ramp))
    return centred / np.sqrt(np.asarray(mean(centred**2)))

"""Integral attention."""

import dataclasses
import math

import equinox as eqx

from continuum.domains import Domain
from continuum.operators.base import Operator
from continuum.operators.linear import LinearIntegral


@dataclasses.dataclass(frozen=True)
class Causal:
    """Integrate over x~ <= x only: a Volterra integral, for a one-dimensional Omega_x.

    Args:
        diagonal: the share of the cell at x~ = x that counts on a grid: 1 as causal models have it
            (order 1 in h), 1/2 for order 2 at fixed x (1.5 in the discrete L2 norm and 1 in the
            maximum norm, because of the tokens near the start).

    Raises:
        ValueError: unless 0 < diagonal <= 1.
    """

    diagonal: float = 1.0

    def __post_init__(self) -> None:
        """Check the share."""
        if not 0.0 < self.diagonal <= 1.0:
            raise ValueError(f"Causal: expected 0 < diagonal <= 1, got {self.diagonal}")


class IntegralAttention(Operator):
    """Multi-head integral attention, a nonlocal operator in x (paper, section 2).

    Query, key and value map Omega_y to Omega_h x Omega_eta, zeta in Omega_h = [0, H] being the
    head coordinate and eta the coordinate inside a head:

        s(x, x~; zeta)     = c int Q(x; zeta, eta) K(x~; zeta, eta) deta
        gamma(x, x~; zeta) = exp s(x, x~; zeta) / int exp s(x, x'; zeta) dmu(x')
        A(u)(x, y)         = int W^O(zeta, eta; y) [int gamma(x, x~; zeta) V(x~; zeta, eta) dmu(x~)]
                             dzeta deta + b^O(y)

    Args:
        query: W^Q and b^Q, Omega_y -> Omega_h x Omega_eta.
        key: W^K and b^K, likewise.
        value: W^V and b^V, likewise.
        output: W^O and b^O, Omega_h x Omega_eta -> Omega_y; b^O stands outside the head integral.
        scale: c; None means |Omega_eta|^(-1/2).
        causal: integrate over x~ <= x only, instead of all of Omega_x.

    Raises:
        ValueError: if the four operators' domains do not fit together, or the scale is not a
            finite number > 0.
    """

    query: LinearIntegral
    key: LinearIntegral
    value: LinearIntegral
    output: LinearIntegral
    scale: float | None = eqx.field(static=True, default=None)
    causal: Causal | None = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        """Check that the four operators fit together, and the scale."""
        if self.scale is not None and not 0.0 < self.scale < math.inf:
            raise ValueError(f"IntegralAttention: expected a finite scale > 0, got {self.scale}")
        heads = self.query.target
        if heads.dimension != 2:
            raise ValueError(
                "IntegralAttention: expected a query that maps to Omega_h x Omega_eta, a domain of "
                f"dimension 2, got {heads}"
            )
        for name, operator in (("key", self.key), ("value", self.value)):
            if (operator.source, operator.target) != (self.query.source, heads):
                raise ValueError(
                    f"IntegralAttention: expected the {name} to map {self.query.source} to "
                    f"{heads}, got {operator.source} to {operator.target}"
                )
        if self.output.source != heads:
            raise ValueError(
                f"IntegralAttention: expected an output that reads {heads}, got "
                f"{self.output.source}"
            )

    @property
    def source(self) -> Domain:
        """Omega_y, read by query, key and value."""
        return self.query.source

    @property
    def target(self) -> Domain:
        """The domain the output maps to."""
        return self.output.target

    @property
    def divisor(self) -> float:
        """1 / c, which is sqrt(|Omega_eta|) unless the model says otherwise."""
        if self.scale is not None:
            return 1.0 / self.scale
        return math.sqrt(self.query.target.extents[1])

"""Integral attention."""

import math

import equinox as eqx

from continuum.domains import Domain
from continuum.operators.base import Operator
from continuum.operators.positions import Causal, Rotary, ScoreBias


class IntegralAttention(Operator):
    """Multi-head integral attention, a nonlocal operator in x (paper, section 2).

    Query, key and value map Omega_y to Omega_h x Omega_eta, zeta in Omega_h = [0, H] being the
    head coordinate and eta the coordinate inside a head:

        s(x, x~; zeta)     = c int Q(x; zeta, eta) K(x~; zeta, eta) deta
        gamma(x, x~; zeta) = exp s(x, x~; zeta) / int exp s(x, x'; zeta) dmu(x')
        A(u)(x, y)         = int W^O(zeta, eta; y) [int gamma(x, x~; zeta) V(x~; zeta, eta) dmu(x~)]
                             dzeta deta + b^O(y)

    With ``rotary`` Q and K are turned by their positions first; with ``bias`` b(x - x~; zeta) is
    added to s.  Key and value may have fewer heads, on Omega_g = [0, G]: each of theirs then
    serves a piece of Omega_h of length H / G (grouped-query attention), as functions of zeta that
    are constant on such pieces.  Key and value may also lead to another, coarser Omega_x.

    Args:
        query: W^Q and b^Q, Omega_y -> Omega_h x Omega_eta.
        key: W^K and b^K, likewise.
        value: W^V and b^V, likewise.
        output: W^O and b^O, Omega_h x Omega_eta -> Omega_y; b^O stands outside the head integral.
        scale: c; None means |Omega_eta|^(-1/2).
        causal: integrate over x~ <= x only, instead of all of Omega_x.
        rotary: the rotation of queries and keys, or None.
        bias: the term added to the scores, not multiplied by c, or None.

    Raises:
        ValueError: if the four operators' domains do not fit together, or the scale is not a
            finite number > 0.
    """

    query: Operator
    key: Operator
    value: Operator
    output: Operator
    scale: float | None = eqx.field(static=True, default=None)
    causal: Causal | None = eqx.field(static=True, default=None)
    rotary: Rotary | None = None
    bias: ScoreBias | None = None

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
            groups = _groups(heads, operator.target)
            if operator.source != self.query.source or groups is None:
                raise ValueError(
                    f"IntegralAttention: expected the {name} to map {self.query.source} to "
                    f"{heads}, got {operator.source} to "
                    f"{operator.target}"
                )
        if self.key.target != self.value.target:
            raise ValueError(
                "IntegralAttention: expected key and value on one domain, got "
                f"{self.key.target} and {self.value.target}"
            )
        if self.output.source != heads:
            raise ValueError(
                f"IntegralAttention: expected an output that reads {heads}, got "
                f"{self.output.source}"
            )

        if self.bias is not None and self.bias.heads != heads.extents[0]:
            raise ValueError(
                f"IntegralAttention: expected a bias with {heads.extents[0]:g} heads, got "
                f"{self.bias.heads}"
            )
        if self.rotary is not None and 2 * self.rotary.pairs > heads.extents[1]:
            raise ValueError(
                f"IntegralAttention: a rotation of {self.rotary.pairs} pairs needs heads of at "
                f"least {2 * self.rotary.pairs} features, got {heads.extents[1]:g}"
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
    def groups(self) -> int:
        """How many heads of the query share one head of key and value; 1 unless grouped."""
        return _groups(self.query.target, self.key.target) or 1

    @property
    def divisor(self) -> float:
        """1 / c, which is sqrt(|Omega_eta|) unless the model says otherwise."""
        if self.scale is not None:
            return 1.0 / self.scale
        return math.sqrt(self.query.target.extents[1])


def _groups(query: Domain, key: Domain) -> int | None:
    """How many unit heads of the query share one of the key; None if they do not fit."""
    if key.dimension != 2 or key.extents[1] != query.extents[1]:
        return None
    ratio = query.extents[0] / key.extents[0]
    return round(ratio) if ratio >= 1.0 and abs(ratio - round(ratio)) < 1e-9 else None

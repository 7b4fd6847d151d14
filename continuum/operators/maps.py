"""Maps without a rate: projections, normalisations, pointwise functions."""

import math
from typing import TYPE_CHECKING

import equinox as eqx

from continuum.constraints import MomentSet, NonnegativeCone
from continuum.domains import Domain
from continuum.kernels.base import Field
from continuum.operators.base import Operator

#: The pointwise functions an equation may contain; ``gelu`` is the exact erf form.
ACTIVATIONS = ("gelu", "gelu_tanh", "relu", "silu", "tanh")


class OneDomain(Operator):
    """An operator that stays on one feature domain."""

    if TYPE_CHECKING:  # a type checker would take an AbstractVar for a constructor argument

        @property
        def domain(self) -> Domain:
            """The feature domain."""
            ...

    else:
        domain: eqx.AbstractVar[Domain]

    @property
    def source(self) -> Domain:
        """The feature domain."""
        return self.domain

    @property
    def target(self) -> Domain:
        """The feature domain."""
        return self.domain


class Projection(OneDomain):
    """u -> P_S(u), the projection onto a constraint set, for every x.

    Args:
        constraint: the set S1 (:class:`MomentSet`) or S2 (:class:`NonnegativeCone`).
        domain: the feature domain.
    """

    constraint: MomentSet | NonnegativeCone = eqx.field(static=True)
    domain: Domain = eqx.field(static=True)


class Normalisation(OneDomain):
    """u -> gamma(y, t) (u - alpha) / sqrt(beta + eps) + shift(y, t): layer norm as models have it.

    alpha and beta are mean and variance over y.  An affine map after (nearly) a projection: with
    varying gamma, or with eps > 0, it is neither idempotent nor the nearest point of any set, so
    no such claims are made.  Rows constant in y map to the shift; with eps = 0 the rule of
    :meth:`continuum.MomentSet.project` stands in for (u - alpha) / sqrt(beta).

    Without ``centred`` it is gamma u / sqrt(mean u^2 + eps) + shift, the RMS normalisation, which
    with eps = 0 and gamma = 1 projects onto the sphere {mean u^2 = 1} and leaves 0 where it is.

    Args:
        domain: the feature domain.
        gamma: the learned scale, or None for 1.
        shift: the learned shift, or None for 0.
        eps: added to the variance, in units of u squared; 0 gives the projection onto S1(0, 1)
            before the affine part.
        centred: whether the mean is taken off.

    Raises:
        ValueError: if eps is not a finite number >= 0, or gamma or shift live on another domain.
    """

    domain: Domain = eqx.field(static=True)
    gamma: Field | None = None
    shift: Field | None = None
    eps: float = eqx.field(static=True, default=0.0)
    centred: bool = eqx.field(static=True, default=True)

    def __check_init__(self) -> None:
        """Check eps and the domains."""
        if not 0.0 <= self.eps < math.inf:
            raise ValueError(f"Normalisation: expected a finite eps >= 0, got {self.eps}")
        for name, field in (("gamma", self.gamma), ("shift", self.shift)):
            if field is not None and field.domain != self.domain:
                raise ValueError(
                    f"Normalisation: expected {name} on {self.domain}, got {field.domain}"
                )


class Pointwise(OneDomain):
    """u -> phi(u) at every (x, y); a projection only for ``relu``.

    Args:
        name: one of ``ACTIVATIONS``; ``gelu`` is the exact form u Phi(u), ``gelu_tanh`` the
            approximation that some models use instead (4.7e-4 away at most).
        domain: the feature domain.

    Raises:
        ValueError: for a name that is not listed.
    """

    name: str = eqx.field(static=True)
    domain: Domain = eqx.field(static=True)

    def __check_init__(self) -> None:
        """Check the name."""
        if self.name not in ACTIVATIONS:
            raise ValueError(
                f"Pointwise: unknown activation {self.name!r}; expected one of "
                f"{', '.join(ACTIVATIONS)}"
            )

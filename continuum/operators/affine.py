"""Multiplication by a function of y, plus a shift."""

import equinox as eqx

from continuum.domains import Domain
from continuum.kernels.base import Field
from continuum.operators.base import Operator


class Affine(Operator):
    """u -> (gamma(y, t) + identity) u + beta(y, t), pointwise in x and y.

    Args:
        gamma: the factor.
        beta: the shift, on the same domain.
        identity: a number added to the factor; -1 gives the tendency (gamma - 1) u + beta whose
            forward Euler step at dt = 1 is gamma u + beta.
    """

    gamma: Field
    beta: Field
    identity: float = eqx.field(static=True, default=0.0)

    def __check_init__(self) -> None:
        """Check that factor and shift share a domain."""
        if self.gamma.domain != self.beta.domain:
            raise ValueError(
                f"Affine: expected gamma and beta on one domain, got {self.gamma.domain} and "
                f"{self.beta.domain}"
            )

    @property
    def source(self) -> Domain:
        """The domain of gamma."""
        return self.gamma.domain

    @property
    def target(self) -> Domain:
        """The same domain."""
        return self.gamma.domain

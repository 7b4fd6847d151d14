"""Substeps without a rate: u <- P(u)."""

import equinox as eqx
from jax import Array

from discretize.operators import DiscreteNormalisation, DiscreteOperator, TokenMeasure
from discretize.operators.base import Coefficients
from discretize.sampling import At
from solvers.substeps.base import Recorder, Substep


class Map(Substep):
    """u <- P(u): a projection, or a pointwise map; the step size does not enter.

    For a projection this is the exact implicit substep of u_t = -dI_S(u).
    """

    name: str = eqx.field(static=True)
    operator: DiscreteOperator

    @property
    def reversible(self) -> bool:
        """No: a projection forgets where it came from."""
        return False

    def prepare(self, at: At, dt: float) -> Coefficients:
        """The operator's coefficients."""
        return self.operator.coefficients(at)

    def advance(
        self, coefficients: Coefficients, u: Array, measure: TokenMeasure, record: Recorder
    ) -> Array:
        """P(u)."""
        u = self.operator.apply(coefficients, u, measure)
        record(self.name, u)
        return u


class Normalise(Substep):
    """u <- N(u) with eps * scale^2, for a u that a relaxation left ``scale`` times its sum.

    LN_eps(c z) = LN_{eps / c^2}(z): with c = ``scale`` the result is that of the full sum.
    """

    name: str = eqx.field(static=True)
    operator: DiscreteNormalisation
    scale: float = eqx.field(static=True, default=1.0)

    @property
    def reversible(self) -> bool:
        """No: a projection forgets where it came from."""
        return False

    def prepare(self, at: At, dt: float) -> Coefficients:
        """The operator's coefficients."""
        return self.operator.coefficients(at)

    def advance(
        self, coefficients: Coefficients, u: Array, measure: TokenMeasure, record: Recorder
    ) -> Array:
        """N(u)."""
        eps = self.operator.eps * self.scale**2
        u = self.operator.apply(coefficients, u, measure, eps)
        record(self.name, u)
        return u

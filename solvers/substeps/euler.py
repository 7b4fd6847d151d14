"""Forward Euler substeps."""

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from discretize.operators import DiscreteLinear, DiscreteOperator, TokenMeasure
from discretize.operators.base import Coefficients
from discretize.sampling import At, Table
from solvers.substeps.base import Recorder, Substep


class ForwardEuler(Substep):
    """u <- u + dt T(u), local error dt^2 / 2 u_tt."""

    name: str = eqx.field(static=True)
    operator: DiscreteOperator

    @property
    def reversible(self) -> bool:
        """Yes, to first order."""
        return True

    def prepare(self, at: At, dt: float) -> Coefficients:
        """The operator's coefficients, and dt unless it is 1."""
        found: Coefficients = {"operator": self.operator.coefficients(at)}
        if dt != 1.0:
            found["dt"] = Table(jnp.full((1,), dt), False)
        return found

    def advance(
        self, coefficients: Coefficients, u: Array, measure: TokenMeasure, record: Recorder
    ) -> Array:
        """U + dt T(u)."""
        tendency = self.operator.apply(coefficients["operator"], u, measure)
        if "dt" in coefficients:
            tendency = coefficients["dt"].astype(u.dtype) * tendency
        u = u + tendency
        record(self.name, u)
        return u


class LinearEuler(Substep):
    """v <- (E + dt W) v + dt b: forward Euler for a linear integral operator, as one map."""

    name: str = eqx.field(static=True)
    operator: DiscreteLinear

    @property
    def reversible(self) -> bool:
        """Yes, to first order."""
        return True

    def prepare(self, at: At, dt: float) -> Coefficients:
        """E + dt W and dt b, as the operator has them."""
        return self.operator.step(at, dt)

    def advance(
        self, coefficients: Coefficients, u: Array, measure: TokenMeasure, record: Recorder
    ) -> Array:
        """The effective matrix, or its two factors, applied to v, plus dt b."""
        u = self.operator.advance(coefficients, u)
        record(self.name, u)
        return u

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
    """v <- (E + dt W) v + dt b: forward Euler for a linear integral operator, as one matrix."""

    name: str = eqx.field(static=True)
    operator: DiscreteLinear

    @property
    def reversible(self) -> bool:
        """Yes, to first order."""
        return True

    def prepare(self, at: At, dt: float) -> Coefficients:
        """``matrix`` = E + dt W and ``bias`` = dt b."""
        return self.operator.step(at, dt)

    def advance(
        self, coefficients: Coefficients, u: Array, measure: TokenMeasure, record: Recorder
    ) -> Array:
        """The effective matrix applied to v, plus dt b."""
        u = u @ coefficients["matrix"]
        if "bias" in coefficients:
            u = u + coefficients["bias"]
        record(self.name, u)
        return u

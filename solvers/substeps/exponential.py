"""The exact substep of a linear integral term."""

import equinox as eqx
import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax import Array

from continuum.constraints import MomentSet
from discretize.operators import DiscreteLinear, DiscreteProjection, TokenMeasure
from discretize.operators.base import Coefficients
from discretize.sampling import At, Table
from solvers.substeps.base import Recorder, Substep

#: Weights and matrix entries that should cancel do so up to this many units of round-off.
_SLACK_ULPS = 256.0


class Exponential(Substep):
    """v <- exp(dt W) v + dt phi_1(dt W) b: the flow of v_t = W v + b, W and b as in mid-substep.

    Exact for W and b constant in t, otherwise of order two (the first Magnus integrator).  On
    S1(0, sigma2) it is followed by the projection, which gives the exact flow of v_t = Pi_v W v if
    b = 0 and W maps functions of mean zero to such.

    Args:
        name: the substep's name in records.
        operator: W and b, from a grid to itself.
        constraint: the projection onto S1, or None.

    Raises:
        ValueError: if source and target differ, or on S1 the conditions above do not hold.
    """

    name: str = eqx.field(static=True)
    operator: DiscreteLinear
    constraint: DiscreteProjection | None = None

    @property
    def reversible(self) -> bool:
        """Yes."""
        return True

    def __check_init__(self) -> None:
        """Check the conditions that need no values."""
        if self.operator.source != self.operator.target:
            raise ValueError(
                f"{self.name}: the exponential needs an operator from a domain to itself, got one "
                f"from {self.operator.source.domain} to {self.operator.target.domain}"
            )
        if self.constraint is None:
            return
        moments = self.constraint.constraint
        if not isinstance(moments, MomentSet) or moments.mean != 0.0 or self.operator.bias:
            raise ValueError(
                f"{self.name}: on a set the exponential is exact only for S1 with mean 0 and a "
                "linear term without bias; choose a Runge-Kutta scheme"
            )

    def prepare(self, at: At, dt: float) -> Coefficients:
        """``matrix`` = exp(dt W) and ``bias`` = dt phi_1(dt W) b, one of each for every W."""
        mid = at.times + 0.5 * dt
        where = At(mid, at.tokens, within=at.within)
        found = self.operator.shift(where)
        identity = self.operator.identity * np.eye(self.operator.source.size)
        matrix = self.operator.matrix(where).expand().map(lambda v: v + identity.astype(v.dtype))
        if self.constraint is not None:
            self._check_means(matrix.values)
        if "bias" not in found:
            return {"matrix": matrix.map(lambda v: jax.scipy.linalg.expm(dt * v))}
        bias = found["bias"].expand()
        count = max(matrix.values.shape[0], bias.values.shape[0])
        both = jax.vmap(lambda w, b: _affine_exponential(dt * w, dt * b))
        matrices, biases = both(matrix.rows(count), bias.rows(count))
        varying = matrix.varying or bias.varying
        return {"matrix": Table(matrices, varying), "bias": Table(biases, varying)}

    def _check_means(self, matrix: Array | np.ndarray) -> None:
        """Refuse a W that gives a function of mean zero another mean."""
        if isinstance(matrix, jax.core.Tracer):
            return
        weights = self.operator.source.weights / self.operator.source.weights.sum()
        images = np.asarray(matrix) @ weights
        along = images @ weights / (weights @ weights)
        defect = np.max(np.abs(images - along[:, None] * weights))
        slack = _SLACK_ULPS * np.finfo(matrix.dtype).eps * max(1.0, np.max(np.abs(matrix)))
        if defect > slack:
            raise ValueError(
                f"{self.name}: W maps functions of mean zero to functions of another mean (by up "
                f"to {defect:.2g}), so the exponential followed by the projection is not the flow "
                "on S1; choose a Runge-Kutta scheme"
            )

    def advance(
        self, coefficients: Coefficients, u: Array, measure: TokenMeasure, record: Recorder
    ) -> Array:
        """The matrix applied to v, plus the bias; then the projection."""
        u = u @ coefficients["matrix"]
        if "bias" in coefficients:
            u = u + coefficients["bias"]
        if self.constraint is not None:
            u = self.constraint.apply({}, u, measure)
        record(self.name, u)
        return u


def _affine_exponential(matrix: Array, bias: Array) -> tuple[Array, Array]:
    """exp(W) and phi_1(W) b for row vectors: the exponential of the affine map v -> v W + b."""
    size = bias.shape[0]
    square = jnp.zeros((size + 1, size + 1), matrix.dtype)
    square = square.at[:size, :size].set(matrix).at[size, :size].set(bias)
    found = jax.scipy.linalg.expm(square)
    return found[:size, :size], found[size, :size]

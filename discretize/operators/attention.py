"""Integral attention with the quadrature weights at the key."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from continuum.operators import Causal, IntegralAttention
from discretize.grids import Grid, UniformGrid
from discretize.operators.base import Coefficients, DiscreteOperator, discretize_operator
from discretize.operators.linear import DiscreteLinear, discretize_linear
from discretize.operators.measure import TokenMeasure
from discretize.sampling import At

_PARTS = ("query", "key", "value", "output")


class DiscreteAttention(DiscreteOperator):
    """gamma_ij = w_j exp s_ij / sum_k w_k exp s_ik, s_ij = c sum_e w_e Q_ie K_je, for each head.

    w_j is the weight of the key token j, w_e that of the feature node e of a head.
    """

    query: DiscreteLinear
    key: DiscreteLinear
    value: DiscreteLinear
    output: DiscreteLinear
    divisor: float = eqx.field(static=True)
    causal: Causal | None = eqx.field(static=True, default=None)

    @property
    def source(self) -> UniformGrid:
        """The grid of Omega_y."""
        return self.query.source

    @property
    def target(self) -> UniformGrid:
        """The grid the output maps to."""
        return self.output.target

    def coefficients(self, at: At) -> Coefficients:
        """The coefficients of query, key, value and output."""
        return {part: getattr(self, part).coefficients(at) for part in _PARTS}

    def apply(self, coefficients: Coefficients, u: Array, measure: TokenMeasure) -> Array:
        """A(u) for (..., x, source) -> (..., x, target)."""
        gamma = self.kernel(coefficients, u, measure)
        value = self._heads(self.value.apply(coefficients["value"], u, measure))
        joined = _join(gamma @ value)
        return self.output.apply(coefficients["output"], joined, measure)

    def kernel(
        self, coefficients: Coefficients, u: Float[Array, "*batch x y"], measure: TokenMeasure
    ) -> Float[Array, "*batch heads x x"]:
        """gamma(x, x~; zeta) times the weight of x~: rows over the last axis sum to one."""
        scores = self.scores(coefficients, u, measure)
        if self.causal is not None:
            return _softmax(scores + _causal_log_weights(self.causal, measure, scores))
        if measure.log_weights is not None:
            scores = scores + measure.log_weights[..., None, None, :]
        return _softmax(scores)

    def scores(
        self, coefficients: Coefficients, u: Float[Array, "*batch x y"], measure: TokenMeasure
    ) -> Float[Array, "*batch heads x x"]:
        """s(x, x~; zeta), without any weights."""
        query = self._heads(self.query.apply(coefficients["query"], u, measure))
        key = self._heads(self.key.apply(coefficients["key"], u, measure))
        return self._scores(query, key)

    def _scores(self, query: Array, key: Array) -> Array:
        heads = self.query.target
        weights = heads.rules[1].weights(heads.cells[1])
        if not np.all(weights == 1.0):
            query = query * jnp.asarray(weights, query.dtype)
        return (query @ jnp.swapaxes(key, -1, -2)) / (self.divisor / heads.spacing[1])

    def _heads(self, values: Array) -> Array:
        """(..., x, zeta * eta) -> (..., zeta, x, eta)."""
        return jnp.moveaxis(values.reshape(*values.shape[:-1], *self.query.target.shape), -2, -3)


def _join(values: Array) -> Array:
    """(..., zeta, x, eta) -> (..., x, zeta * eta)."""
    moved = jnp.moveaxis(values, -3, -2)
    return moved.reshape(*moved.shape[:-2], math.prod(moved.shape[-2:]))


def _causal_log_weights(causal: Causal, measure: TokenMeasure, scores: Array) -> Array:
    """Log of the key weights that lie in x~ <= x.

    A masked token that no valid key precedes is no valid token either; it sees all keys alike, so
    that its values, which nobody reads, stay finite.
    """
    grid = measure.grid
    if grid is not None and (grid.domain.dimension != 1 or grid.shape != grid.cells):
        raise ValueError(
            "causal attention needs a one-dimensional Omega_x and a rule with one node per cell "
            f"(midpoint, left), got {grid.domain} with {grid.shape} nodes in {grid.cells} cells"
        )
    query = jax.lax.broadcasted_iota(jnp.int32, scores.shape[-2:], 0)
    key = jax.lax.broadcasted_iota(jnp.int32, scores.shape[-2:], 1)
    share = jnp.where(key == query, math.log(causal.diagonal), 0.0)
    weights = jnp.where(key > query, -jnp.inf, share).astype(scores.dtype)
    if measure.log_weights is None:
        return weights
    weights = weights + measure.log_weights[..., None, None, :]
    sees_some = jnp.any(weights > -jnp.inf, axis=-1, keepdims=True)
    return jnp.where(sees_some, weights, 0.0)


def _softmax(scores: Array) -> Array:
    """Softmax over the last axis; the maximum runs over w > 0, since log 0 is -inf."""
    shift = jax.lax.stop_gradient(jnp.max(scores, axis=-1, keepdims=True))
    unnormalised = jnp.exp(scores - shift)
    return unnormalised / jnp.sum(unnormalised, axis=-1, keepdims=True)


@discretize_operator.register
def _(operator: IntegralAttention, grid: Grid) -> DiscreteAttention:
    query, key, value, output = (discretize_linear(getattr(operator, p), grid) for p in _PARTS)
    return DiscreteAttention(query, key, value, output, operator.divisor, operator.causal)

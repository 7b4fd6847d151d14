"""Integral attention with the quadrature weights at the key."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from continuum.operators import Causal, IntegralAttention, Rotary, ScoreBias
from discretize.grids import Grid, UniformGrid
from discretize.operators.base import Coefficients, DiscreteOperator, discretize_operator
from discretize.operators.images import image_measure
from discretize.operators.measure import TokenMeasure
from discretize.operators.positions import causal_log_weights, rotate, rotation, sampled_bias
from discretize.sampling import At, Table

_PARTS = ("query", "key", "value", "output")


class DiscreteAttention(DiscreteOperator):
    """gamma_ij = w_j exp s_ij / sum_k w_k exp s_ik, s_ij = c sum_e w_e Q_ie K_je, for each head.

    w_j is the weight of the key token j, w_e that of the feature node e of a head.  Keys may live
    on another grid in x than queries, and fewer heads of keys and values may serve those of
    queries.
    """

    query: DiscreteOperator
    key: DiscreteOperator
    value: DiscreteOperator
    output: DiscreteOperator
    divisor: float = eqx.field(static=True)
    causal: Causal | None = eqx.field(static=True, default=None)
    rotary: Rotary | None = None
    bias: ScoreBias | None = None

    @property
    def source(self) -> UniformGrid:
        """The grid of Omega_y."""
        return self.query.source

    @property
    def target(self) -> UniformGrid:
        """The grid the output maps to."""
        return self.output.target

    def coefficients(self, at: At) -> Coefficients:
        """Those of query, key, value and output; ``cos``, ``sin`` and ``bias`` where they exist."""
        found: Coefficients = {part: getattr(self, part).coefficients(at) for part in _PARTS}
        if self.rotary is not None:
            cos, sin = rotation(self.rotary, at.tokens)
            found |= {"cos": Table(cos[None], False), "sin": Table(sin[None], False)}
        if self.bias is not None:
            keys = image_measure(self.key, TokenMeasure(None, at.tokens)).grid
            assert keys is not None
            values = sampled_bias(self.bias, at.tokens, keys, self.query.target.shape[0])
            found["bias"] = Table(values[None], False)
        return found

    def apply(self, coefficients: Coefficients, u: Array, measure: TokenMeasure) -> Array:
        """A(u) for (..., x, source) -> (..., x, target)."""
        gamma = self.kernel(coefficients, u, measure)
        value = self._heads(self.value, coefficients["value"], u, measure)
        joined = _join(gamma @ self._shared(value))
        return self.output.apply(coefficients["output"], joined, measure)

    def kernel(
        self, coefficients: Coefficients, u: Float[Array, "*batch x y"], measure: TokenMeasure
    ) -> Float[Array, "*batch heads x keys"]:
        """gamma(x, x~; zeta) times the weight of x~: rows over the last axis sum to one."""
        scores = self.scores(coefficients, u, measure)
        keys = image_measure(self.key, measure)
        if self.causal is not None:
            return _softmax(scores + causal_log_weights(self.causal, keys, scores))
        if keys.log_weights is not None:
            scores = scores + keys.log_weights[..., None, None, :]
        return _softmax(scores)

    def scores(
        self, coefficients: Coefficients, u: Float[Array, "*batch x y"], measure: TokenMeasure
    ) -> Float[Array, "*batch heads x keys"]:
        """s(x, x~; zeta), without any weights."""
        query = self._turned(
            self._heads(self.query, coefficients["query"], u, measure), coefficients
        )
        key = self._turned(self._heads(self.key, coefficients["key"], u, measure), coefficients)
        scores = self._scores(query, self._shared(key))
        return scores + coefficients["bias"] if self.bias is not None else scores

    def _scores(self, query: Array, key: Array) -> Array:
        heads = self.query.target
        weights = heads.rules[1].weights(heads.cells[1])
        if not np.all(weights == 1.0):
            query = query * jnp.asarray(weights, query.dtype)
        return (query @ jnp.swapaxes(key, -1, -2)) / (self.divisor / heads.spacing[1])

    def _turned(self, values: Array, coefficients: Coefficients) -> Array:
        """Queries or keys after the rotation, if there is one."""
        if self.rotary is None:
            return values
        units = round(self.query.target.domain.extents[1])
        return rotate(self.rotary, coefficients["cos"], coefficients["sin"], values, units)

    def _shared(self, values: Array) -> Array:
        """Heads of keys or values, each as often as heads of the query share it."""
        groups = self.query.target.shape[0] // self.key.target.shape[0]
        return values if groups == 1 else jnp.repeat(values, groups, axis=-3)

    @staticmethod
    def _heads(
        part: DiscreteOperator, coefficients: Coefficients, u: Array, measure: TokenMeasure
    ) -> Array:
        """The part's image, (..., x, zeta * eta) turned into (..., zeta, x, eta)."""
        values = part.apply(coefficients, u, measure)
        return jnp.moveaxis(values.reshape(*values.shape[:-1], *part.target.shape), -2, -3)


def _join(values: Array) -> Array:
    """(..., zeta, x, eta) -> (..., x, zeta * eta)."""
    moved = jnp.moveaxis(values, -3, -2)
    return moved.reshape(*moved.shape[:-2], math.prod(moved.shape[-2:]))


def _softmax(scores: Array) -> Array:
    """Softmax over the last axis; the maximum runs over w > 0, since log 0 is -inf."""
    shift = jax.lax.stop_gradient(jnp.max(scores, axis=-1, keepdims=True))
    unnormalised = jnp.exp(scores - shift)
    return unnormalised / jnp.sum(unnormalised, axis=-1, keepdims=True)


@discretize_operator.register
def _(operator: IntegralAttention, grid: Grid) -> DiscreteAttention:
    query, key, value, output = (discretize_operator(getattr(operator, p), grid) for p in _PARTS)
    return DiscreteAttention(
        query,
        key,
        value,
        output,
        operator.divisor,
        operator.causal,
        operator.rotary,
        operator.bias,
    )

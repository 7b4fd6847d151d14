"""The measure on Omega_x that attention integrates keys against."""

import equinox as eqx
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float

from discretize.grids import FixedGrid


class TokenMeasure(eqx.Module):
    """Quadrature weights of the key tokens, as logarithms: the softmax is softmax(s + log w).

    Args:
        log_weights: log w with -inf where w = 0, shape (tokens,) or (*batch, tokens), or None when
            all weights are equal and therefore cancel.
        grid: the grid of Omega_x, where known; a causal integral needs the order of its nodes.
    """

    log_weights: Float[Array, "*batch x"] | None = None
    grid: FixedGrid | None = eqx.field(static=True, default=None)

    @staticmethod
    def build(
        grid: FixedGrid, mask: Bool[Array, "*batch x"] | None, dtype: jnp.dtype
    ) -> "TokenMeasure":
        """The weights of ``grid``, set to zero where ``mask`` is False."""
        if mask is None and grid.equal_weights:
            return TokenMeasure(None, grid)
        weights = jnp.ones(grid.size) if grid.equal_weights else jnp.asarray(grid.weights)
        if mask is not None:
            weights = jnp.where(mask, weights, 0.0)
        return TokenMeasure(log_weights(weights.astype(dtype)), grid)


def log_weights(weights: Float[Array, "*batch x"]) -> Float[Array, "*batch x"]:
    """Log w, -inf at w = 0; the gradient there is 0, not infinite."""
    positive = weights > 0
    return jnp.where(positive, jnp.log(jnp.where(positive, weights, 1.0)), -jnp.inf)

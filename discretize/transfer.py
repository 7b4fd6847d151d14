"""States moved between grids."""

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float


def lift(
    u: Float[Array, "*batch x y"], tokens: int = 1, features: int = 1
) -> Float[Array, "*batch fine_x fine_y"]:
    """The piecewise constant function with cell values ``u``, sampled on a refined grid.

    Args:
        u: values on the coarse grid.
        tokens: nodes of the fine grid per coarse cell in x.
        features: the same in y.
    """
    return jnp.repeat(jnp.repeat(u, tokens, axis=-2), features, axis=-1)

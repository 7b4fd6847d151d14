"""A given source, sampled on the grids of x and y."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from continuum.operators import Source
from discretize.grids import Grid, UniformGrid
from discretize.operators.base import Coefficients, DiscreteOperator, discretize_operator
from discretize.operators.measure import TokenMeasure
from discretize.sampling import At, sample_function


class DiscreteSource(DiscreteOperator):
    """g(x_i, y_j, t) at the nodes, for every state of the batch."""

    function: Callable[..., Array] = eqx.field(static=True)
    time_dependent: bool = eqx.field(static=True)
    grid: UniformGrid = eqx.field(static=True)

    @property
    def source(self) -> UniformGrid:
        """The feature grid."""
        return self.grid

    @property
    def target(self) -> UniformGrid:
        """The feature grid."""
        return self.grid

    def coefficients(self, at: At) -> Coefficients:
        """``values``: rows of shape (x, y), one for each time if g depends on t."""
        x, y = np.expand_dims(at.tokens.nodes, 1), self.grid.nodes[None, :]
        shape = (at.tokens.size, self.grid.size)
        found = sample_function(self.function, (x, y), shape, at.times, self.time_dependent)
        return {"values": found}

    def apply(self, coefficients: Coefficients, u: Array, measure: TokenMeasure) -> Array:
        """g, in the shape of u."""
        return jnp.broadcast_to(coefficients["values"].astype(u.dtype), u.shape)


@discretize_operator.register
def _(operator: Source, grid: Grid) -> DiscreteSource:
    return DiscreteSource(
        operator.function, operator.time_dependent, grid.auxiliary(operator.domain)
    )

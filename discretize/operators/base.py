"""What a discrete operator is."""

import abc
from functools import singledispatch
from typing import TYPE_CHECKING, Any, TypeAlias

import equinox as eqx
from jax import Array
from jaxtyping import Float

from continuum.operators import Operator
from discretize.grids import Grid, UniformGrid
from discretize.operators.measure import TokenMeasure
from discretize.sampling import At

#: A nested dict whose leaves are tables over time (as prepared) or arrays (at one time).
Coefficients: TypeAlias = dict[str, Any]


class DiscreteOperator(eqx.Module):
    """An operator whose integrals are weighted sums over the nodes of grids.

    Two phases: :meth:`coefficients` samples kernels and folds weights in, once for all times;
    :meth:`apply` is the arithmetic on a state.
    """

    if TYPE_CHECKING:  # a type checker would take an AbstractVar for a constructor argument

        @property
        def source(self) -> UniformGrid:
            """What the map reads from."""
            ...

        @property
        def target(self) -> UniformGrid:
            """What the map goes to."""
            ...

    else:
        source: eqx.AbstractVar[UniformGrid]
        target: eqx.AbstractVar[UniformGrid]

    @abc.abstractmethod
    def coefficients(self, at: At) -> Coefficients:
        """Everything that does not depend on u, as tables over ``at.times``."""

    @abc.abstractmethod
    def apply(
        self, coefficients: Coefficients, u: Float[Array, "*batch x y"], measure: TokenMeasure
    ) -> Float[Array, "*batch x z"]:
        """T(u) for coefficients at one time; ``measure`` is the quadrature in x."""


@singledispatch
def discretize_operator(operator: Operator, grid: Grid) -> DiscreteOperator:
    """The discrete operator on ``grid``; register a new operator's rule here."""
    raise TypeError(f"no discretisation is registered for the operator {type(operator).__name__}")

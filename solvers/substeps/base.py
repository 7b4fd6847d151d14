"""What a substep is."""

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import equinox as eqx
from jax import Array

from discretize.operators import TokenMeasure
from discretize.operators.base import Coefficients
from discretize.sampling import At

#: Called with the name and the state of every finished substep, for those who want to look.
Recorder: TypeAlias = Callable[[str, Array], None]


def ignore(name: str, state: Array) -> None:
    """The recorder that records nothing."""
    del name, state


class Substep(eqx.Module):
    """A map u -> u over a time dt, in two phases.

    :meth:`prepare` forms what does not depend on u (effective matrices E + dt W, say) for all
    start times at once; :meth:`advance` is the arithmetic on a state.
    """

    if TYPE_CHECKING:  # a type checker would take an AbstractVar for a constructor argument

        @property
        def name(self) -> str:
            """The name in records."""
            ...

        @property
        def reversible(self) -> bool:
            """Whether a negative dt gives the flow backwards in time."""
            ...

    else:
        name: eqx.AbstractVar[str]
        reversible: eqx.AbstractVar[bool]

    @abc.abstractmethod
    def prepare(self, at: At, dt: float) -> Coefficients:
        """The coefficients of substeps that start at ``at.times`` and last ``dt``."""

    @abc.abstractmethod
    def advance(
        self, coefficients: Coefficients, u: Array, measure: TokenMeasure, record: Recorder
    ) -> Array:
        """The state after the substep; ``record`` is told of it."""

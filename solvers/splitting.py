"""Splittings: which substep runs when, and for how much of the step."""

import dataclasses
from collections.abc import Callable
from typing import TypeAlias

from jax import Array

from discretize.operators import TokenMeasure
from discretize.operators.base import Coefficients
from discretize.sampling import At
from solvers.substeps.base import Recorder, Substep

#: (index of the substep, where in the step it starts, how long it lasts), the last two in units
#: of dt.
Stage: TypeAlias = tuple[int, float, float]


@dataclasses.dataclass(frozen=True)
class Splitting:
    """A composition of substeps over one time step, as data.

    Args:
        name: the field's name of the composition.
        order: its order in dt, for smooth problems and substeps of at least that order.
        stages: number of substeps -> the stages in order of application.
    """

    name: str
    order: int
    stages: Callable[[int], tuple[Stage, ...]]

    def prepare(self, substeps: tuple[Substep, ...], at: At, dt: float) -> Coefficients:
        """The coefficients of every stage for steps that start at ``at.times``."""
        found: Coefficients = {}
        for k, (index, start, length) in enumerate(self.stages(len(substeps))):
            begin = at.times + start * dt
            span = At(begin, at.tokens, within=begin + 0.5 * length * dt)
            found[str(k)] = substeps[index].prepare(span, length * dt)
        return found

    def step(
        self,
        substeps: tuple[Substep, ...],
        coefficients: Coefficients,
        u: Array,
        measure: TokenMeasure,
        record: Recorder,
    ) -> Array:
        """One time step."""
        for k, (index, _, _) in enumerate(self.stages(len(substeps))):
            u = substeps[index].advance(coefficients[str(k)], u, measure, record)
        return u


def _in_turn(count: int) -> tuple[Stage, ...]:
    return tuple((index, 0.0, 1.0) for index in range(count))


def _symmetric(count: int) -> tuple[Stage, ...]:
    there = tuple((index, 0.0, 0.5) for index in range(count - 1))
    back = tuple((index, 0.5, 0.5) for index in reversed(range(count - 1)))
    return (*there, (count - 1, 0.0, 1.0), *back)


#: Every substep in turn, each over the whole step.
IN_TURN = Splitting("in turn", 1, _in_turn)

#: Half steps there, half steps back (Strang, doi:10.1137/0705041).
SYMMETRIC = Splitting("symmetric", 2, _symmetric)

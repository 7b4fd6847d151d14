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
class Branch:
    """Stages one after the other, from the state at the start of the step.

    Args:
        weight: the share of this branch's end state in the new state.
        stages: the stages in order of application.
    """

    weight: float
    stages: tuple[Stage, ...]


@dataclasses.dataclass(frozen=True)
class Splitting:
    """A composition of substeps over one time step, as data: u <- sum_b weight_b branch_b(u).

    Args:
        name: the field's name of the composition.
        order: its order in dt, for smooth problems and substeps of at least that order.
        branches: number of substeps -> the branches; their weights sum to one.
    """

    name: str
    order: int
    branches: Callable[[int], tuple[Branch, ...]]

    def stages(self, count: int) -> tuple[Stage, ...]:
        """The stages of all branches, in the order in which they are computed."""
        return tuple(stage for branch in self.branches(count) for stage in branch.stages)

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
        branches = self.branches(len(substeps))
        ends, k = [], 0
        for branch in branches:
            end = u
            for index, _, _ in branch.stages:
                end = substeps[index].advance(coefficients[str(k)], end, measure, record)
                k += 1
            ends.append(end)
        if len(branches) == 1:
            return ends[0]
        shares = [branch.weight * end for branch, end in zip(branches, ends, strict=True)]
        return sum(shares[1:], start=shares[0])


def _in_turn(count: int) -> tuple[Branch, ...]:
    return (Branch(1.0, tuple((index, 0.0, 1.0) for index in range(count))),)


def _symmetric(count: int) -> tuple[Branch, ...]:
    there = tuple((index, 0.0, 0.5) for index in range(count - 1))
    back = tuple((index, 0.5, 0.5) for index in reversed(range(count - 1)))
    return (Branch(1.0, (*there, (count - 1, 0.0, 1.0), *back)),)


def _in_parallel(count: int) -> tuple[Branch, ...]:
    return tuple(Branch(1.0 / count, ((index, 0.0, float(count)),)) for index in range(count))


#: Every substep in turn, each over the whole step (Lie and Trotter).
IN_TURN = Splitting("in turn", 1, _in_turn)

#: Half steps there, half steps back (Strang, doi:10.1137/0705041).
SYMMETRIC = Splitting("symmetric", 2, _symmetric)

#: The mean of all K substeps, each from the same state and at K times its rate (Lu, Neittaanmaki
#: and Tai, parallel splitting-up): the rate is what keeps the mean consistent.
IN_PARALLEL = Splitting("in parallel", 1, _in_parallel)

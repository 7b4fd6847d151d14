"""Substeps made of substeps."""

import equinox as eqx
from jax import Array

from discretize.operators import TokenMeasure
from discretize.operators.base import Coefficients
from discretize.sampling import At
from solvers.substeps.base import Recorder, Substep, ignore


class Chain(Substep):
    """One substep after the other; with ``whole`` it is recorded as a single one."""

    name: str = eqx.field(static=True)
    children: tuple[Substep, ...]
    whole: bool = eqx.field(static=True, default=False)

    @property
    def reversible(self) -> bool:
        """If every child is."""
        return all(child.reversible for child in self.children)

    def prepare(self, at: At, dt: float) -> Coefficients:
        """Those of the children, by position."""
        return {str(k): child.prepare(at, dt) for k, child in enumerate(self.children)}

    def advance(
        self, coefficients: Coefficients, u: Array, measure: TokenMeasure, record: Recorder
    ) -> Array:
        """The children's maps, first one first."""
        for k, child in enumerate(self.children):
            u = child.advance(coefficients[str(k)], u, measure, ignore if self.whole else record)
        if self.whole:
            record(self.name, u)
        return u


class Rated(Substep):
    """A substep that runs over rate * dt."""

    substep: Substep
    rate: float = eqx.field(static=True)

    @property
    def name(self) -> str:
        """That of the substep."""
        return self.substep.name

    @property
    def reversible(self) -> bool:
        """If the substep is."""
        return self.substep.reversible

    def prepare(self, at: At, dt: float) -> Coefficients:
        """Those of the substep over rate * dt."""
        return self.substep.prepare(at, self.rate * dt)

    def advance(
        self, coefficients: Coefficients, u: Array, measure: TokenMeasure, record: Recorder
    ) -> Array:
        """The substep's map."""
        return self.substep.advance(coefficients, u, measure, record)


class Relaxation(Substep):
    """u <- (1 - omega) u + omega branch(u), the branch running over rate * dt."""

    name: str = eqx.field(static=True)
    branch: Substep
    omega: float = eqx.field(static=True)
    rate: float = eqx.field(static=True)

    @property
    def reversible(self) -> bool:
        """No: the mean with the state at the start has no inverse of its own kind."""
        return False

    def prepare(self, at: At, dt: float) -> Coefficients:
        """Those of the branch at its own rate."""
        return self.branch.prepare(at, self.rate * dt)

    def advance(
        self, coefficients: Coefficients, u: Array, measure: TokenMeasure, record: Recorder
    ) -> Array:
        """The weighted mean of u and the branch's end state."""
        branch = self.branch.advance(coefficients, u, measure, record)
        u = (1.0 - self.omega) * u + self.omega * branch
        record(self.name, u)
        return u


def recorded_names(substep: Substep) -> tuple[str, ...]:
    """The names that the substep's ``advance`` gives to its recorder, in order."""
    if isinstance(substep, Chain) and not substep.whole:
        return tuple(name for child in substep.children for name in recorded_names(child))
    if isinstance(substep, Relaxation):
        return (*recorded_names(substep.branch), substep.name)
    return (substep.name,)

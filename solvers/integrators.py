"""Integrators of single flows: what makes a flow u_t = T(u), perhaps on a set, into a substep."""

from collections.abc import Callable
from typing import TypeAlias

from discretize.operators import DiscreteLinear, DiscreteOperator, DiscreteProjection
from solvers.substeps.base import Substep
from solvers.substeps.exponential import Exponential
from solvers.substeps.runge_kutta import RungeKutta
from solvers.tableaux import RK2, Tableau

#: (name, T, the projection onto the set or None) -> the substep.
Integrator: TypeAlias = Callable[[str, DiscreteOperator, DiscreteProjection | None], Substep]


def runge_kutta(tableau: Tableau) -> Integrator:
    """Every flow by one Runge-Kutta method."""

    def integrate(
        name: str, operator: DiscreteOperator, constraint: DiscreteProjection | None
    ) -> Substep:
        return RungeKutta(name, operator, tableau, constraint)

    return integrate


def exponential(
    name: str, operator: DiscreteOperator, constraint: DiscreteProjection | None
) -> Substep:
    """Linear integral terms by their exponential, every other flow by Heun's method."""
    if isinstance(operator, DiscreteLinear):
        return Exponential(name, operator, constraint)
    return RungeKutta(name, operator, RK2, constraint)

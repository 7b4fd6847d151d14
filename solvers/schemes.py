"""Schemes: how a structure is read as substeps, and how these are composed."""

import dataclasses
from collections.abc import Callable
from functools import partial

from discretize.problem import Problem
from solvers.composition import TRIPLE_JUMP, WHOLE, Parts
from solvers.flows import flows_of, unsplit_of
from solvers.integrators import exponential, runge_kutta
from solvers.splitting import IN_PARALLEL, IN_TURN, SYMMETRIC, Splitting
from solvers.substeps import Substep, consistent_substeps_of, substeps_of
from solvers.tableaux import EULER, RK2, RK4


@dataclasses.dataclass(frozen=True)
class Scheme:
    """A time-stepping scheme.

    Args:
        name: the field's name of the scheme.
        order: the declared order of convergence in dt, for smooth problems.
        splitting: the composition of the substeps.
        read: problem -> its substeps.
        parts: the fractions of dt over which the composition runs, one after the other.
        closed: whether the state is projected onto the constraint set after each step, because the
            splitting's mean of states leaves it.
    """

    name: str
    order: int
    splitting: Splitting
    read: Callable[[Problem], tuple[Substep, ...]]
    parts: Parts = WHOLE
    closed: bool = False

    def substeps(self, problem: Problem) -> tuple[Substep, ...]:
        """The substeps of the problem.

        Raises:
            ValueError: if the problem's structure cannot be read this way, or the scheme needs
                backward substeps and some cannot run backwards.
        """
        found = self.read(problem)
        if self.parts.runs_backwards:
            stuck = [substep.name for substep in found if not substep.reversible]
            if stuck:
                raise ValueError(
                    f"the scheme {self.name!r} takes negative substeps, but {', '.join(stuck)} "
                    "cannot run backwards; use a scheme of order at most 2"
                )
        return found


#: The structure as it is written, forward Euler in every flow: order 1, and at dt = 1 the encoder.
LIE = Scheme("lie", 1, IN_TURN, substeps_of)

#: The same with every relaxation's branch at the rate 1 / omega, which the equation asks for.
LIE_CONSISTENT = Scheme("lie-consistent", 1, IN_TURN, consistent_substeps_of)

#: Strang splitting of flows on S1 (or unconstrained ones), Heun's method in each: order 2.
STRANG = Scheme("strang", 2, SYMMETRIC, partial(flows_of, integrator=runge_kutta(RK2)))

#: The same with exact exponentials for linear integral terms.
STRANG_EXPONENTIAL = Scheme(
    "strang-exponential", 2, SYMMETRIC, partial(flows_of, integrator=exponential)
)

#: The mean of all flows, each from the same state at K times its rate; Heun's method in each.
PARALLEL = Scheme(
    "parallel", 1, IN_PARALLEL, partial(flows_of, integrator=runge_kutta(RK2)), closed=True
)

#: Strang splitting over RK4 substeps, three times with the middle one backwards: order 4.
ORDER4 = Scheme("order4", 4, SYMMETRIC, partial(flows_of, integrator=runge_kutta(RK4)), TRIPLE_JUMP)

_UNSPLIT = tuple(
    Scheme(
        tableau.name,
        tableau.order,
        IN_TURN,
        partial(unsplit_of, integrator=runge_kutta(tableau)),
    )
    for tableau in (EULER, RK2, RK4)
)

#: The schemes by name; a user's own is one more row.
SCHEMES = {
    scheme.name: scheme
    for scheme in (
        LIE,
        LIE_CONSISTENT,
        STRANG,
        STRANG_EXPONENTIAL,
        PARALLEL,
        ORDER4,
        *_UNSPLIT,
    )
}


def scheme_named(scheme: "str | Scheme | None") -> Scheme:
    """The scheme itself, or the one of that name; by default Lie splitting.

    Raises:
        ValueError: for an unknown name.
    """
    if isinstance(scheme, Scheme):
        return scheme
    name = scheme or LIE.name
    if name not in SCHEMES:
        raise ValueError(f"unknown scheme {name!r}; expected one of {', '.join(SCHEMES)}")
    return SCHEMES[name]

"""Schemes: how a structure is read as substeps, and how these are composed."""

import dataclasses
from collections.abc import Callable
from functools import partial

from discretize.problem import Problem
from solvers.splitting import IN_TURN, SYMMETRIC, Splitting
from solvers.substeps import Substep, flows_of, substeps_of
from solvers.tableaux import RK2


@dataclasses.dataclass(frozen=True)
class Scheme:
    """A time-stepping scheme.

    Args:
        name: the field's name of the scheme.
        order: the declared order of convergence in dt, for smooth problems.
        splitting: the composition of the substeps.
        read: problem -> its substeps.
    """

    name: str
    order: int
    splitting: Splitting
    read: Callable[[Problem], tuple[Substep, ...]]


#: The structure as it is written, forward Euler in every flow: order 1, and at dt = 1 the encoder.
LIE = Scheme("lie", 1, IN_TURN, substeps_of)

#: Strang splitting of flows on S1 (or unconstrained ones), Heun's method in each: order 2.
STRANG = Scheme("strang", 2, SYMMETRIC, partial(flows_of, tableau=RK2))

#: The schemes by name; a user's own is one more row.
SCHEMES = {scheme.name: scheme for scheme in (LIE, STRANG)}

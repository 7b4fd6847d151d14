"""Time stepping: substeps, splitting schemes, the one time loop, and :func:`solve`.

A substep maps a state to a state; a splitting orders substeps in one time step and declares the
order of that; :func:`evolve` is the only loop.  Nothing here knows which equation it advances.
"""

import discretize

if getattr(discretize, "DISTRIBUTION", None) != "transformer-continuum":
    raise ImportError(
        "a foreign package named 'discretize' (SimPEG's has this name) was imported from "
        f"{getattr(discretize, '__file__', None) or list(discretize.__path__)}; expected the one "
        "of the distribution transformer-continuum. Uninstall the other one, or use an environment "
        "of its own for this project."
    )

#: The distribution this package belongs to.
DISTRIBUTION = "transformer-continuum"

from solvers.schemes import SCHEMES, Scheme
from solvers.solution import Chunk, NonFiniteError, Solution
from solvers.solve import solve
from solvers.solver import Observable, Solver
from solvers.splitting import Splitting
from solvers.substeps import substeps_of

__all__ = [
    "DISTRIBUTION",
    "SCHEMES",
    "Chunk",
    "NonFiniteError",
    "Observable",
    "Scheme",
    "Solution",
    "Solver",
    "Splitting",
    "solve",
    "substeps_of",
]

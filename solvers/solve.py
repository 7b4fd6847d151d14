"""Advance a problem over its whole depth."""

from typing import Any

import numpy as np

from discretize.encoders.recovered import Recovered
from discretize.problem import Problem
from solvers.schemes import Scheme
from solvers.solution import Solution
from solvers.solver import Solver


def solve(
    problem: Problem | Recovered,
    u0: Any,
    *,
    mask: Any = None,
    num_steps: int | None = None,
    scheme: str | Scheme | None = None,
    save_every: int | None = None,
    substeps: bool = False,
) -> Solution:
    """Advance u from t = 0 to t = T.

    Args:
        problem: a ``Problem``, or a ``Recovered`` encoder.
        u0: the initial state (tokens, features) or (batch, tokens, features), values at the nodes;
            an array or a torch tensor.
        mask: True on valid tokens, shape (tokens,) or (batch, tokens); padding is the part of
            Omega_x that is not integrated over.
        num_steps: time steps over [0, T], dt = T / num_steps; by default the problem's (for a
            recovered encoder its number of layers).
        scheme: a ``Scheme`` or its name; by default Lie splitting of the problem's structure.
        save_every: steps between saved states, a divisor of ``num_steps``; by default only the
            initial and the final state are saved.
        substeps: also return the state after every substep.

    Returns:
        The :class:`Solution`.

    Raises:
        ValueError: for shapes that do not fit, values that are not finite, a mask that hides every
            token of a sample, a scheme that is not known, or step counts that do not divide.
        TypeError: for a state of another dtype than the problem.
    """
    shape = np.shape(u0)
    if len(shape) not in (2, 3):
        raise ValueError(
            f"u0: expected shape (tokens, features) or (batch, tokens, features), got {shape}"
        )
    tokens = shape[-2]
    solver = Solver(problem, tokens=tokens, num_steps=num_steps, scheme=scheme)
    return solver(u0, mask=mask, save_every=save_every, substeps=substeps)

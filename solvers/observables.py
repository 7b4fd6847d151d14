"""What to report of a state after every step."""

import jax.numpy as jnp
from jax import Array

from discretize.grids import UniformGrid
from discretize.operators import DiscreteProjection
from discretize.problem import Problem
from solvers.solver import Observable


def moments(problem: Problem, tokens: UniformGrid) -> dict[str, Observable]:
    """Integral quantities of u: ``mean``, ``norm``, ``energy``, ``minimum`` and ``maximum``.

    ``mean`` is (1 / |Omega|) int u over Omega_x x Omega_y, ``norm`` the root of the mean of u^2,
    ``energy`` = 1/2 int u^2 dx dy.
    """
    features = problem.grid.features
    measure = tokens.domain.measure * features.domain.measure

    def mean(u: Array, t: Array) -> Array:
        return tokens.mean(features.mean(u)[..., 0])[..., 0]

    def norm(u: Array, t: Array) -> Array:
        return jnp.sqrt(mean(u * u, t))

    def energy(u: Array, t: Array) -> Array:
        return 0.5 * measure * mean(u * u, t)

    return {
        "mean": mean,
        "norm": norm,
        "energy": energy,
        "minimum": lambda u, t: jnp.min(u, axis=(-2, -1)),
        "maximum": lambda u, t: jnp.max(u, axis=(-2, -1)),
    }


def violations(problem: Problem) -> dict[str, Observable]:
    """How far u is from each constraint set of the structure, the largest over x.

    Only sets of functions on Omega_y: what a hidden layer satisfies is not a property of u.
    """
    found: dict[str, Observable] = {}
    for term in problem.terms.values():
        if isinstance(term, DiscreteProjection) and term.grid == problem.grid.features:
            found[f"violation_{_SHORT[type(term.constraint).__name__]}"] = _violation(term)
    return found


#: What each observable is, in words.
WORDS = {
    "mean": "mean of u over Omega_x x Omega_y",
    "norm": "root of the mean of u^2",
    "energy": "energy, 1/2 int u^2 dx dy",
    "minimum": "smallest value of u",
    "maximum": "largest value of u",
    "violation_s1": "largest violation of S1, the moment constraint",
    "violation_s2": "largest violation of S2, nonnegativity",
}

_SHORT = {"MomentSet": "s1", "NonnegativeCone": "s2"}


def _violation(term: DiscreteProjection) -> Observable:
    return lambda u, t: jnp.max(term.violation(u), axis=-1)

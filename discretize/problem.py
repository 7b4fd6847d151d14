"""The one map from an equation and a grid to a discrete problem."""

import math
from collections.abc import Mapping

import equinox as eqx
import jax
import numpy as np

from continuum.domains import Domain
from continuum.equations import Equation
from discretize.grids import AtomicGrid, Grid, TokenGrid, UniformGrid
from discretize.operators import DiscreteOperator, discretize_operator


class Problem(eqx.Module):
    """A discretised equation: what a solver advances.

    States are arrays ``(*batch, tokens, features)`` at the nodes of ``grid``.

    Args:
        equation: the equation.
        grid: the grids of x and y.
        terms: the equation's terms as discrete operators, by name.
        observed: the equation's ``observed`` map as a discrete operator, or None.
        num_steps: the default number of time steps over [0, T].
    """

    equation: Equation
    grid: Grid = eqx.field(static=True)
    terms: Mapping[str, DiscreteOperator]
    observed: DiscreteOperator | None
    num_steps: int = eqx.field(static=True)

    @property
    def dtype(self) -> np.dtype:
        """The floating dtype of the equation's arrays; jax's default where it has none."""
        arrays = [leaf.dtype for leaf in jax.tree.leaves(self.equation) if eqx.is_array(leaf)]
        floating = [d for d in arrays if np.issubdtype(d, np.floating)]
        return np.dtype(np.result_type(*floating) if floating else jax.numpy.zeros(()).dtype)

    def refine(self, tokens: int = 1, features: int = 1) -> "Problem":
        """The same equation on the grid refined by whole factors in x and y."""
        grid = self.grid.refine(tokens, features)
        return discretize(self.equation, grid, num_steps=self.num_steps)


def discretize(equation: Equation, grid: Grid, *, num_steps: int | None = None) -> Problem:
    """Discretise ``equation`` in x and y.

    Args:
        equation: the equation.
        grid: the grids of x and y.
        num_steps: the default number of time steps; by default one per unit of depth.

    Returns:
        The problem, ready for ``solvers.solve``.

    Raises:
        ValueError: if the grids are not grids of the equation's domains.
    """
    if grid.features.domain != equation.features:
        raise ValueError(
            f"discretize: expected a feature grid on {equation.features}, got one on "
            f"{grid.features.domain}"
        )
    if not _covers(grid.tokens, equation.tokens):
        found = "[0, N]" if isinstance(grid.tokens, TokenGrid) else grid.tokens.domain
        raise ValueError(
            f"discretize: expected a token grid on {equation.tokens}, got one on {found}"
        )
    if num_steps is None:
        num_steps = max(1, round(equation.horizon))
    if num_steps < 1:
        raise ValueError(f"discretize: expected num_steps >= 1, got {num_steps}")
    terms = {name: discretize_operator(term, grid) for name, term in equation.terms.items()}
    observed = None if equation.observed is None else discretize_operator(equation.observed, grid)
    return Problem(equation, grid, terms, observed, int(num_steps))


def _covers(grid: UniformGrid | AtomicGrid | TokenGrid, domain: Domain) -> bool:
    """Whether the grid is one of the domain, or of a part [0, N] of an unbounded one."""
    if math.isfinite(domain.measure):
        return not isinstance(grid, TokenGrid) and grid.domain == domain
    return isinstance(grid, TokenGrid) or grid.domain.lower == domain.lower

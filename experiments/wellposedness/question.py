"""What is being asked: an equation on a grid, a scheme, and which axes go to zero."""

import dataclasses
from collections.abc import Iterator

import equinox as eqx
import jax
import numpy as np

from continuum import (
    AnalyticField,
    AnalyticKernel,
    CellField,
    CellKernel,
    Equation,
    IntegralAttention,
    MomentSet,
    NonnegativeCone,
    Normalisation,
    Operator,
    Pointwise,
    Projection,
)
from continuum.structure import Apply, Average, Flow, walk
from discretize.problem import Problem
from solvers import Scheme


@dataclasses.dataclass(frozen=True)
class Question:
    """A problem that is to be advanced, perhaps again and again on finer grids.

    Args:
        problem: the discretised equation.
        scheme: the time-stepping scheme.
        dt: the step length, of a study the smallest.
        u0: the initial state.
        mask: True on tokens that count.
        refined: the axes that a study refines: "time", "tokens", "features", "heads".
    """

    problem: Problem
    scheme: Scheme
    dt: float
    u0: np.ndarray
    mask: np.ndarray | None = None
    refined: frozenset[str] = frozenset()

    @property
    def equation(self) -> Equation:
        """The equation."""
        return self.problem.equation

    @property
    def literal(self) -> bool:
        """Whether the scheme reads the structure as it is written, maps and all."""
        return self.scheme.name in ("lie", "lie-consistent")

    def moments(self) -> MomentSet | None:
        """S1, if the structure projects onto it."""
        for _, term in self.maps():
            if isinstance(term, Projection) and isinstance(term.constraint, MomentSet):
                return term.constraint
        return None

    def cones(self) -> tuple[str, ...]:
        """The names of the projections onto S2 in the structure."""
        return tuple(
            name
            for name, term in self.maps()
            if isinstance(term, Projection) and isinstance(term.constraint, NonnegativeCone)
        )

    def maps(self) -> Iterator[tuple[str, Operator]]:
        """The terms without a rate, in order of first use."""
        names = dict.fromkeys(
            node.term for node in walk(self.equation.structure) if isinstance(node, Apply)
        )
        return ((name, self.equation.terms[name]) for name in names)

    def flows(self) -> Iterator[tuple[str, Operator]]:
        """The terms with a rate."""
        names = dict.fromkeys(
            name
            for node in walk(self.equation.structure)
            if isinstance(node, Flow)
            for name in node.terms
        )
        return ((name, self.equation.terms[name]) for name in names)

    def averages(self) -> tuple[Average, ...]:
        """The relaxations of the structure."""
        return tuple(n for n in walk(self.equation.structure) if isinstance(n, Average))

    def parts(self, *kinds: type) -> tuple:
        """All modules of some kinds in the equation's terms."""
        leaves = jax.tree.leaves(self.equation.terms, is_leaf=lambda node: isinstance(node, kinds))
        return tuple(leaf for leaf in leaves if isinstance(leaf, kinds))

    def attentions(self) -> tuple[IntegralAttention, ...]:
        """The attention operators, wherever they stand."""
        return self.parts(IntegralAttention)

    def kinks(self) -> tuple[str, ...]:
        """What in the equation is not smooth in the state, or in x or y."""
        found = []
        if any(part.name == "relu" for part in self.parts(Pointwise)):
            found.append("ReLU")
        if any(isinstance(p.constraint, NonnegativeCone) for p in self.parts(Projection)):
            found.append("the projection onto nonnegative functions")
        if self.parts(CellKernel, CellField):
            found.append("kernels that are constant on cells")
        functions = [part.function for part in self.parts(AnalyticKernel, AnalyticField)]
        found += sorted({rough for rough in map(_rough, functions) if rough})
        return tuple(dict.fromkeys(found))

    def norms(self) -> tuple[tuple[str, Normalisation], ...]:
        """Normalisations that follow a flow."""
        return tuple((n, term) for n, term in self.maps() if isinstance(term, Normalisation))


def _rough(function) -> str | None:
    """The text of an expression that is not smooth."""
    expression = getattr(function, "expression", function)
    if getattr(expression, "smooth", True):
        return None
    return f"the expression {expression.source!r}"


def is_affine(norm: Normalisation) -> bool:
    """Whether a normalisation has a learned scale or shift."""
    return norm.gamma is not None or norm.shift is not None


def arrays(tree) -> bool:
    """Whether a tree holds any array."""
    return any(eqx.is_array(leaf) for leaf in jax.tree.leaves(tree))

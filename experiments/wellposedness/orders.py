"""The order of convergence that may be declared for a refinement."""

import dataclasses
import math

from continuum import Causal, Source
from discretize import UniformGrid
from discretize.quadrature import MIDPOINT, Rule
from experiments.wellposedness.question import Question

#: What half diagonal weight leaves of order 2, by norm: the first tokens see few keys.
_HALF_DIAGONAL = {"l2": 1.5, "max": 1.0}


@dataclasses.dataclass(frozen=True)
class Declared:
    """A declared order.

    Args:
        order: None where none can be declared, infinity for faster than any power.
        reason: why none, or what limits it.
    """

    order: float | None
    reason: str | None = None


def declared_order(question: Question, norm: str = "l2") -> Declared:
    """The smallest order of scheme and rules over the refined axes, where there is one.

    Positivity that acts on the state leaves no order in time (the limit is a catching-up process,
    approached irregularly), except where it is the only map and the flow a given source: that is
    Skorokhod's reflection, of order 1.

    Args:
        question: with the refined axes.
        norm: "l2" or "max".
    """
    orders: list[tuple[float, str]] = []
    if "time" in question.refined:
        if question.cones() and not _is_reflection(question) and _positivity_acts(question):
            return Declared(
                None,
                "positivity is active: the limit is approached irregularly, no order exists",
            )
        orders.append((float(question.scheme.order), f"the scheme {question.scheme.name}"))
    for axis, rule in _rules(question):
        orders.append((float(rule.order), f"the {rule.name} rule in {axis}"))
    if "tokens" in question.refined:
        orders += [_causal_order(a.causal, norm) for a in question.attentions() if a.causal]
    if not orders:
        return Declared(None, "nothing is refined")
    order, reason = min(orders)
    kinks = question.kinks()
    if kinks and order > 2 and not math.isinf(order):
        return Declared(None, f"{reason} needs smooth data, but there is {' and '.join(kinks)}")
    return Declared(order, reason)


def rules_of(question: Question) -> tuple[Rule, ...]:
    """The quadrature rules of the refined axes."""
    return tuple(rule for _, rule in _rules(question))


def _rules(question: Question) -> list[tuple[str, Rule]]:
    grid, found = question.problem.grid, []
    tokens = grid.tokens
    if "tokens" in question.refined and isinstance(tokens, UniformGrid) and question.attentions():
        found += [("x", rule) for rule in tokens.rules]
    if "features" in question.refined:
        found += [("y", rule) for rule in grid.features.rules]
    if "heads" in question.refined:
        found.append(("the heads", grid.head_rule or MIDPOINT))
    return found


def _causal_order(causal: Causal, norm: str) -> tuple[float, str]:
    if causal.diagonal == 0.5:
        return _HALF_DIAGONAL[norm], f"causal attention, half diagonal weight, norm {norm}"
    return 1.0, f"causal attention, diagonal weight {causal.diagonal:g}"


def _is_reflection(question: Question) -> bool:
    return question.moments() is None and all(
        isinstance(term, Source) for _, term in question.flows()
    )


def _positivity_acts(question: Question) -> bool:
    """Whether the initial state touches the boundary of the cone."""
    return float(question.u0.min()) <= 0.0

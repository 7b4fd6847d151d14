"""A problem's structure, read as substeps."""

from collections.abc import Mapping
from functools import reduce

from continuum.structure import (
    Apply,
    Average,
    Flow,
    Sequence,
    Structure,
    with_consistent_rates,
)
from discretize.operators import (
    DiscreteLinear,
    DiscreteNormalisation,
    DiscreteOperator,
    DiscreteSum,
)
from discretize.problem import Problem
from solvers.substeps.base import Substep
from solvers.substeps.compose import Chain, Rated, Relaxation
from solvers.substeps.euler import ForwardEuler, LinearEuler
from solvers.substeps.maps import Map, Normalise


def substeps_of(problem: Problem) -> tuple[Substep, ...]:
    """The top-level substeps of one time step, in order: what a splitting composes.

    A flow becomes forward Euler, a map stays a map, and a normalisation right after a relaxation
    gets the relaxation's scale.
    """
    return _top(problem.equation.structure, problem.terms)


def consistent_substeps_of(problem: Problem) -> tuple[Substep, ...]:
    """The same with every relaxation's branch at the rate 1 / omega, consistent as dt -> 0."""
    return _top(with_consistent_rates(problem.equation.structure), problem.terms)


def _top(root: Structure, terms: Mapping[str, DiscreteOperator]) -> tuple[Substep, ...]:
    children = root.children if isinstance(root, Sequence) else (root,)
    return _read_all(children, terms)


def _read_all(
    nodes: tuple[Structure, ...], terms: Mapping[str, DiscreteOperator], scale: float = 1.0
) -> tuple[Substep, ...]:
    """Read siblings, handing the scale of a relaxation on to the map that follows it."""
    found: list[Substep] = []
    for node in nodes:
        found.append(_read(node, terms, scale))
        scale = closing_scale(node)
    return tuple(found)


def closing_scale(node: Structure) -> float:
    """The factor by which the node leaves u smaller than the residual sum it stands for."""
    if isinstance(node, Sequence):
        return closing_scale(node.children[-1])
    return node.scale if isinstance(node, Average) else 1.0


def _read(node: Structure, terms: Mapping[str, DiscreteOperator], scale: float) -> Substep:
    if isinstance(node, Flow):
        flow = _flow(node, terms)
        return flow if node.rate == 1.0 else Rated(flow, node.rate)
    if isinstance(node, Apply):
        operator = terms[node.term]
        if isinstance(operator, DiscreteNormalisation):
            return Normalise(node.term, operator, scale)
        return Map(node.term, operator)
    if isinstance(node, Average):
        return Relaxation(node.name, _read(node.branch, terms, 1.0), node.omega, node.rate)
    children = _read_all(node.children, terms, scale)
    name = node.name or reduce(lambda a, b: f"{a}, {b}", (child.name for child in children))
    return Chain(name, children, whole=node.name is not None)


def _flow(node: Flow, terms: Mapping[str, DiscreteOperator]) -> Substep:
    operators = [terms[name] for name in node.terms]
    name = " + ".join(node.terms)
    if len(operators) > 1:
        return ForwardEuler(name, DiscreteSum(tuple(operators)))
    if isinstance(operators[0], DiscreteLinear):
        return LinearEuler(name, operators[0])
    return ForwardEuler(name, operators[0])

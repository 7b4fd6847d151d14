"""A problem's structure, read as flows that any Runge-Kutta method may integrate."""

from collections.abc import Mapping

from continuum.constraints import MomentSet
from continuum.structure import Apply, Flow, Sequence, Structure
from discretize.operators import (
    DiscreteNormalisation,
    DiscreteOperator,
    DiscreteProjection,
    DiscreteSum,
)
from discretize.problem import Problem
from solvers.substeps.base import Substep
from solvers.substeps.runge_kutta import RungeKutta
from solvers.tableaux import Tableau


def flows_of(problem: Problem, tableau: Tableau) -> tuple[Substep, ...]:
    """The top-level children of the structure as Runge-Kutta substeps.

    A flow integrates u_t = T(u); a flow followed by the projection onto S1 integrates
    u_t = Pi_u T(u) on S1.  Unlike the literal reading these are consistent to the order of the
    tableau, and they run backwards too.

    Raises:
        ValueError: if the structure has other parts, which have no such flow (a relaxation, the
            nonnegative cone, a normalisation with eps or an affine part).
    """
    root = problem.equation.structure
    children = root.children if isinstance(root, Sequence) else (root,)
    if isinstance(root, Sequence) and _is_stage(root):
        children = (root,)
    return tuple(_flow(child, problem.terms, tableau) for child in children)


def _is_stage(node: Structure) -> bool:
    return (
        isinstance(node, Sequence)
        and len(node.children) == 2
        and isinstance(node.children[0], Flow)
        and isinstance(node.children[1], Apply)
    )


def _flow(node: Structure, terms: Mapping[str, DiscreteOperator], tableau: Tableau) -> RungeKutta:
    if isinstance(node, Flow):
        return RungeKutta(" + ".join(node.terms), _total(node, terms), tableau)
    if isinstance(node, Sequence) and _is_stage(node):
        flow, projection = node.children
        assert isinstance(flow, Flow) and isinstance(projection, Apply)
        name = f"{' + '.join(flow.terms)}, {projection.term}"
        constraint = _moments(projection.term, terms[projection.term])
        return RungeKutta(name, _total(flow, terms), tableau, constraint)
    raise ValueError(
        f"{type(node).__name__} has no flow that a Runge-Kutta substep could integrate: expected "
        "single flows, each alone or followed by the projection onto S1, as in the residual flow "
        "and the pre-norm flow; use the scheme 'lie', which reads the structure literally"
    )


def _total(node: Flow, terms: Mapping[str, DiscreteOperator]) -> DiscreteOperator:
    operators = tuple(terms[name] for name in node.terms)
    return operators[0] if len(operators) == 1 else DiscreteSum(operators)


def _moments(name: str, operator: DiscreteOperator) -> DiscreteProjection:
    if isinstance(operator, DiscreteProjection) and isinstance(operator.constraint, MomentSet):
        return operator
    if isinstance(operator, DiscreteNormalisation):
        if operator.gamma is None and operator.shift is None and operator.eps == 0.0:
            return DiscreteProjection(MomentSet(), operator.grid)
        raise ValueError(
            f"{name}: a normalisation with eps = {operator.eps:g} or an affine part is not a "
            "projection, so its flow has no tangent space; expected eps = 0 and no affine part"
        )
    raise ValueError(
        f"{name}: expected the projection onto S1 after a flow, got {type(operator).__name__}"
    )

"""A problem's structure, read as flows: tendencies that any integrator may advance.

The literal reading (``substeps_of``) takes the structure as it is written.  These readings take it
as what it stands for: u_t = T(u), or u_t = Pi_u T(u) on S1, for each flow or for their sum.
"""

from collections.abc import Mapping

from continuum.constraints import MomentSet, NonnegativeCone
from continuum.structure import Apply, Average, Flow, Sequence, Structure
from discretize.operators import (
    DiscreteMultiple,
    DiscreteNormalisation,
    DiscreteOperator,
    DiscreteProjection,
    DiscreteSum,
)
from discretize.problem import Problem
from solvers.integrators import Integrator
from solvers.substeps.base import Substep


def flows_of(problem: Problem, integrator: Integrator) -> tuple[Substep, ...]:
    """The top-level children of the structure, each as one substep of the integrator.

    A flow integrates u_t = T(u); a flow followed by the projection onto S1 integrates
    u_t = Pi_u T(u) on S1.  Unlike the literal reading these are consistent to the order of the
    integrator, and they run backwards too.

    Raises:
        ValueError: if the structure has other parts, which have no such flow (a relaxation, the
            nonnegative cone, a normalisation with eps or an affine part).
    """
    root = problem.equation.structure
    children = root.children if isinstance(root, Sequence) else (root,)
    if isinstance(root, Sequence) and _is_stage(root):
        children = (root,)
    return tuple(_flow(child, problem.terms, integrator) for child in children)


def unsplit_of(problem: Problem, integrator: Integrator) -> tuple[Substep, ...]:
    """The whole right-hand side as one substep: the method of lines.

    Raises:
        ValueError: see :func:`tendency_of`.
    """
    operator, constraint = tendency_of(problem)
    names = [name for name, term in problem.terms.items() if not _is_map(term)]
    return (integrator(" + ".join(names), operator, constraint),)


def tendency_of(
    problem: Problem, *, inactive: bool = False
) -> tuple[DiscreteOperator, DiscreteProjection | None]:
    """T and the set of the equation u_t = T(u), or u_t = Pi_u T(u), that a structure stands for.

    Flows add up; a relaxation's branch enters at ``omega * rate``.

    Args:
        problem: the problem.
        inactive: read the nonnegative cone as inactive, that is leave it out; whoever asks for
            this must check that the solution stays positive.

    Raises:
        ValueError: if the structure contains a map that no tendency stands for, sets that differ,
            or flows between different domains.
    """
    found: list[tuple[float, str]] = []
    maps: list[str] = []
    _collect(problem.equation.structure, 1.0, found, maps)
    terms = [_multiple(problem.terms[name], rate) for rate, name in found]
    for _, name in found:
        _check_domain(name, problem)
    sets: list[DiscreteProjection] = []
    for name in maps:
        if not (inactive and _is_cone(problem.terms[name])):
            found_set = _moments(name, problem.terms[name])
            if found_set not in sets:
                sets.append(found_set)
    if len(sets) > 1:
        raise ValueError(
            "expected one constraint set for the whole step, got "
            f"{', '.join(str(item.constraint) for item in sets)}"
        )
    total = terms[0] if len(terms) == 1 else DiscreteSum(tuple(terms))
    return total, (sets[0] if sets else None)


def _collect(node: Structure, rate: float, flows: list[tuple[float, str]], maps: list[str]) -> None:
    if isinstance(node, Flow):
        flows.extend((rate * node.rate, name) for name in node.terms)
    elif isinstance(node, Apply):
        maps.append(node.term)
    elif isinstance(node, Average):
        _collect(node.branch, rate * node.limit_rate, flows, maps)
    else:
        for child in node.children:
            _collect(child, rate, flows, maps)


def _multiple(operator: DiscreteOperator, rate: float) -> DiscreteOperator:
    return operator if rate == 1.0 else DiscreteMultiple(operator, rate)


def _check_domain(name: str, problem: Problem) -> None:
    operator = problem.terms[name]
    if operator.source != operator.target:
        raise ValueError(
            f"{name} maps {operator.source.domain} to {operator.target.domain}: a tendency of u "
            "must stay on the domain of u; choose hidden features on Omega_y, or the residual form"
        )


def _is_map(operator: DiscreteOperator) -> bool:
    return isinstance(operator, DiscreteProjection | DiscreteNormalisation)


def _is_cone(operator: DiscreteOperator) -> bool:
    return isinstance(operator, DiscreteProjection) and isinstance(
        operator.constraint, NonnegativeCone
    )


def _is_stage(node: Structure) -> bool:
    return (
        isinstance(node, Sequence)
        and len(node.children) == 2
        and isinstance(node.children[0], Flow)
        and isinstance(node.children[1], Apply)
    )


def _flow(
    node: Structure, terms: Mapping[str, DiscreteOperator], integrator: Integrator
) -> Substep:
    if isinstance(node, Flow):
        return integrator(" + ".join(node.terms), _total(node, terms), None)
    if isinstance(node, Sequence) and _is_stage(node):
        flow, projection = node.children
        assert isinstance(flow, Flow) and isinstance(projection, Apply)
        name = f"{' + '.join(flow.terms)}, {projection.term}"
        constraint = _moments(projection.term, terms[projection.term])
        return integrator(name, _total(flow, terms), constraint)
    raise ValueError(
        f"{type(node).__name__} has no flow that an integrator could advance, forwards or "
        "backwards: expected single flows, each alone or followed by the projection onto S1, as in "
        "the residual flow and the pre-norm flow; use the scheme 'lie', which reads the structure "
        "literally"
    )


def _total(node: Flow, terms: Mapping[str, DiscreteOperator]) -> DiscreteOperator:
    operators = tuple(_multiple(terms[name], node.rate) for name in node.terms)
    return operators[0] if len(operators) == 1 else DiscreteSum(operators)


def _moments(name: str, operator: DiscreteOperator) -> DiscreteProjection:
    if isinstance(operator, DiscreteProjection) and isinstance(operator.constraint, MomentSet):
        return operator
    if isinstance(operator, DiscreteNormalisation):
        plain = operator.gamma is None and operator.shift is None and operator.centred
        if plain and operator.eps == 0.0:
            return DiscreteProjection(MomentSet(), operator.grid)
        raise ValueError(
            f"{name}: a normalisation with eps = {operator.eps:g}, an affine part or without "
            "centring is no projection onto S1, so its flow has no tangent space; expected "
            "eps = 0, no affine part and centring"
        )
    if _is_cone(operator):
        raise ValueError(
            f"{name}: the projection onto the nonnegative cone is a map without a tangent space, "
            "and it cannot run backwards: expected the projection onto S1 after a flow; use the "
            "scheme 'lie'"
        )
    raise ValueError(
        f"{name}: expected the projection onto S1 after a flow, got {type(operator).__name__}"
    )

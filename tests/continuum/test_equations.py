"""Equations and their structure, as data."""

import math

import jax.numpy as jnp
import pytest

from continuum import (
    Apply,
    Average,
    CellField,
    CellKernel,
    Equation,
    Flow,
    IntegralAttention,
    LinearIntegral,
    MomentSet,
    NonnegativeCone,
    Normalisation,
    Projection,
    Sequence,
    interval,
    paper_equation,
    prenorm_flow,
    residual_flow,
)
from continuum.structure import term_names, walk

Y, V = interval(4, "Omega_y"), interval(6, "Omega_v")
HEADS = interval(2, "Omega_h") * interval(2, "Omega_eta")


def linear(source, target, identity=0.0):
    def cells(domain):
        return tuple(int(extent) for extent in domain.extents)

    values = jnp.ones((1, int(source.measure), int(target.measure)))
    kernel = CellKernel(values, source, target, cells(source), cells(target))
    return LinearIntegral(kernel, CellField(values[:, 0], target, cells(target)), identity)


ATTENTION = IntegralAttention(*(linear(Y, HEADS) for _ in range(3)), linear(HEADS, Y))
S1, S2 = Projection(MomentSet(), Y), Projection(NonnegativeCone(), V)
WIDEN, NARROW = linear(Y, V, -1.0), linear(V, Y, -1.0)


def paper(**options):
    dense, activations = (WIDEN, NARROW), (S2,)
    return paper_equation(ATTENTION, dense, activations, S1, S1, **({"horizon": 3.0} | options))


def test_the_paper_equation_has_the_substeps_of_the_paper():
    """M = 4 + J with J = 2: attention, P_S1, dense with P_S2, dense, relaxation, P_S1."""
    equation = paper()
    assert list(equation.terms) == [
        "attention",
        "norm_attention",
        "dense_1",
        "activation_1",
        "dense_2",
        "norm_output",
    ]
    euler, first, relaxation, last = equation.structure.children
    assert (euler, first, last) == (
        Flow(("attention",)),
        Apply("norm_attention"),
        Apply("norm_output"),
    )
    assert (relaxation.omega, relaxation.rate, relaxation.scale) == (0.5, 1.0, 0.5)
    assert relaxation.branch.children == (
        Sequence((Flow(("dense_1",)), Apply("activation_1")), name="dense_1"),
        Flow(("dense_2",)),
    )


def test_one_dense_operator_needs_no_activation():
    equation = paper_equation(ATTENTION, (linear(Y, Y),), (), S1, S1, horizon=1.0)
    assert list(equation.terms) == ["attention", "norm_attention", "dense_1", "norm_output"]


def test_only_the_literal_rate_scales_the_residual_sum():
    """The paper's step ends in (u2 + F) / 2, half the residual sum; at rate 1 / omega in u2 + F."""
    literal, consistent = (paper(rate=rate).structure.children[2] for rate in (1.0, 2.0))
    assert (literal.limit_rate, literal.scale) == (0.5, 0.5)
    assert (consistent.limit_rate, consistent.scale) == (1.0, 1.0)


def test_prenorm_relaxes_at_the_consistent_rate():
    norm = Normalisation(Y, eps=1e-5)
    feedforward = linear(V, Y) @ (S2 @ linear(Y, V))
    plain, relaxed = (
        prenorm_flow(ATTENTION @ norm, feedforward @ norm, horizon=2.0, relaxed=relaxed)
        for relaxed in (False, True)
    )
    assert plain.structure.children == (Flow(("attention",)), Flow(("feedforward",)))
    assert relaxed.structure.children[1].limit_rate == 1.0
    assert relaxed.structure.children[1].branch == Flow(("feedforward",))


def test_the_residual_flow_projects_after_each_tendency():
    equation = residual_flow(ATTENTION, linear(Y, Y), S1, S1, horizon=2.0)
    assert term_names(equation.structure) == (
        "attention",
        "norm_attention",
        "feedforward",
        "norm_output",
    )
    assert equation.observed is None


def test_walk_visits_parents_first_and_in_order_of_application():
    branch = Sequence((Flow(("b",)), Apply("c")))
    tree = Sequence((Flow(("a", "d")), Average(branch), Apply("a")))
    assert [type(node).__name__ for node in walk(tree)] == [
        "Sequence",
        "Flow",
        "Average",
        "Sequence",
        "Flow",
        "Apply",
        "Apply",
    ]
    assert term_names(tree) == ("a", "d", "b", "c")


BAD = {
    "a term that is missing": (
        lambda: Equation("e", {"a": S1}, Sequence((Apply("a"), Apply("b"))), Y, 1.0),
        r"Equation 'e': the structure uses the terms \['a', 'b'\], but the terms given are \['a'\]",
    ),
    "a term that is never used": (
        lambda: Equation("e", {"a": S1, "b": S1}, Apply("a"), Y, 1.0),
        r"uses the terms \['a'\], but the terms given are \['a', 'b'\]",
    ),
    "no depth": (lambda: paper(horizon=0.0), "expected a finite horizon > 0, got 0.0"),
    "endless depth": (lambda: paper(horizon=math.inf), "expected a finite horizon > 0, got inf"),
    "depth that is no number": (lambda: paper(horizon=math.nan), "finite horizon > 0, got nan"),
    "too few activations": (
        lambda: paper_equation(ATTENTION, (WIDEN, NARROW), (), S1, S1, horizon=1.0),
        "J >= 1 dense operators and J - 1 activations, got 2 and 0",
    ),
    "no dense operator": (
        lambda: paper_equation(ATTENTION, (), (), S1, S1, horizon=1.0),
        "got 0 and 0",
    ),
    "a flow of nothing": (lambda: Flow(()), "Flow: expected at least one term, got none"),
    "omega 0": (lambda: Average(Flow(("a",)), omega=0.0), "0 < omega <= 1, got omega=0.0"),
    "omega above 1": (lambda: Average(Flow(("a",)), omega=1.5), "0 < omega <= 1, got omega=1.5"),
    "rate 0": (lambda: Average(Flow(("a",)), rate=0.0), "rate > 0 and scale > 0, got 0.0 and 1.0"),
    "scale below 0": (lambda: Average(Flow(("a",)), scale=-1.0), "scale > 0, got 1.0 and -1.0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_equations_are_refused(case):
    build, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        build()

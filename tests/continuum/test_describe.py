"""describe(equation): the mathematics that must be readable in it."""

import jax.numpy as jnp
import pytest

from continuum import (
    AnalyticField,
    AnalyticKernel,
    BasisField,
    BasisKernel,
    Causal,
    CellField,
    CellKernel,
    IntegralAttention,
    LayeredKernel,
    LinearIntegral,
    MomentSet,
    NonnegativeCone,
    Normalisation,
    Pointwise,
    Projection,
    SeparableKernel,
    describe,
    interval,
    paper_equation,
    parse,
    prenorm_flow,
    residual_flow,
)
from continuum.operators import Affine

Y, V = interval(4, "Omega_y"), interval(6, "Omega_v")
HEADS = interval(2, "Omega_h") * interval(2, "Omega_eta")


def linear(source, target, identity=0.0, depth=1):
    def cells(domain):
        return tuple(int(extent) for extent in domain.extents)

    values = jnp.ones((depth, int(source.measure), int(target.measure)))
    kernel = CellKernel(values, source, target, cells(source), cells(target))
    return LinearIntegral(kernel, CellField(values[:, 0], target, cells(target)), identity)


ATTENTION = IntegralAttention(*(linear(Y, HEADS, depth=3) for _ in range(3)), linear(HEADS, Y))


def field():
    return CellField(jnp.ones((1, 4)), Y)


def paper(moments, **options):
    norm = Projection(moments, Y)
    return paper_equation(
        ATTENTION,
        (linear(Y, V, -1.0), linear(V, Y, -1.0)),
        (Projection(NonnegativeCone(), V),),
        norm,
        norm,
        **({"horizon": 3.0} | options),
    )


def lines_of(equation):
    return [line.strip() for line in describe(equation).splitlines()]


def assert_in_order(lines, expected):
    """Every expected line is there, whole, and they come in this order."""
    positions = [lines.index(line) for line in expected]
    assert positions == sorted(positions)


def assert_names_every_term(equation):
    """Each term has a line that starts with its name and goes on with its definition."""
    for name in equation.terms:
        assert any(line.split()[0] == name and len(line.split()) > 1 for line in lines_of(equation))


def test_the_paper_equation_is_printed_as_in_the_paper():
    equation = paper(MomentSet(1.0, 0.3))
    assert_names_every_term(equation)
    assert_in_order(
        lines_of(equation),
        [
            "equation 'split'",
            "domains    Omega_x = [0, N], Omega_y = [0, 4], t in [0, 3]",
            "evolution  u_t = A(u) + (W_1 u + b_1) + (W_2 u + b_2) - dI_S1(1,0.3)(u) - dI_S2(u),"
            "  u(., ., 0) = f",
            "gamma = exp s / int exp s dmu(x'), s(x, x~) = c int Q(x) K(x~) deta, c = 0.707107",
            "heads x features of a head: Omega_h x Omega_eta = [0, 2] x [0, 2]; "
            "Q, K, V: constant on 4 x 4 cells, 3 in t",
            "norm_attention  P_S1(u) = 0.3 (u - alpha) / sqrt(beta) + 1, "
            "alpha, beta mean and variance over y",
            "S1 = {mean u = 1, mean (u - 1)^2 = 0.3^2}",
            "dense_1         W u + b = int k(xi, y, t) u(x, xi) dxi -1 E u + b",
            "k: constant on 4 x 6 cells on Omega_y = [0, 4] x (Omega_v = [0, 6]); "
            "b: constant on 6 cells; E: inclusion of the source into the target domain",
            "activation_1    P_S2(u) = max(u, 0)",
            "S2 = {u >= 0}",
            "one step of length dt",
            "u <- u + dt (attention)(u)",
            "u <- norm_attention(u)",
            "v = u",
            "v <- v + dt (dense_1)(v)",
            "v <- activation_1(v)",
            "v <- v + dt (dense_2)(v)",
            "u <- 0.5 u + 0.5 v",
            "u <- norm_output(u)",
            "note       as dt -> 0 the branch of the relaxation enters at rate 0.5 "
            "(the literal step of the paper)",
        ],
    )


def test_the_usual_targets_come_with_a_warning_that_no_solution_exists():
    warnings = [line for line in lines_of(paper(MomentSet(0.0, 1.0))) if "no solution" in line]
    assert len(warnings) == 1
    assert warnings[0].startswith("note")
    assert "mean 0 and deviation 1: the sets are disjoint" in warnings[0]
    assert "no solution" not in describe(paper(MomentSet(1.0, 0.3)))


def test_the_consistent_rate_is_printed_and_needs_no_note():
    lines = lines_of(paper(MomentSet(1.0, 0.3), rate=2.0))
    assert "v <- v + 2 dt (dense_1)(v)" in lines
    assert not any("enters at rate" in line for line in lines)


def test_the_residual_flow_prints_both_variables():
    unit = Normalisation(Y, eps=1e-5)
    affine = Affine(field(), field(), -1.0)
    inside = Affine(field(), field())
    equation = residual_flow(
        affine + ATTENTION @ inside, linear(Y, Y), unit, unit, horizon=2.0, observed=inside
    )
    assert_names_every_term(equation)
    assert_in_order(
        lines_of(equation),
        [
            "equation 'residual'",
            "evolution  z_t = (gamma -1)(y, t) z + beta(y, t) + A(gamma(y, t) z + beta(y, t)) "
            "+ (W_feedforward z + b_feedforward) [norm_attention: N(z)] [norm_output: N(z)],"
            "  z(., ., 0) = f",
            "state      u = gamma(y, t) z + beta(y, t), z is advanced",
            "norm_attention  N(u) = (u - alpha) / sqrt(beta + 1e-05)",
            "z <- z + dt (attention)(z)",
            "z <- norm_attention(z)",
            "z <- z + dt (feedforward)(z)",
            "z <- norm_output(z)",
        ],
    )


@pytest.mark.parametrize("relaxed", [False, True])
def test_prenorm_prints_the_norm_inside_the_terms(relaxed):
    norm = Normalisation(Y, field(), field(), 1e-12)
    feedforward = linear(V, Y) @ (Pointwise("gelu", V) @ linear(Y, V))
    equation = prenorm_flow(ATTENTION @ norm, feedforward @ norm, horizon=2.0, relaxed=relaxed)
    assert_names_every_term(equation)
    second = (
        ["v = u", "v <- v + 2 dt (feedforward)(v)", "u <- 0.5 u + 0.5 v"]
        if relaxed
        else ["u <- u + dt (feedforward)(u)"]
    )
    assert_in_order(
        lines_of(equation),
        [
            "evolution  u_t = A(N(u)) + int k(xi, y, t) [gelu(int k(xi, y, t) [N(u)](x, xi) dxi "
            "+ b)](x, xi) dxi + b,  u(., ., 0) = f",
            "attention    A(N(u))",
            "N(u) = gamma(y, t) (u - alpha) / sqrt(beta + 1e-12) + shift(y, t)",
            "an affine map after it: not a projection",
            "u <- u + dt (attention)(u)",
            *second,
        ],
    )
    assert "note" not in describe(equation)  # the state is not constrained: nothing to warn of


def test_newer_kinds_of_kernels_are_told_apart():
    ones = jnp.ones((3, 4, 4))
    formula = AnalyticKernel(parse("sin(xi)*y", ("xi", "y", "t")), Y, Y, time_dependent=False)
    kinds = {
        "k: sin(xi)*y on": formula,
        "k: fourier x legendre, 4 x 4 coefficients, 3 in t, linear between on": BasisKernel(
            ones, Y, Y, "fourier", "legendre", degree=1
        ),
        "k: constant on 4 x 4 cells, 3 in t, linear between on": CellKernel(ones, Y, Y, degree=1),
        "k: layers of: sin(xi)*y; constant on 4 x 4 cells, 2 in t on": LayeredKernel(
            (formula, CellKernel(ones[:1], Y, Y))
        ),
    }
    for expected, kernel in kinds.items():
        bias = BasisField(ones[:1, 0], Y, "chebyshev")
        text = describe(prenorm_flow(*[LinearIntegral(kernel, bias)] * 2, horizon=1.0))
        assert expected in text
        assert "b: chebyshev, 4 coefficients" in text


def test_a_causal_attention_says_so():
    parts = [getattr(ATTENTION, part) for part in ("query", "key", "value", "output")]
    causal = IntegralAttention(*parts, causal=Causal(0.5))
    lines = lines_of(prenorm_flow(causal, linear(Y, Y), horizon=1.0))
    assert "causal: the integrals run over x~ <= x, the node x~ = x weighs 0.5" in lines
    assert "causal" not in describe(prenorm_flow(ATTENTION, linear(Y, Y), horizon=1.0))


def test_kinds_of_kernels_are_told_apart():
    factor = AnalyticField(lambda y, t: y, Y, time_dependent=False)
    analytic = LinearIntegral(AnalyticKernel(lambda xi, y, t: xi * y * t, Y, Y), factor)
    separable = LinearIntegral(SeparableKernel((factor,) * 3, (factor,) * 3))
    text = describe(prenorm_flow(analytic, separable, horizon=1.0))
    assert "k: analytic in t on" in text
    assert "b: analytic, constant in t" in text
    assert "k: separable, rank 3 on" in text

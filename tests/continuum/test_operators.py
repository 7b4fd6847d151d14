"""Operators: which domains fit together, and what is refused."""

import math

import jax.numpy as jnp
import pytest

from continuum import (
    Affine,
    CellField,
    CellKernel,
    Composition,
    IntegralAttention,
    LinearIntegral,
    MomentSet,
    NonnegativeCone,
    Normalisation,
    Pointwise,
    Projection,
    Sum,
    interval,
)

Y, V = interval(4, "Omega_y"), interval(6, "Omega_v")
HEADS = interval(2, "Omega_h") * interval(3, "Omega_eta")


def linear(source, target, bias_on=None):
    def cells(domain):
        return tuple(int(extent) for extent in domain.extents)

    values = jnp.ones((1, int(source.measure), int(target.measure)))
    bias = None
    if bias_on is not None:
        bias = CellField(jnp.ones((1, int(bias_on.measure))), bias_on, cells(bias_on))
    return LinearIntegral(CellKernel(values, source, target, cells(source), cells(target)), bias)


def field(domain):
    return CellField(jnp.ones((1, int(domain.measure))), domain)


def attention(**changed):
    parts = {part: linear(Y, HEADS) for part in ("query", "key", "value")}
    return IntegralAttention(**({**parts, "output": linear(HEADS, Y)} | changed))


def test_operators_know_where_they_read_and_write():
    assert (linear(Y, V).source, linear(Y, V).target) == (Y, V)
    assert (attention().source, attention().target) == (Y, Y)
    assert attention(output=linear(HEADS, V)).target == V
    assert Affine(field(Y), field(Y)).target == Y
    for operator in (
        Projection(NonnegativeCone(), V),
        Projection(MomentSet(), V),
        Normalisation(V),
        Pointwise("gelu", V),
    ):
        assert (operator.source, operator.target) == (V, V)


def test_composition_runs_the_right_factor_first():
    first, second = linear(Y, V), linear(V, Y)
    composed = second @ first
    assert isinstance(composed, Composition) and composed.stages == (first, second)
    assert (composed.source, composed.target) == (Y, Y)
    total = composed + attention()
    assert isinstance(total, Sum) and total.terms[0] is composed
    assert (total.source, total.target) == (Y, Y)


@pytest.mark.parametrize(("scale", "divisor"), [(None, math.sqrt(3.0)), (1.0, 1.0), (0.25, 4.0)])
def test_the_scale_is_that_of_the_head_unless_given(scale, divisor):
    assert attention(scale=scale).divisor == divisor


BAD = {
    "query without a head coordinate": (
        lambda: attention(query=linear(Y, V)),
        r"query that maps to Omega_h x Omega_eta, a domain of dimension 2, got Omega_v = \[0, 6\]",
    ),
    "key of another head size": (
        lambda: attention(key=linear(Y, HEADS * interval(1, "o"))),
        r"expected the key to map Omega_y = \[0, 4\] to Omega_h x Omega_eta = \[0, 2\] x \[0, 3\], "
        r"got Omega_y = \[0, 4\] to Omega_h x Omega_eta x o",
    ),
    "value of another source": (
        lambda: attention(value=linear(V, HEADS)),
        r"expected the value to map Omega_y .* got Omega_v",
    ),
    "output that reads something else": (
        lambda: attention(output=linear(V, Y)),
        r"expected an output that reads Omega_h x Omega_eta = .* got Omega_v = \[0, 6\]",
    ),
    "scale of zero": (lambda: attention(scale=0.0), "expected a finite scale > 0, got 0.0"),
    "scale that is no number": (
        lambda: attention(scale=math.nan),
        "expected a finite scale > 0, got nan",
    ),
    "bias elsewhere": (
        lambda: linear(Y, V, bias_on=Y),
        r"expected a bias on Omega_v = \[0, 6\], got Omega_y = \[0, 4\]",
    ),
    "affine on two domains": (
        lambda: Affine(field(Y), field(V)),
        r"expected gamma and beta on one domain, got Omega_y = \[0, 4\] and Omega_v = \[0, 6\]",
    ),
    "negative eps": (lambda: Normalisation(Y, eps=-1e-5), "expected a finite eps >= 0, got -1e-05"),
    "eps that is no number": (lambda: Normalisation(Y, eps=math.nan), "eps >= 0, got nan"),
    "infinite eps": (lambda: Normalisation(Y, eps=math.inf), "eps >= 0, got inf"),
    "gamma elsewhere": (
        lambda: Normalisation(Y, gamma=field(V)),
        r"expected gamma on Omega_y = \[0, 4\], got Omega_v = \[0, 6\]",
    ),
    "shift elsewhere": (lambda: Normalisation(Y, shift=field(V)), "expected shift on Omega_y"),
    "unknown activation": (
        lambda: Pointwise("mish", Y),
        "unknown activation 'mish'; expected one of gelu, gelu_tanh, relu, silu, tanh",
    ),
    "composition with a gap": (
        lambda: linear(Y, V) @ linear(Y, V),
        r"a stage maps to Omega_v = \[0, 6\], but the next one reads Omega_y = \[0, 4\]",
    ),
    "sum of different maps": (
        lambda: linear(Y, Y) + linear(Y, V),
        r"expected operators Omega_y = \[0, 4\] -> Omega_y = \[0, 4\], got .* -> Omega_v",
    ),
    "empty sum": (lambda: Sum(()), "at least one operator, got none"),
    "empty composition": (lambda: Composition(()), "at least one operator, got none"),
}


@pytest.mark.parametrize("case", BAD)
def test_parts_that_do_not_fit_are_refused(case):
    build, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        build()

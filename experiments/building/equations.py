"""Equations: one function for each form, in a table."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from continuum import (
    Apply,
    Causal,
    CellField,
    Domain,
    Equation,
    Flow,
    IntegralAttention,
    LinearIntegral,
    MomentSet,
    NonnegativeCone,
    Normalisation,
    Operator,
    Pointwise,
    Projection,
    Sequence,
    Source,
    paper_equation,
    prenorm_flow,
    residual_flow,
)
from experiments.building.kernels import build_field, build_kernel
from experiments.building.setting import Setting
from experiments.config.equation import (
    Dense,
    FlowEquation,
    Linear,
    Moments,
    PaperEquation,
    PrenormEquation,
    ResidualEquation,
)
from experiments.config.locate import KeyPath
from experiments.config.slots import token_variables


def build_equation(setting: Setting) -> Equation:
    """The equation of a config.

    Args:
        setting: the config and the precision.
    """
    assert setting.config.equation is not None
    return FORMS[type(setting.config.equation)](setting.config.equation, setting)


def _paper(form: PaperEquation, setting: Setting) -> Equation:
    count = len(form.dense)
    norms = [_norm(form.moments, form.eps, setting) for _ in range(2)]
    return paper_equation(
        _attention(form.attention, setting),
        _dense(form, setting),
        [_activation(form.activation, setting) for _ in range(count - 1)],
        *norms,
        horizon=form.horizon,
        omega=form.omega,
        rate=_rate(form),
        tokens=setting.tokens,
        name="paper",
    )


def _rate(form: PaperEquation) -> float:
    named = {"literal": 1.0, "consistent": 1.0 / form.omega}
    return named[form.rate] if isinstance(form.rate, str) else form.rate


def _residual(form: ResidualEquation, setting: Setting) -> Equation:
    return residual_flow(
        _attention(form.attention, setting),
        _feedforward(form, setting),
        _norm(form.moments, form.eps, setting),
        _norm(form.moments, form.eps, setting),
        horizon=form.horizon,
        tokens=setting.tokens,
    )


def _prenorm(form: PrenormEquation, setting: Setting) -> Equation:
    norm = Normalisation(setting.features, eps=form.eps)
    return prenorm_flow(
        _attention(form.attention, setting) @ norm,
        _feedforward(form, setting) @ norm,
        horizon=form.horizon,
        tokens=setting.tokens,
    )


def _flow(form: FlowEquation, setting: Setting) -> Equation:
    terms: dict[str, Operator] = {}
    if form.attention is not None:
        terms["attention"] = _attention(form.attention, setting)
    for j, operator in enumerate(_dense(form, setting), start=1):
        terms[f"dense_{j}"] = operator
    if form.source is not None:
        terms["source"] = build_source(form.source.expression, setting)
    return flow_equation(terms, form, setting)


def flow_equation(terms: Mapping[str, Operator], form: FlowEquation, setting: Setting) -> Equation:
    """Every term a flow of its own, each followed by the projections of the form.

    Args:
        terms: the terms, in order.
        form: tells horizon and projections.
        setting: tells the domains.
    """
    maps: dict[str, Operator] = {}
    if form.moments is not None:
        maps["s1"] = Projection(_set(form.moments), setting.features)
    if form.nonnegative:
        maps["s2"] = Projection(NonnegativeCone(), setting.features)
    after = tuple(Apply(name) for name in maps)
    flows = [Flow((name,)) for name in terms]
    children = tuple(Sequence((flow, *after)) if after else flow for flow in flows)
    return Equation(
        "flow",
        {**terms, **maps},
        Sequence(children),
        setting.features,
        form.horizon,
        setting.tokens,
    )


#: How each form is built; a form of your own is one more row.
FORMS: Mapping[type, Callable[[Any, Setting], Equation]] = {
    PaperEquation: _paper,
    ResidualEquation: _residual,
    PrenormEquation: _prenorm,
    FlowEquation: _flow,
}


def _attention(part: Any, setting: Setting) -> IntegralAttention:
    path: KeyPath = ("equation", "attention")
    features, heads = setting.features, setting.heads
    query, key, value = (
        _linear(getattr(part, name), (*path, name), features, heads, setting)
        for name in ("query", "key", "value")
    )
    return IntegralAttention(
        query,
        key,
        value,
        _linear(part.output, (*path, "output"), heads, features, setting),
        scale=part.scale,
        causal=None if part.causal is None else Causal(part.causal.diagonal),
    )


def _linear(
    part: Linear | Dense,
    path: KeyPath,
    source: Domain,
    target: Domain,
    setting: Setting,
    identity: float = 0.0,
) -> LinearIntegral:
    bias = None
    if part.bias is not None:
        bias = build_field(part.bias, (*path, "bias"), target, setting)
    kernel = build_kernel(part.kernel, (*path, "kernel"), source, target, setting)
    return LinearIntegral(kernel, bias, identity)


def _dense(form: Any, setting: Setting) -> list[LinearIntegral]:
    """The dense operators, from Omega_y through the hidden domain and back."""
    last = len(form.dense) - 1
    inner = setting.features if isinstance(form, FlowEquation) else setting.hidden
    ends = [setting.features, *[inner] * last, setting.features]
    return [
        _linear(part, ("equation", "dense", j), ends[j], ends[j + 1], setting, part.identity)
        for j, part in enumerate(form.dense)
    ]


def _feedforward(form: ResidualEquation | PrenormEquation, setting: Setting) -> Operator:
    first, second = _dense(form, setting)
    return second @ (_activation(form.activation, setting) @ first)


def _activation(name: str, setting: Setting) -> Operator:
    """Relu is the projection onto S2, as in the paper."""
    if name == "relu":
        return Projection(NonnegativeCone(), setting.hidden)
    return Pointwise(name, setting.hidden)


def _norm(moments: Moments, eps: float, setting: Setting) -> Operator:
    """The projection onto S1, or with eps > 0 the normalisation that is nearly one."""
    domain = setting.features
    if eps == 0.0:
        return Projection(_set(moments), domain)
    if (moments.mean, moments.deviation) == (0.0, 1.0):
        return Normalisation(domain, eps=eps)
    gamma, shift = (
        CellField(np.full((1, 1), value, setting.dtype), domain)
        for value in (moments.deviation, moments.mean)
    )
    return Normalisation(domain, gamma, shift, eps)


def _set(moments: Moments) -> MomentSet:
    return MomentSet(moments.mean, moments.deviation)


def build_source(text: str, setting: Setting) -> Source:
    """The source g(x, y, t) of an expression in x (or x1, x2), y and t."""
    names = (*token_variables(setting.config), "y", "t")
    function, varies = setting.function(text, names, (setting.tokens.dimension, 1))
    return Source(function, setting.features, varies)

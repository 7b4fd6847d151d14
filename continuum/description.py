"""Equations in readable mathematics."""

from collections.abc import Callable
from functools import singledispatch
from typing import TypeAlias

from jax import Array

from continuum.constraints import MomentSet, NonnegativeCone, compatible
from continuum.equations import Equation
from continuum.expressions import Expression
from continuum.kernels import (
    AnalyticField,
    AnalyticKernel,
    BasisField,
    BasisKernel,
    CellField,
    CellKernel,
    Field,
    Kernel,
    LayeredField,
    LayeredKernel,
    LowRankKernel,
    SeparableKernel,
)
from continuum.operators import (
    Affine,
    Composition,
    IntegralAttention,
    LinearIntegral,
    Normalisation,
    Operator,
    Pointwise,
    Product,
    Projection,
    Source,
    Sum,
)
from continuum.structure import Apply, Average, Flow, Structure, walk

_Deep: TypeAlias = (
    BasisField | BasisKernel | CellField | CellKernel | LayeredField | LayeredKernel | LowRankKernel
)


def describe(equation: Equation) -> str:
    """The equation, its terms and one time step, as lines of text.

    Args:
        equation: any equation.

    Returns:
        Several lines: domains, the evolution equation, each term with its kernels, the splitting
        step, and remarks on well-posedness where they apply.
    """
    lines = [
        f"equation {equation.name!r}",
        f"  domains    {equation.tokens}, {equation.features}, t in [0, {equation.horizon:g}]",
        f"  evolution  {_evolution(equation)}",
    ]
    if equation.observed is not None:
        lines.append(f"  state      u = {formula(equation.observed, 'z')}, z is advanced")
    lines.append("  terms")
    width = max(len(name) for name in equation.terms)
    for name, operator in equation.terms.items():
        first, *rest = definition(operator)
        lines.append(f"    {name:<{width}}  {first}")
        lines.extend(f"    {'':<{width}}  {line}" for line in rest)
    lines.append("  one step of length dt")
    lines.extend(f"    {line}" for line in _steps(equation.structure, _variable(equation), 1.0))
    lines.extend(f"  note       {remark}" for remark in _remarks(equation))
    return "\n".join(lines)


@singledispatch
def formula(operator: Operator, argument: str) -> str:
    """The operator applied to ``argument``, in one short expression."""
    raise TypeError(f"no formula is registered for {type(operator).__name__}")


@formula.register
def _(operator: LinearIntegral, argument: str) -> str:
    shift = "" if operator.identity == 0.0 else f" {operator.identity:+g} E {argument}"
    bias = "" if operator.bias is None else " + b"
    argument = _bracketed(argument)
    return f"int k(xi, y, t) {argument}(x, xi) dxi{shift}{bias}"


@formula.register
def _(operator: IntegralAttention, argument: str) -> str:
    del operator
    return f"A({argument})"


@formula.register
def _(operator: Affine, argument: str) -> str:
    factor = "gamma" if operator.identity == 0.0 else f"(gamma {operator.identity:+g})"
    return f"{factor}(y, t) {_bracketed(argument)} + beta(y, t)"


def _bracketed(argument: str) -> str:
    return argument if argument.isidentifier() else f"[{argument}]"


@formula.register
def _(operator: Projection, argument: str) -> str:
    return f"P_{_set_name(operator.constraint)}({argument})"


@formula.register
def _(operator: Normalisation, argument: str) -> str:
    del operator
    return f"N({argument})"


@formula.register
def _(operator: Pointwise, argument: str) -> str:
    return f"{operator.name}({argument})"


@formula.register
def _(operator: Source, argument: str) -> str:
    del argument
    return "g(x, y, t)" if operator.time_dependent else "g(x, y)"


@formula.register
def _(operator: Sum, argument: str) -> str:
    return " + ".join(formula(term, argument) for term in operator.terms)


@formula.register
def _(operator: Product, argument: str) -> str:
    return " * ".join(f"[{formula(factor, argument)}]" for factor in operator.factors)


@formula.register
def _(operator: Composition, argument: str) -> str:
    for stage in operator.stages:
        argument = formula(stage, argument)
    return argument


@singledispatch
def definition(operator: Operator) -> list[str]:
    """Lines that define the operator: formula first, then kernels and data."""
    return [formula(operator, "u")]


@definition.register
def _(operator: LinearIntegral) -> list[str]:
    kinds = [f"k: {_kind(operator.kernel)} on {operator.source} x ({operator.target})"]
    if operator.bias is not None:
        kinds.append(f"b: {_kind(operator.bias)}")
    if operator.identity != 0.0:
        kinds.append("E: inclusion of the source into the target domain")
    return [f"W u + b = {formula(operator, 'u')}", "; ".join(kinds)]


@definition.register
def _(operator: IntegralAttention) -> list[str]:
    heads = operator.query.target
    return [
        "A(u)(x, y) = int_{Omega_h x Omega_eta} W^O int_{Omega_x} gamma(x, x~) V(x~) dmu(x~) + b^O",
        "gamma = exp s / int exp s dmu(x'), s(x, x~) = c int Q(x) K(x~) deta, "
        f"c = {1.0 / operator.divisor:.6g}",
        f"heads x features of a head: {heads}; Q, K, V: {_map_kind(operator.query)}",
        *_positions(operator),
    ]


def _map_kind(operator: Operator) -> str:
    """A few words on the kernel of a linear map, or the formula of another one."""
    if isinstance(operator, LinearIntegral):
        return _kind(operator.kernel)
    return formula(operator, "u")


def _positions(operator: IntegralAttention) -> list[str]:
    """Lines on whatever depends on positions, and on shared heads."""
    lines, causal = [], operator.causal
    if causal is not None:
        region = "x~ <= x" if causal.coordinate == "point" else "cell(x~) <= cell(x)"
        where = "node x~ = x" if causal.coordinate == "point" else "cell of x"
        lines.append(
            f"causal: the integrals run over {region}, the {where} weighs {causal.diagonal:g}"
        )
    if operator.rotary is not None:
        lines.append(
            f"rotary: Q and K turned in {operator.rotary.pairs} pairs of features by "
            f"{_place(operator.rotary.coordinate)} omega_k"
        )
    if operator.bias is not None:
        lines.append(
            f"s has the further term b(p(x~) - p(x)), a {type(operator.bias).__name__}, "
            f"p = {_place(operator.bias.coordinate)}"
        )
    if operator.groups > 1:
        lines.append(f"grouped: {operator.groups} heads share one K and V")
    return lines


def _place(coordinate: str) -> str:
    return "cell(x)" if coordinate == "cell" else "(x - 1/2)"


@definition.register
def _(operator: Projection) -> list[str]:
    constraint = operator.constraint
    if isinstance(constraint, MomentSet):
        return [
            f"P_S1(u) = {constraint.deviation:g} (u - alpha) / sqrt(beta) + {constraint.mean:g}, "
            "alpha, beta mean and variance over y",
            f"S1 = {{mean u = {constraint.mean:g}, mean (u - {constraint.mean:g})^2 = "
            f"{constraint.deviation:g}^2}}",
        ]
    return ["P_S2(u) = max(u, 0)", "S2 = {u >= 0}"]


@definition.register
def _(operator: Normalisation) -> list[str]:
    scale = "" if operator.gamma is None else "gamma(y, t) "
    moment = "mean u^2" if not operator.centred else "beta"
    centred = "(u - alpha)" if operator.centred else "u"
    shift = "" if operator.shift is None else " + shift(y, t)"
    affine = [] if operator.gamma is None else ["an affine map after it: not a projection"]
    return [f"N(u) = {scale}{centred} / sqrt({moment} + {operator.eps:g}){shift}", *affine]


@definition.register
def _(operator: Source) -> list[str]:
    return [f"g: {_analytic(operator.function, operator.time_dependent)}"]


@definition.register
def _(operator: Composition) -> list[str]:
    lines = [formula(operator, "u")]
    return lines + [line for stage in operator.stages for line in _nested(stage)]


@definition.register
def _(operator: Product) -> list[str]:
    factors = [line for factor in operator.factors for line in _nested(factor)]
    return [formula(operator, "u"), *factors]


@definition.register
def _(operator: Sum) -> list[str]:
    return [formula(operator, "u")] + [line for term in operator.terms for line in _nested(term)]


def _nested(operator: Operator) -> list[str]:
    return [f"  {line}" for line in definition(operator)]


@singledispatch
def _kind(function: Kernel | Field) -> str:
    """A few words on what sort of function a kernel or field is."""
    return "analytic" + (" in t" if function.time_dependent else ", constant in t")


@_kind.register
def _(function: AnalyticKernel | AnalyticField) -> str:
    return _analytic(function.function, function.time_dependent)


@_kind.register
def _(function: CellKernel | CellField) -> str:
    return f"constant on {_sizes(function.values)} cells" + _depth(function, len(function.values))


@_kind.register
def _(function: LowRankKernel) -> str:
    cells = f"{function.left.shape[1]} x {function.right.shape[2]}"
    depth = _depth(function, len(function.left))
    return f"rank {function.rank}, constant on {cells} cells{depth}"


@_kind.register
def _(function: BasisKernel) -> str:
    bases = dict.fromkeys(b.name for b in (*function.source_basis, *function.target_basis))
    sizes = _sizes(function.coefficients)
    depth = _depth(function, len(function.coefficients))
    return f"{' x '.join(bases)}, {sizes} coefficients{depth}"


@_kind.register
def _(function: BasisField) -> str:
    bases = dict.fromkeys(b.name for b in function.basis)
    sizes = _sizes(function.coefficients)
    depth = _depth(function, len(function.coefficients))
    return f"{' x '.join(bases)}, {sizes} coefficients{depth}"


@_kind.register
def _(function: LayeredKernel | LayeredField) -> str:
    kinds = dict.fromkeys(_kind(child) for child in function.children)
    return f"layers of: {'; '.join(kinds)}" + _depth(function, len(function.children))


@_kind.register
def _(function: SeparableKernel) -> str:
    return f"separable, rank {len(function.left)}"


def _analytic(function: Callable[..., Array], time_dependent: bool) -> str:
    """The formula itself, where it is known."""
    if isinstance(function, Expression):
        return str(function)
    return "analytic" + (" in t" if time_dependent else ", constant in t")


def _sizes(values: Array) -> str:
    """The lengths of all axes but that of depth."""
    return " x ".join(str(size) for size in values.shape[1:])


def _depth(function: _Deep, count: int) -> str:
    """How many rows there are in depth, and what happens between them."""
    return (f", {count} in t" + (", linear between" if function.degree else "")) * (count > 1)


def _set_name(constraint: MomentSet | NonnegativeCone) -> str:
    if isinstance(constraint, NonnegativeCone):
        return "S2"
    return f"S1({constraint.mean:g},{constraint.deviation:g})"


def _variable(equation: Equation) -> str:
    """What is advanced: u, or the z of which u is observed."""
    return "u" if equation.observed is None else "z"


def _evolution(equation: Equation) -> str:
    """The right-hand side that the structure splits, gathered from its flows and projections."""
    variable = _variable(equation)
    flows, sets = [], {}
    for node in walk(equation.structure):
        if isinstance(node, Flow):
            factor = "" if node.rate == 1.0 else f"{node.rate:g} "
            flows.extend(factor + _tendency(equation, name, variable) for name in node.terms)
        elif isinstance(node, Apply):
            operator = equation.terms[node.term]
            if isinstance(operator, Projection):
                sets[f"- dI_{_set_name(operator.constraint)}({variable})"] = None
            else:
                sets[f"[{node.term}: {formula(operator, variable)}]"] = None
    return " ".join([f"{variable}_t = {' + '.join(flows)}", *sets]) + f",  {variable}(., ., 0) = f"


def _tendency(equation: Equation, name: str, variable: str) -> str:
    operator = equation.terms[name]
    if isinstance(operator, IntegralAttention):
        return f"A({variable})"
    if isinstance(operator, LinearIntegral):
        index = name.rpartition("_")[2]
        return f"(W_{index} {variable} + b_{index})"
    return formula(operator, variable)


def _steps(node: Structure, variable: str, rate: float) -> list[str]:
    dt = "dt" if rate == 1.0 else f"{rate:g} dt"
    if isinstance(node, Flow):
        dt = dt if node.rate == 1.0 else f"{rate * node.rate:g} dt"
        return [f"{variable} <- {variable} + {dt} ({' + '.join(node.terms)})({variable})"]
    if isinstance(node, Apply):
        return [f"{variable} <- {node.term}({variable})"]
    if isinstance(node, Average):
        inner = [f"  {line}" for line in _steps(node.branch, "v", rate * node.rate)]
        return [
            f"v = {variable}",
            *inner,
            f"{variable} <- {1.0 - node.omega:g} {variable} + {node.omega:g} v",
        ]
    return [line for child in node.children for line in _steps(child, variable, rate)]


def _remarks(equation: Equation) -> list[str]:
    projections = [t for t in equation.terms.values() if isinstance(t, Projection)]
    moments = [p.constraint for p in projections if isinstance(p.constraint, MomentSet)]
    # up to its eps and its affine part a normalisation maps onto S1(0, 1)
    norms = [t for t in equation.terms.values() if isinstance(t, Normalisation) and t.centred]
    moments += [MomentSet() for _ in norms]
    cones = [p.constraint for p in projections if isinstance(p.constraint, NonnegativeCone)]
    remarks = []
    if moments and cones:
        verdict = compatible(moments[0], cones[0])
        if not verdict:
            remarks.append(f"as dt -> 0: {verdict.reason}")
    averages = [node for node in walk(equation.structure) if isinstance(node, Average)]
    remarks.extend(
        f"as dt -> 0 the branch of the relaxation enters at rate {node.limit_rate:g} "
        "(the literal step of the paper)"
        for node in averages
        if node.limit_rate != 1.0
    )
    return remarks

"""[equation]: which evolution equation is solved, and its terms."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from experiments.config.base import NonNegative, Part, Positive, Text
from experiments.config.kernels import FieldFunction, Kernel


class Moments(Part):
    """S1(mean, deviation): the moments over y that every token keeps."""

    mean: float
    deviation: NonNegative


#: What belongs into a kernel is easily written beside it.
_INSIDE_KERNEL = {
    key: "it belongs inside kernel = { ... }, or bias = { ... }"
    for key in ("separable", "basis", "cells", "layers", "expression", "coefficients")
}


class Linear(Part):
    """u -> int k(xi, y, t) u(x, xi) dxi + b(y, t)."""

    elsewhere: ClassVar[Mapping[str, str]] = _INSIDE_KERNEL | {
        "identity": "only dense has an identity beside its kernel; the identity on cells belongs "
        "inside kernel = { ... }"
    }

    kernel: Kernel
    bias: FieldFunction | None = None


class Dense(Part):
    """u -> int k(xi, y, t) u(x, xi) dxi + identity * E u + b(y, t)."""

    elsewhere: ClassVar[Mapping[str, str]] = _INSIDE_KERNEL

    kernel: Kernel
    bias: FieldFunction | None = None
    identity: float = 0.0


class Causal(Part):
    """The integral over x~ <= x; of the cell at x~ = x the share ``diagonal`` counts on a grid."""

    diagonal: Annotated[float, Field(gt=0.0, le=1.0)]


class Attention(Part):
    """Integral attention.

    Args:
        query: W^Q, b^Q: Omega_y to Omega_h x Omega_eta, in xi, zeta, eta, t.
        key: W^K, b^K.
        value: W^V, b^V.
        output: W^O, b^O: Omega_h x Omega_eta to Omega_y, in zeta, eta, y, t.
        scale: c; by default |Omega_eta|^(-1/2).
        causal: integrate over x~ <= x only.
    """

    query: Linear
    key: Linear
    value: Linear
    output: Linear
    scale: Positive | None = None
    causal: Causal | None = None


class Source(Part):
    """A term g(x, y, t) of its own."""

    expression: Text


Activation: TypeAlias = Text

_ONLY_PAPER = {
    "omega": 'only form = "paper" relaxes; leave it out',
    "rate": 'only form = "paper" has a rate; leave it out',
}
_ONLY_FLOW = {
    "nonnegative": 'only form = "flow" takes it; leave it out',
    "source": 'only form = "flow" takes a source; leave it out',
}


def _rate_kind(value: Any) -> str:
    return "<name>" if isinstance(value, str) else "<number>"


class PaperEquation(Part):
    """u_t = A(u) + sum_j (W_j u + b_j) - dI_S1(u) - dI_S2(u) with the paper's splitting.

    Args:
        form: "paper".
        horizon: T.
        moments: the targets of S1.
        attention: A.
        dense: W_1, b_1 ... W_J, b_J.
        activation: between the dense operators; "relu" is the projection onto S2.
        omega: the weight of the relaxation.
        rate: of the feedforward branch: "literal" is 1, "consistent" 1 / omega.
        eps: added to the variance by the projection onto S1; 0 is the projection itself.
    """

    elsewhere: ClassVar[Mapping[str, str]] = _ONLY_FLOW

    form: Literal["paper"]
    horizon: Positive
    moments: Moments
    attention: Attention
    dense: Annotated[tuple[Dense, ...], Field(min_length=1)]
    activation: Activation = "gelu"
    omega: Annotated[float, Field(gt=0.0, le=1.0)] = 0.5
    rate: Annotated[
        Annotated[Literal["literal", "consistent"], Tag("<name>")]
        | Annotated[Positive, Tag("<number>")],
        Discriminator(_rate_kind),
    ] = "literal"
    eps: NonNegative = 0.0


class ResidualEquation(Part):
    """u_t = Pi_{T_u S1} [A(u) + F(u)], F = W_2 phi(W_1 u + b_1) + b_2.

    Args:
        form: "residual".
        horizon: T.
        moments: the targets of S1.
        attention: A.
        dense: the two layers of F.
        activation: phi.
        eps: added to the variance by the projection onto S1; 0 is the projection itself.
    """

    elsewhere: ClassVar[Mapping[str, str]] = _ONLY_PAPER | _ONLY_FLOW

    form: Literal["residual"]
    horizon: Positive
    moments: Moments
    attention: Attention
    dense: Annotated[tuple[Dense, ...], Field(min_length=2, max_length=2)]
    activation: Activation = "gelu"
    eps: NonNegative = 0.0


class PrenormEquation(Part):
    """u_t = A(N u) + F(N u), N(u) = (u - mean) / sqrt(variance + eps); see the residual flow."""

    elsewhere: ClassVar[Mapping[str, str]] = (
        _ONLY_PAPER
        | _ONLY_FLOW
        | {"moments": "the state of a pre-norm equation is not constrained; leave it out"}
    )

    form: Literal["prenorm"]
    horizon: Positive
    attention: Attention
    dense: Annotated[tuple[Dense, ...], Field(min_length=2, max_length=2)]
    activation: Activation = "gelu"
    eps: NonNegative = 0.0


class FlowEquation(Part):
    """u_t = A(u) + sum_j (W_j u + b_j) + g, every term a flow of its own, then the projections.

    Args:
        form: "flow".
        horizon: T.
        moments: project onto S1 after every flow.
        nonnegative: project onto S2 after every flow.
        attention: A.
        dense: any number of W_j, b_j.
        source: g.
    """

    elsewhere: ClassVar[Mapping[str, str]] = _ONLY_PAPER | {
        "activation": "the terms of a flow are linear; leave it out",
        "eps": "a flow projects with eps = 0; leave it out",
    }

    form: Literal["flow"]
    horizon: Positive
    moments: Moments | None = None
    nonnegative: bool = False
    attention: Attention | None = None
    dense: tuple[Dense, ...] = ()
    source: Source | None = None


Equation = Annotated[
    PaperEquation | ResidualEquation | PrenormEquation | FlowEquation, Field(discriminator="form")
]


def moments_of(equation: Equation) -> Moments | None:
    """The targets of S1, if the equation has them."""
    return None if isinstance(equation, PrenormEquation) else equation.moments


def source_of(equation: Equation) -> Source | None:
    """The source, if the equation has one."""
    return equation.source if isinstance(equation, FlowEquation) else None

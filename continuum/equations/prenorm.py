"""Pre-norm equations: the state is not constrained, the normalisation sits inside the terms."""

from continuum.domains import Domain, token_axis
from continuum.equations.base import Equation
from continuum.operators import Operator
from continuum.structure import Average, Flow, Sequence, Structure


def prenorm_flow(
    attention: Operator,
    feedforward: Operator,
    *,
    horizon: float,
    relaxed: bool = False,
    tokens: Domain | None = None,
    name: str = "prenorm",
) -> Equation:
    """u_t = A(N1 u) + F(N2 u), Lie splitting: u <- u + dt A(N1 u); u <- u + dt F(N2 u).

    Args:
        attention: A composed with its normalisation, ``A @ N1``.
        feedforward: F composed with its normalisation, ``F @ N2``.
        horizon: T.
        relaxed: write the second substep as the paper's relaxation, at the consistent rate:
            (1 - omega) u + omega (u + (dt / omega) F(N2 u)) with omega = 1/2.  No closing
            projection follows, so the literal rate 1 would halve the increment.
        tokens: Omega_x.
        name: a word for printed output.
    """
    return Equation(
        name,
        {"attention": attention, "feedforward": feedforward},
        prenorm_structure(relaxed),
        attention.source,
        float(horizon),
        tokens or token_axis(),
    )


def prenorm_structure(relaxed: bool) -> Structure:
    """The structure of a pre-norm step, the second flow relaxed at rate 1 / omega or plain."""
    flow: Structure = Flow(("feedforward",))
    second = Average(flow, omega=0.5, rate=2.0) if relaxed else flow
    return Sequence((Flow(("attention",)), second))

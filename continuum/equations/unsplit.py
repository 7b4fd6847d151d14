"""Equations whose right-hand side is advanced in one substep."""

from continuum.domains import Domain, token_axis
from continuum.equations.base import Equation
from continuum.operators import Operator
from continuum.structure import Flow, Structure

#: One flow of both terms: u <- u + dt (A + F)(u).
UNSPLIT_STRUCTURE: Structure = Flow(("attention", "feedforward"))


def unsplit_flow(
    attention: Operator,
    feedforward: Operator,
    *,
    horizon: float,
    tokens: Domain | None = None,
    name: str = "unsplit",
) -> Equation:
    """u_t = A(N1 u) + F(N2 u), forward Euler without splitting: u <- u + dt (A(N1 u) + F(N2 u)).

    The same map as parallel (averaged) splitting: the mean of u + 2 dt A(N1 u) and
    u + 2 dt F(N2 u).  Layers with parallel attention and feedforward are its steps at dt = 1.

    Args:
        attention: A, composed with its normalisation where there is one.
        feedforward: F, likewise.
        horizon: T.
        tokens: Omega_x.
        name: a word for printed output.
    """
    return Equation(
        name,
        {"attention": attention, "feedforward": feedforward},
        UNSPLIT_STRUCTURE,
        attention.source,
        float(horizon),
        tokens or token_axis(),
    )

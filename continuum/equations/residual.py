"""The residual flow: the other continuous equation that a post-norm encoder discretises."""

from continuum.domains import Domain, token_axis
from continuum.equations.base import Equation
from continuum.operators import Affine, Operator
from continuum.structure import Apply, Flow, Sequence

#: A flow and a map onto S1, for each of attention and feedforward.
RESIDUAL_STRUCTURE = Sequence(
    (
        Sequence((Flow(("attention",)), Apply("norm_attention"))),
        Sequence((Flow(("feedforward",)), Apply("norm_output"))),
    )
)


def residual_flow(
    attention: Operator,
    feedforward: Operator,
    norm_attention: Operator,
    norm_output: Operator,
    *,
    horizon: float,
    tokens: Domain | None = None,
    observed: Affine | None = None,
    name: str = "residual",
) -> Equation:
    """u_t = Pi_{T_u S1} [ A(u) + F(u) ], stepped as u <- P_S1(u + dt A(u)); u <- P_S1(u + dt F(u)).

    Lie splitting of order 1; at dt = 1 it equals the post-norm encoder, and unlike the paper's
    equation it has a limit as dt -> 0 for every constant pair of targets.

    Args:
        attention: A, or for affine norms the tendency of z that holds A(gamma z + beta).
        feedforward: F with its dense (not shifted) layers, likewise.
        norm_attention: the projection onto S1, or a normalisation without affine part.
        norm_output: the same after the feedforward.
        horizon: T.
        tokens: Omega_x.
        observed: the map u = gamma z + beta from the advanced variable to the model's state.
        name: a word for printed output.
    """
    terms = {
        "attention": attention,
        "norm_attention": norm_attention,
        "feedforward": feedforward,
        "norm_output": norm_output,
    }
    return Equation(
        name,
        terms,
        RESIDUAL_STRUCTURE,
        attention.source,
        float(horizon),
        tokens or token_axis(),
        observed,
    )

"""The equation of the paper, with its splitting into M = 4 + J substeps."""

from collections.abc import Sequence as Several

from continuum.domains import Domain, token_axis
from continuum.equations.base import Equation
from continuum.operators import IntegralAttention, LinearIntegral, Operator
from continuum.structure import Apply, Average, Flow, Sequence, Structure


def paper_equation(
    attention: IntegralAttention,
    dense: Several[LinearIntegral],
    activations: Several[Operator],
    norm_attention: Operator,
    norm_output: Operator,
    *,
    horizon: float,
    omega: float = 0.5,
    rate: float = 1.0,
    tokens: Domain | None = None,
    name: str = "split",
) -> Equation:
    """u_t = A(u) + sum_j (W_j u + b_j) - dI_{S1}(u) - dI_{S2}(u), split as in the paper.

    One step of Lie splitting (paper, section 3) is

        u1 = u0 + dt A(u0);  u2 = P_S1(u1);
        v  = P_S2(v + dt (W_j v + b_j)), j < J, from v = u2;  v = v + dt (W_J v + b_J);
        w  = (1 - omega) u2 + omega v;  u = P_S1(w).

    Args:
        attention: A.
        dense: W_1 ... W_J with their biases; their domains chain from Omega_y back to Omega_y.
        activations: the J - 1 maps between them: the projection onto S2, or a pointwise map.
        norm_attention: the projection onto S1, or a normalisation, after attention.
        norm_output: the same at the end of the step.
        horizon: T.
        omega: the weight of the relaxation; only at 1/2 is the relaxed state a multiple of the
            residual sum u2 + F, so only there is the step an encoder layer when eps > 0.
        rate: the rate of the feedforward branch: 1 is the paper's literal step.
        tokens: Omega_x.
        name: a word for printed output.

    Raises:
        ValueError: if the numbers of dense layers and activations do not fit.
    """
    if not dense or len(activations) != len(dense) - 1:
        raise ValueError(
            f"paper_equation: expected J >= 1 dense operators and J - 1 activations, got "
            f"{len(dense)} and {len(activations)}"
        )
    terms: dict[str, Operator] = {"attention": attention, "norm_attention": norm_attention}
    for j, operator in enumerate(dense, start=1):
        terms[f"dense_{j}"] = operator
        if j < len(dense):
            terms[f"activation_{j}"] = activations[j - 1]
    terms["norm_output"] = norm_output
    structure = paper_structure(len(dense), omega, rate)
    return Equation(
        name, terms, structure, attention.source, float(horizon), tokens or token_axis()
    )


def paper_structure(count: int, omega: float = 0.5, rate: float = 1.0) -> Structure:
    """The structure of the paper's step with J = ``count`` dense operators."""
    branch: list[Structure] = [
        Sequence((Flow((f"dense_{j}",)), Apply(f"activation_{j}")), name=f"dense_{j}")
        for j in range(1, count)
    ]
    branch.append(Flow((f"dense_{count}",)))
    average = Average(
        Sequence(tuple(branch)), omega=omega, rate=rate, scale=omega if rate == 1.0 else 1.0
    )
    return Sequence((Flow(("attention",)), Apply("norm_attention"), average, Apply("norm_output")))

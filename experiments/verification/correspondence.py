"""Which substep of which equation is which line of the encoder.

With Attn and FFN the encoder's branches and LN its norms (affine part included), per layer:

====================  ==============================================================
split, post-norm      the paper's M = 4 + J substeps
split, pre-norm       the feedforward enters at rate 2, the relaxation halves it again
residual, post-norm   advances z with u = gamma z + beta: a norm's z is read through its
                      own gamma and beta, after which it is the encoder's value
residual, pre-norm    two plain Euler substeps
====================  ==============================================================

The relaxation of the post-norm equation holds *half* the encoder's residual sum (omega = 1/2); the
norm after it does not notice.
"""

from experiments.request import Equation, Norm
from experiments.verification.case import Counterpart

Correspondence = dict[str, Counterpart]

_ATTENTION = Counterpart("u + Attn", lambda s: s["attention"])
_NORMALISED = Counterpart("u2 = LN(u + Attn)", lambda s: s["normalised"])
_OUTPUT_POST = Counterpart("LN(u2 + FFN)", lambda s: s["output"])
_SUM_PRE = Counterpart("u1 + FFN", lambda s: s["output"])

_SPLIT_POST: Correspondence = {
    "attention": _ATTENTION,
    "norm_attention": _NORMALISED,
    "dense_1": Counterpart("act(W1 u2 + b1)", lambda s: s["hidden"]),
    "dense_2": Counterpart("FFN = W2 .. + b2", lambda s: s["feedforward"]),
    "relaxation": Counterpart("(u2 + FFN) / 2", lambda s: s["sum"] / 2),
    "norm_output": _OUTPUT_POST,
}

_SPLIT_PRE: Correspondence = {
    "attention": Counterpart("u1 = u + Attn", lambda s: s["attention"]),
    "feedforward": Counterpart("u1 + 2 FFN", lambda s: s["attention"] + 2 * s["feedforward"]),
    "relaxation": _SUM_PRE,
}

_RESIDUAL_POST: Correspondence = {
    "attention": _ATTENTION,
    "norm_attention": Counterpart(
        "u2 = LN(u + Attn)", lambda s: s["normalised"], lambda z, gamma, beta: gamma * z + beta
    ),
    "feedforward": Counterpart("u2 + FFN", lambda s: s["sum"]),
    "norm_output": _OUTPUT_POST,
}

_RESIDUAL_PRE: Correspondence = {
    "attention": Counterpart("u1 = u + Attn", lambda s: s["attention"]),
    "feedforward": _SUM_PRE,
}

#: (equation, norm) -> substep's name -> what it equals.  The last substep of a layer is its output
#: and is compared as the solution's trajectory gives it.
CORRESPONDENCES: dict[tuple[Equation, Norm], Correspondence] = {
    (Equation.SPLIT, Norm.POST): _SPLIT_POST,
    (Equation.SPLIT, Norm.PRE): _SPLIT_PRE,
    (Equation.RESIDUAL, Norm.POST): _RESIDUAL_POST,
    (Equation.RESIDUAL, Norm.PRE): _RESIDUAL_PRE,
}

#: A remark for the reader of a table, where one is needed.
REMARKS: dict[tuple[Equation, Norm], str] = {
    (Equation.SPLIT, Norm.POST): "relaxation with omega = 1/2 holds half the residual sum, and is "
    "compared with half of it",
    (Equation.SPLIT, Norm.PRE): "the feedforward enters at rate 2, and the relaxation takes half",
    (Equation.RESIDUAL, Norm.POST): "the flow advances z, u = gamma z + beta; normalised z are "
    "read through gamma and beta",
}

"""What a solve returns."""

import equinox as eqx
import numpy as np
from jax import Array
from jaxtyping import Float


class Solution(eqx.Module):
    """The answer of :func:`solvers.solve`.

    Args:
        final: what the model returns: the last state, for a recovered encoder with its final
            normalisation, shape (*batch, tokens, features).
        trajectory: the saved states, the initial one first, shape (saves + 1, *batch, tokens,
            features); hidden states of the model, without the final normalisation.
        times: the depths t of the saved states, shape (saves + 1,), float64.
        substeps: on request, the state after every substep of every step: pairs of a name and an
            array (num_steps, *batch, tokens, its features), in order of application; else empty.
        num_steps: the number of time steps.
        scheme: the name of the splitting.
    """

    final: Float[Array, "*batch x y"]
    trajectory: Float[Array, "saves *batch x y"]
    times: np.ndarray
    substeps: tuple[tuple[str, Array], ...]
    num_steps: int = eqx.field(static=True)
    scheme: str = eqx.field(static=True)

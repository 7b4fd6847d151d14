"""What a solve returns."""

import dataclasses

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


@dataclasses.dataclass(frozen=True)
class Chunk:
    """A piece of a trajectory, in host memory.

    Args:
        first_step: the step the piece starts from.
        last_step: the step it ends after.
        times: the depths t of the saved states, shape (saves,), float64.
        states: the saved states u, shape (saves, *batch, tokens, features).
        observed: the observables after each step, arrays (last_step - first_step, ...).
        state: the state to go on from, as the solver advances it.
    """

    first_step: int
    last_step: int
    times: np.ndarray
    states: np.ndarray
    observed: dict[str, np.ndarray]
    state: np.ndarray


class NonFiniteError(ArithmeticError):
    """A state has NaN or infinite values.

    Args:
        step: the step, counted from 0.
        substep: the name of the first substep after which values are not finite.
        dt: the step length.
    """

    def __init__(self, step: int, substep: str, dt: float) -> None:
        """Say where."""
        super().__init__(
            f"NaN or infinite values after {substep} in step {step} (t = {step * dt:g} to "
            f"{(step + 1) * dt:g}): expected finite ones; take more steps, or smaller kernels"
        )
        self.step, self.substep = step, substep

"""What :func:`recover` returns."""

from collections.abc import Callable

import equinox as eqx
import numpy as np
from jax import Array
from jaxtyping import Float

from continuum.operators import Normalisation
from discretize.grids import AtomicGrid, TokenGrid, UniformGrid
from discretize.operators import DiscreteOperator, TokenMeasure, discretize_operator
from discretize.problem import Problem
from discretize.sampling import At


class Readout(eqx.Module):
    """What follows the last layer: one more normalisation at t = T, or nothing.

    Args:
        operator: the normalisation, or None.
        tokens: the grid of Omega_x.
    """

    operator: DiscreteOperator | None
    tokens: UniformGrid | AtomicGrid | TokenGrid = eqx.field(static=True)

    def __call__(self, u: Float[Array, "*batch x y"]) -> Float[Array, "*batch x y"]:
        """The encoder's output for the state at t = T."""
        if self.operator is None:
            return u
        at = At(np.zeros(1), self.tokens.of(u.shape[-2]))
        coefficients = {n: t.values[0] for n, t in self.operator.coefficients(at).items()}
        return self.operator.apply(coefficients, u, TokenMeasure())


class Recovered(eqx.Module):
    """A discrete encoder read as a discretised equation.

    Args:
        problem: the problem on the unit grid; one time step is one layer.
        embed: the model's inputs -> the initial state u0 (batch, tokens, features); what the
            equation does not contain in front of the layers.
        closing: the model's final normalisation, or None.
        model: the class or folder it was read from, in words.
        outside: what of the model stays outside, in words (a pooler, a language-model head).
    """

    problem: Problem
    embed: Callable[..., Array]
    closing: Normalisation | None
    model: str = eqx.field(static=True)
    outside: tuple[str, ...] = eqx.field(static=True, default=())

    @property
    def readout(self) -> Readout:
        """The map from the state at t = T to what the encoder returns."""
        grid, closing = self.problem.grid, self.closing
        return Readout(None if closing is None else discretize_operator(closing, grid), grid.tokens)

    def refine(self, tokens: int = 1, features: int = 1) -> "Recovered":
        """The same equation on a refined grid; ``embed`` still gives states on the unit grid.

        ``discretize.transfer.lift`` takes such a state to the refined grid.
        """
        problem = self.problem.refine(tokens, features)
        return Recovered(problem, self.embed, self.closing, self.model, self.outside)

    def __check_init__(self) -> None:
        """Check that the closing normalisation fits."""
        if self.closing is not None and self.closing.domain != self.problem.equation.features:
            raise ValueError(
                f"Recovered: expected a closing normalisation on {self.problem.equation.features}, "
                f"got {self.closing.domain}"
            )

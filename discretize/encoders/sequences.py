"""Sequence models whose layers are not those of a torch encoder, put together."""

from collections.abc import Callable

from jax import Array

from continuum.domains import Domain
from continuum.equations import Equation, prenorm_flow, unsplit_flow
from continuum.operators import Normalisation, Operator
from discretize.encoders.recovered import Recovered
from discretize.encoders.weights import check_equation
from discretize.grids import Grid, TokenGrid, UniformGrid
from discretize.problem import discretize


def prenorm(
    attention: Operator,
    feedforward: Operator,
    layers: int,
    equation: str,
    tokens: Domain | None = None,
) -> Equation:
    """u_t = A(N1 u) + F(N2 u); ``"split"`` writes the second substep as a relaxation at rate 2."""
    check_equation(equation)
    return prenorm_flow(
        attention,
        feedforward,
        horizon=float(layers),
        relaxed=equation == "split",
        tokens=tokens,
        name=f"prenorm {equation}",
    )


def unsplit(attention: Operator, feedforward: Operator, layers: int, equation: str) -> Equation:
    """u_t = A(N1 u) + F(N2 u) in one substep, whichever name the equation is asked for by."""
    check_equation(equation)
    return unsplit_flow(attention, feedforward, horizon=float(layers))


def assemble_sequence(
    equation: Equation,
    embed: Callable[..., Array],
    model: str,
    outside: tuple[str, ...],
    closing: Normalisation | None = None,
) -> Recovered:
    """The problem on the unit grid of a token axis [0, N]; one time step is one layer."""
    width = round(equation.features.measure)
    grid = Grid(TokenGrid(), UniformGrid(equation.features, (width,)))
    return Recovered(discretize(equation, grid), embed, closing, model, outside)

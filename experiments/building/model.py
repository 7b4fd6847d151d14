"""[model]: an encoder as an equation, on a refined grid, with controls of some degree in t."""

import dataclasses
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from continuum import CellField, CellKernel
from discretize import Grid, TokenGrid, discretize
from discretize.encoders import Recovered, recover
from discretize.transfer import lift
from experiments.building.kernels import DEGREES
from experiments.building.sentences import states_of
from experiments.config.root import Config
from experiments.verification.bert_case import model_folder


@dataclasses.dataclass(frozen=True)
class EncoderStart:
    """A recovered encoder and the states of its sentences.

    Args:
        recovered: on the config's grid, one step for each of the config's.
        initial: a refined grid -> (tokens, features), or (batch, tokens, features).
        mask: True on tokens that are not padding, or None if all are.
    """

    recovered: Recovered
    initial: Callable[[Grid], Array]
    mask: np.ndarray | None


def build_model(config: Config, dtype: np.dtype) -> EncoderStart:
    """The encoder of a config's [model].

    Args:
        config: with a model.
        dtype: of weights and states.

    Raises:
        ImportError: without the packages that read the model and its sentences.
        ValueError, TypeError, FileNotFoundError: for a directory that holds no such model.
    """
    model, grid = config.model, config.grid
    assert model is not None and grid is not None
    read = recover(model_folder(model.path), equation=model.equation, dtype=dtype.name)
    states, valid = states_of(read, model.path, model.texts)
    recovered = _with_degree(read, DEGREES[model.controls], config.time.steps)
    recovered = recovered.refine(grid.token_cells[0], grid.features)
    width = read.problem.grid.features.size
    single = len(model.texts) == 1

    def initial(on: Grid) -> Array:
        assert isinstance(on.tokens, TokenGrid)
        fine = lift(jnp.asarray(states), on.tokens.refinement, on.features.size // width)
        return fine[0] if single else fine

    mask = None if single else np.repeat(valid, grid.token_cells[0], axis=-1)
    return EncoderStart(recovered, initial, mask)


def _with_degree(recovered: Recovered, degree: int, steps: int) -> Recovered:
    """The encoder with its kernels of that degree in t, and a default number of steps."""
    cells = CellKernel | CellField
    change = lambda node: _of_degree(node, degree) if isinstance(node, cells) else node  # noqa: E731
    problem = recovered.problem
    equation = jax.tree.map(change, problem.equation, is_leaf=lambda node: isinstance(node, cells))
    found = discretize(equation, problem.grid, num_steps=steps)
    return eqx.tree_at(lambda r: r.problem, recovered, found)


def _of_degree(node: CellKernel | CellField, degree: int) -> CellKernel | CellField:
    if isinstance(node, CellKernel):
        sizes = (node.source_cells, node.target_cells)
        return CellKernel(node.values, node.source, node.target, *sizes, node.duration, degree)
    return CellField(node.values, node.domain, node.cells, node.duration, degree)

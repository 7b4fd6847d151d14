"""Initial states: functions of x and y that can be sampled on any grid."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from continuum import AnalyticKernel, BasisKernel, CellKernel, Kernel, MomentSet
from continuum.kernels import random_coefficients
from discretize import Grid, UniformGrid
from discretize.sampling import sample_kernel
from experiments.building.points import ConstantInTime
from experiments.building.setting import Setting
from experiments.config.equation import moments_of
from experiments.config.files import read_array
from experiments.config.initial import (
    CellsInitial,
    EmbeddingsInitial,
    ExpressionInitial,
    GivenBasisInitial,
    MinilmInitial,
    RandomBasisInitial,
    RandomInitial,
)
from experiments.config.locate import KeyPath

_PATH: KeyPath = ("initial",)


def build_initial(setting: Setting) -> Callable[[Grid], Array]:
    """u0 as a map from a grid to its values there, shape (tokens, features).

    A function of x and y is sampled as a kernel between Omega_x and Omega_y is: on a grid coarser
    than its cells, one that is constant on cells has its means.  It is projected onto S1, with the
    quadrature of the grid, if the config says so.

    Args:
        setting: the config and the precision.
    """
    initial = setting.config.initial
    assert initial is not None
    kernel = FUNCTIONS[type(initial)](initial, setting)
    return sampled(kernel, _target(setting) if initial.project else None, setting)


def sampled(kernel: Kernel, moments: MomentSet | None, setting: Setting) -> Callable[[Grid], Array]:
    """A kernel between Omega_x and Omega_y as a map from a grid to its values there.

    Args:
        kernel: u0, constant in t.
        moments: the set to project onto, or None.
        setting: tells the precision.
    """

    def on(grid: Grid) -> Array:
        assert isinstance(grid.tokens, UniformGrid)
        table = sample_kernel(kernel, grid.tokens, grid.features, np.zeros(1))
        values = jnp.asarray(table.values[0], setting.dtype)
        return values if moments is None else _project(moments, grid.features, values)

    return on


@functools.partial(jax.jit, static_argnums=(0, 1))
def _project(moments: MomentSet, features: UniformGrid, values: Array) -> Array:
    return moments.project(values, features.mean)


def _target(setting: Setting) -> MomentSet | None:
    assert setting.config.equation is not None
    moments = moments_of(setting.config.equation)
    return None if moments is None else MomentSet(moments.mean, moments.deviation)


def _expression(initial: ExpressionInitial, setting: Setting) -> Kernel:
    return as_kernel(setting.initial(initial.expression), setting)


def as_kernel(function: Callable[..., Array], setting: Setting) -> Kernel:
    """A function of points x and y as a kernel between Omega_x and Omega_y."""
    return AnalyticKernel(ConstantInTime(function), setting.tokens, setting.features, False)


def _random_basis(initial: RandomBasisInitial, setting: Setting) -> Kernel:
    along = initial.token_size or initial.size
    sizes = (*(along,) * setting.tokens.dimension, initial.size)
    rng = setting.rng(initial.seed, _PATH)
    table = random_coefficients(rng, (1, *sizes), initial.decay, initial.scale)
    return _in_basis(initial.basis, table.reshape(1, -1, initial.size), sizes[:-1], setting)


def _given_basis(initial: GivenBasisInitial, setting: Setting) -> Kernel:
    table = setting.array(initial.coefficients)
    along = round(len(table) ** (1.0 / setting.tokens.dimension))
    return _in_basis(initial.basis, table[None], (along,) * setting.tokens.dimension, setting)


def _in_basis(basis: str, table, sizes: tuple[int, ...], setting: Setting) -> Kernel:
    table = setting.array(table)
    return BasisKernel(table, setting.tokens, setting.features, basis, basis, source_sizes=sizes)


def _cells(initial: CellsInitial, setting: Setting) -> Kernel:
    return _on_cells(read_array(initial.cells, initial.key), setting)


def _embeddings(initial: EmbeddingsInitial, setting: Setting) -> Kernel:
    return _on_cells(read_array(initial.embeddings, initial.key), setting)


def _random(initial: RandomInitial, setting: Setting) -> Kernel:
    assert initial.cells is not None, "load_config fills in the cells"
    rng = setting.rng(initial.seed, _PATH)
    draw = rng.standard_normal if initial.random == "normal" else _uniform(rng)
    return _on_cells(initial.mean + initial.scale * draw(initial.cells), setting)


def _uniform(rng: np.random.Generator) -> Callable[[tuple[int, ...]], np.ndarray]:
    return lambda shape: rng.uniform(-1.0, 1.0, shape)


def _minilm(initial: MinilmInitial, setting: Setting) -> Kernel:
    from experiments.building.sentences import embedded

    states, _ = embedded(initial.path, (initial.minilm,), setting.dtype)
    return _on_cells(np.asarray(states[0]), setting)


def _on_cells(values: np.ndarray, setting: Setting) -> Kernel:
    """The function with these values on equal cells, axes x (or x1, x2) and y."""
    *along, last = values.shape
    table = setting.array(values).reshape(1, -1, last)
    return CellKernel(table, setting.tokens, setting.features, tuple(along), (last,))


#: How each kind of initial state is made a function of x and y.
FUNCTIONS: Mapping[type, Callable[[Any, Setting], Kernel]] = {
    ExpressionInitial: _expression,
    RandomBasisInitial: _random_basis,
    GivenBasisInitial: _given_basis,
    CellsInitial: _cells,
    EmbeddingsInitial: _embeddings,
    RandomInitial: _random,
    MinilmInitial: _minilm,
}

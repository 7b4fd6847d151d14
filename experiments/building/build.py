"""From a config to what a solver needs."""

import dataclasses
import functools
from collections.abc import Callable, Mapping

import numpy as np
from jax import Array

from continuum import Domain, Equation
from discretize import Grid, UniformGrid, discretize
from discretize.encoders import Recovered
from discretize.problem import Problem
from discretize.quadrature import RULES
from experiments.building.equations import build_equation
from experiments.building.initial import build_initial
from experiments.building.jumps import jumps_of
from experiments.building.manufactured import manufactured_equation, manufactured_initial
from experiments.building.model import build_model
from experiments.building.observables import Observable, build_observables
from experiments.building.setting import Setting
from experiments.config.root import Config


@dataclasses.dataclass(frozen=True)
class Experiment:
    """A config as objects.

    Args:
        config: the config.
        problem: the equation on the config's grid.
        initial: u0 on any grid of the equation's domains: (tokens, features), of several
            sentences (batch, tokens, features).
        observables: the user's own, (u, t) -> number (of a batch: one for each).
        mask: True on tokens that are not padding, (batch, tokens); None without padding.
        recovered: the encoder of a [model], whose readout gives what the encoder returns.
    """

    config: Config
    problem: Problem
    initial: Callable[[Grid], Array]
    observables: Mapping[str, Observable]
    mask: np.ndarray | None = None
    recovered: Recovered | None = None

    @property
    def equation(self) -> Equation:
        """The equation."""
        return self.problem.equation

    @property
    def grid(self) -> Grid:
        """The grids of x, y and the head coordinate."""
        return self.problem.grid

    @functools.cached_property
    def u0(self) -> Array:
        """The initial state on the grid."""
        return self.initial(self.grid)

    @property
    def tokens(self) -> UniformGrid:
        """The grid of Omega_x; of a model that of its longest sentence."""
        tokens = self.grid.tokens
        if isinstance(tokens, UniformGrid):
            return tokens
        found = tokens.of(self.u0.shape[-2])
        assert isinstance(found, UniformGrid)
        return found

    @property
    def scheme(self) -> str:
        """The name of the scheme."""
        return self.config.time.scheme

    @property
    def steps(self) -> int:
        """The number of steps over [0, T]."""
        return self.config.time.steps

    @property
    def save_every(self) -> int:
        """Steps between saved states."""
        return self.config.time.save_every

    @property
    def chunk(self) -> int:
        """Saved states in a chunk."""
        return self.config.time.chunk

    @property
    def jumps(self) -> tuple[float, ...]:
        """The depths inside (0, T) at which kernels jump or bend."""
        return jumps_of(self.equation)


def build(config: Config, *, dtype: str = "float64", manufactured: str | None = None) -> Experiment:
    """The experiment of a config.

    Args:
        config: as ``load_config`` gives it.
        dtype: "float64" (with jax's x64 on) or "float32" (with it off).
        manufactured: an expression in x (or x1, x2), y and t that becomes the exact solution: the
            equation (of form "flow") gets the source that makes it one, and u0 is its value at 0.

    Raises:
        ValueError: if dtype and jax's precision differ, or something does not fit that only shows
            on the grid, such as cells that do not nest; or for a manufactured solution that does
            not fit the equation.
        ImportError: for a model whose packages are missing.
    """
    precision = np.dtype(dtype)
    if config.model is not None:
        found = _encoder(config, precision)
    else:
        found = _stated(config, precision, manufactured)
    if found.problem.dtype != precision:
        raise ValueError(
            f"expected a problem in {precision}, but jax computes in {found.problem.dtype}: call "
            f"jax.config.update('jax_enable_x64', {precision == np.float64}) before anything else"
        )
    return found


def _stated(config: Config, dtype: np.dtype, manufactured: str | None) -> Experiment:
    setting = Setting(config, dtype)
    if manufactured is None:
        equation, initial = build_equation(setting), build_initial(setting)
    else:
        equation = manufactured_equation(manufactured, setting)
        initial = manufactured_initial(manufactured, setting)
    grid = build_grid(config, setting.tokens, setting.features)
    problem = discretize(equation, grid, num_steps=config.time.steps)
    assert isinstance(grid.tokens, UniformGrid)
    observables = build_observables(config, grid.tokens, grid.features)
    return Experiment(config, problem, initial, observables)


def _encoder(config: Config, dtype: np.dtype) -> Experiment:
    start = build_model(config, dtype)
    problem = start.recovered.problem
    tokens = problem.grid.tokens.of(start.initial(problem.grid).shape[-2])
    assert isinstance(tokens, UniformGrid)
    observables = build_observables(config, tokens, problem.grid.features, start.mask)
    return Experiment(config, problem, start.initial, observables, start.mask, start.recovered)


def build_grid(config: Config, tokens: Domain, features: Domain) -> Grid:
    """The grid of a config without a model.

    Args:
        config: tells cells and rules.
        tokens: Omega_x.
        features: Omega_y.
    """
    grid = config.grid
    assert grid is not None
    rules = grid.rules
    along = tuple(RULES[name] for name in rules.tokens * (tokens.dimension // len(rules.tokens)))
    return Grid(
        UniformGrid(tokens, grid.token_cells, along),
        UniformGrid(features, (grid.features,), RULES[rules.features]),
        grid.heads,
        RULES[rules.heads],
    )

"""Advance a problem over its whole depth."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discretize.encoders.live import to_numpy
from discretize.encoders.recovered import Recovered
from discretize.operators import DiscreteOperator, TokenMeasure
from discretize.operators.base import Coefficients
from discretize.problem import Problem
from discretize.sampling import At, Table
from solvers.checks import check_mask, check_state, check_steps
from solvers.evolution import evolve
from solvers.schemes import SCHEMES, Scheme
from solvers.solution import Solution
from solvers.splitting import Splitting
from solvers.substeps import Substep, recorded_names
from solvers.substeps.base import ignore


class Solver:
    """A problem made ready to be advanced many times: coefficients prepared once.

    Args:
        problem: a ``Problem``, or a ``Recovered`` encoder.
        tokens: the number of tokens (nodes in x) of the states to come.
        num_steps: time steps over [0, T]; by default the problem's.
        scheme: a ``Scheme`` or its name; by default Lie splitting of the problem's structure.

    Raises:
        ValueError: for an unknown scheme, a number of steps below 1, or a number of tokens that
            does not fit the grid.
    """

    def __init__(
        self,
        problem: Problem | Recovered,
        *,
        tokens: int,
        num_steps: int | None = None,
        scheme: str | Scheme | None = None,
    ) -> None:
        """Form the coefficients of every substep."""
        recovered = problem if isinstance(problem, Recovered) else None
        plain = problem.problem if isinstance(problem, Recovered) else problem
        self.problem = plain
        self.readout = None if recovered is None else recovered.readout
        self.num_steps = check_steps(plain.num_steps if num_steps is None else num_steps)
        self.scheme = _scheme(scheme)
        self.splitting = self.scheme.splitting
        self.grid = plain.grid.tokens.of(tokens)
        self.dt = plain.equation.horizon / self.num_steps
        self.substeps = self.scheme.read(plain)
        self.coefficients = self._prepare()

    def _prepare(self) -> Coefficients:
        times = np.arange(self.num_steps) * self.dt
        found = self.splitting.prepare(self.substeps, At(times, self.grid), self.dt)
        dtype = self.problem.dtype
        return jax.tree.map(lambda v: v.astype(dtype), found)

    def __call__(
        self,
        u0: Any,
        *,
        mask: Any = None,
        save_every: int | None = None,
        substeps: bool = False,
    ) -> Solution:
        """Advance ``u0``; see :func:`solve`."""
        state = check_state(to_numpy(u0), self.problem, self.grid.size)
        valid = check_mask(to_numpy(mask), state.shape)
        stride = check_steps(self.num_steps if save_every is None else save_every, self.num_steps)
        measure = TokenMeasure.build(self.grid, valid, state.dtype)
        skeleton = (self.substeps, self.splitting)
        final, saved, records = _advance(
            _without_arrays(skeleton),
            self.coefficients,
            state,
            measure,
            self.num_steps,
            stride,
            substeps,
        )
        times = np.arange(0, self.num_steps + 1, stride) * self.dt
        trajectory = jnp.concatenate([state[None], saved])
        if self.problem.observed is not None:
            trajectory = _observe(self.problem.observed, trajectory, At(times, self.grid))
            final = trajectory[-1]
        if self.readout is not None:
            final = self.readout(final)
        named = tuple(zip(self._names(), records, strict=True)) if substeps else ()
        return Solution(final, trajectory, times, named, self.num_steps, self.scheme.name)

    def _names(self) -> tuple[str, ...]:
        """The names of the recorded substeps, in order."""
        stages = self.splitting.stages(len(self.substeps))
        return tuple(
            name for index, _, _ in stages for name in recorded_names(self.substeps[index])
        )


def solve(
    problem: Problem | Recovered,
    u0: Any,
    *,
    mask: Any = None,
    num_steps: int | None = None,
    scheme: str | Scheme | None = None,
    save_every: int | None = None,
    substeps: bool = False,
) -> Solution:
    """Advance u from t = 0 to t = T.

    Args:
        problem: a ``Problem``, or a ``Recovered`` encoder.
        u0: the initial state (tokens, features) or (batch, tokens, features), values at the nodes;
            an array or a torch tensor.
        mask: True on valid tokens, shape (tokens,) or (batch, tokens); padding is the part of
            Omega_x that is not integrated over.
        num_steps: time steps over [0, T], dt = T / num_steps; by default the problem's (for a
            recovered encoder its number of layers).
        scheme: a ``Scheme`` or its name; by default Lie splitting of the problem's structure.
        save_every: steps between saved states, a divisor of ``num_steps``; by default only the
            initial and the final state are saved.
        substeps: also return the state after every substep.

    Returns:
        The :class:`Solution`.

    Raises:
        ValueError: for shapes that do not fit, values that are not finite, a mask that hides every
            token of a sample, a scheme that is not known, or step counts that do not divide.
        TypeError: for a state of another dtype than the problem.
    """
    shape = np.shape(u0)
    if len(shape) not in (2, 3):
        raise ValueError(
            f"u0: expected shape (tokens, features) or (batch, tokens, features), got {shape}"
        )
    tokens = shape[-2]
    solver = Solver(problem, tokens=tokens, num_steps=num_steps, scheme=scheme)
    return solver(u0, mask=mask, save_every=save_every, substeps=substeps)


@eqx.filter_jit
def _advance(
    skeleton: tuple[tuple[Substep, ...], Splitting],
    coefficients: Coefficients,
    u0: Array,
    measure: TokenMeasure,
    num_steps: int,
    save_every: int,
    recording: bool,
) -> tuple[Array, Array, tuple[Array, ...]]:
    substeps, splitting = skeleton

    def step(now: Coefficients, u: Array) -> tuple[Array, tuple[Array, ...]]:
        states: list[Array] = []
        record = (lambda name, state: states.append(state)) if recording else ignore
        u = splitting.step(substeps, now, u, measure, record)
        return u, tuple(states)

    with jax.default_matmul_precision("highest"):
        return evolve(step, coefficients, u0, num_steps=num_steps, save_every=save_every)


def _without_arrays(tree):
    """The tree with its arrays left out: coefficients already hold what they are needed for."""
    return eqx.filter(tree, eqx.is_array, inverse=True)


def _observe(operator: DiscreteOperator, states: Array, at: At) -> Array:
    """U = observed(z, t) for every saved state."""
    tables = operator.coefficients(at)
    is_table = lambda node: isinstance(node, Table)  # noqa: E731

    def one(k: int) -> Array:
        now = jax.tree.map(
            lambda table: table.values[k if table.varying else 0], tables, is_leaf=is_table
        )
        return operator.apply(now, states[k], TokenMeasure())

    return jnp.stack([one(k) for k in range(len(states))])


def _scheme(scheme: str | Scheme | None) -> Scheme:
    if isinstance(scheme, Scheme):
        return scheme
    name = scheme or "lie"
    if name not in SCHEMES:
        raise ValueError(f"unknown scheme {name!r}; expected one of {', '.join(SCHEMES)}")
    return SCHEMES[name]

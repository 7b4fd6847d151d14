"""A problem made ready to be advanced."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discretize.encoders.live import to_numpy
from discretize.encoders.recovered import Recovered
from discretize.operators import DiscreteProjection, TokenMeasure
from discretize.operators.base import Coefficients
from discretize.problem import Problem
from discretize.sampling import At, Table, is_table
from solvers.checks import check_mask, check_state, check_steps
from solvers.evolution import evolve
from solvers.flows import tendency_of
from solvers.interleaving import interleave
from solvers.schemes import Scheme, scheme_named
from solvers.solution import Chunk, NonFiniteError, Solution
from solvers.substeps import Substep, recorded_names
from solvers.substeps.base import ignore

#: (u (*batch, x, y), t) -> what to report of a state: a number, or an array of any fixed shape.
Observable: TypeAlias = Callable[[Array, Array], Array]


class Solver:
    """A problem made ready to be advanced many times: coefficients prepared once.

    Args:
        problem: a ``Problem``, or a ``Recovered`` encoder.
        tokens: the number of tokens (nodes in x) of the states to come.
        num_steps: time steps over [0, T]; by default the problem's.
        scheme: a ``Scheme`` or its name; by default Lie splitting of the problem's structure.

    Raises:
        ValueError: for an unknown scheme or one that does not fit the structure, a number of steps
            below 1, or a number of tokens that does not fit the grid.
    """

    def __init__(
        self,
        problem: Problem | Recovered,
        *,
        tokens: int,
        num_steps: int | None = None,
        scheme: str | Scheme | None = None,
    ) -> None:
        """Read the substeps."""
        recovered = problem if isinstance(problem, Recovered) else None
        plain = problem.problem if isinstance(problem, Recovered) else problem
        self.problem = plain
        self.readout = None if recovered is None else recovered.readout
        self.num_steps = check_steps(plain.num_steps if num_steps is None else num_steps)
        self.scheme = scheme_named(scheme)
        self.grid = plain.grid.tokens.of(tokens)
        self.dt = plain.equation.horizon / self.num_steps
        self.substeps = self.scheme.substeps(plain)
        self.closing = tendency_of(plain)[1] if self.scheme.closed else None
        self._programs: dict[bool, Program] = {}
        self._steady: list[Coefficients] | None = None
        self._whole: Coefficients | None = None

    @property
    def coefficients(self) -> Coefficients:
        """The coefficients of all steps."""
        if self._whole is None:
            self._whole = self.prepare(0, self.num_steps)
        return self._whole

    def prepare(self, start: int, count: int) -> Coefficients:
        """The coefficients of ``count`` steps from step ``start`` on."""
        found = self._steady or self._parts(start, count)
        if not any(table.varying for table in jax.tree.leaves(found, is_leaf=is_table)):
            self._steady = found
        return interleave(found, count)

    def _parts(self, start: int, count: int) -> list[Coefficients]:
        """The coefficients of every part of the steps."""
        times = np.arange(start, start + count) * self.dt
        parts = self.scheme.parts
        return [
            self._cast(
                self.scheme.splitting.prepare(
                    self.substeps, At(times + begin * self.dt, self.grid), length * self.dt
                )
            )
            for begin, length in zip(parts.starts, parts.lengths, strict=True)
        ]

    def _cast(self, tables: Coefficients) -> Coefficients:
        dtype = self.problem.dtype
        return jax.tree.map(lambda table: table.astype(dtype), tables, is_leaf=is_table)

    def __call__(
        self,
        u0: Any,
        *,
        mask: Any = None,
        save_every: int | None = None,
        substeps: bool = False,
    ) -> Solution:
        """Advance ``u0``; see :func:`solvers.solve`."""
        state, measure = self._start(u0, mask)
        stride = self._stride(save_every)
        final, saved, records = self._run(
            {"step": self.coefficients}, state, measure, self.num_steps, stride, substeps
        )
        times = np.arange(0, self.num_steps + 1, stride) * self.dt
        trajectory = jnp.concatenate([state[None], saved])
        if self.problem.observed is not None:
            trajectory = self._view(trajectory, times)
            final = trajectory[-1]
        if self.readout is not None:
            final = self.readout(final)
        named = self._named(records) if substeps else ()
        return Solution(final, trajectory, times, named, self.num_steps, self.scheme.name)

    def chunks(
        self,
        u0: Any,
        *,
        mask: Any = None,
        save_every: int | None = None,
        chunk: int = 1,
        start: int = 0,
        observables: Mapping[str, Observable] | None = None,
    ) -> Iterator[Chunk]:
        """Advance ``u0`` in pieces that leave the device one after the other.

        The pieces' borders are multiples of ``chunk * save_every`` steps, wherever one starts, and
        the same compiled code advances each: a run continued from a chunk's ``state`` gives the
        same bits as one that never stopped.

        Args:
            u0: the state at step ``start``, as a chunk's ``state`` holds it.
            mask: True on valid tokens.
            save_every: steps between saved states, a divisor of the number of steps.
            chunk: saved states in a chunk.
            start: the first step, a chunk's ``last_step``.
            observables: what to report after every step.

        Yields:
            The chunks, in order.

        Raises:
            NonFiniteError: when a state has NaN or infinite values; names step and substep.
            ValueError: for bad input, see :func:`solvers.solve`, or a start that is no border.
        """
        state, measure = self._start(u0, mask)
        stride = self._stride(save_every)
        length = check_steps(chunk) * stride
        if start % length or not 0 <= start < self.num_steps:
            raise ValueError(
                f"start: expected a multiple of chunk * save_every = {length} below "
                f"{self.num_steps}, got {start}"
            )
        watched = tuple((observables or {}).items())
        for first in range(start, self.num_steps, length):
            count = min(length, self.num_steps - first)
            tables: Coefficients = {"step": self.prepare(first, count)}
            if watched:
                tables["after"] = self._after(first, count)
            final, saved, seen = self._run(tables, state, measure, count, stride, watched=watched)
            times = np.arange(first + stride, first + count + 1, stride) * self.dt
            if not np.all(np.isfinite(final)):
                raise self._locate(first, count, state, measure)
            if self.problem.observed is not None:
                saved = self._view(saved, times)
            yield Chunk(
                first,
                first + count,
                times,
                np.asarray(saved),
                {name: np.asarray(seen[name]) for name, _ in watched},
                np.asarray(final),
            )
            state = final

    def final(self, u0: Any, *, mask: Any = None, block: int) -> Array:
        """The state at t = T alone, by a compiled loop over ``block`` steps that is run repeatedly.

        Solvers of one problem that differ in their number of steps share the compiled loop, which
        for high-order schemes takes seconds to compile.

        Args:
            u0: the initial state.
            mask: True on valid tokens.
            block: a divisor of the number of steps.
        """
        state, measure = self._start(u0, mask)
        block = check_steps(block, self.num_steps)
        for first in range(0, self.num_steps, block):
            tables = {"step": self.prepare(first, block)}
            state = self._run(tables, state, measure, block, block)[0]
        return self.view(state[None], np.array([self.problem.equation.horizon]))[0]

    def _stride(self, save_every: int | None) -> int:
        return check_steps(self.num_steps if save_every is None else save_every, self.num_steps)

    def view(self, states: Any, times: np.ndarray) -> Array:
        """The model's states u at ``times``, for states as the solver advances them."""
        states = jnp.asarray(states)
        return states if self.problem.observed is None else self._view(states, times)

    def _start(self, u0: Any, mask: Any) -> tuple[Array, TokenMeasure]:
        state = check_state(to_numpy(u0), self.problem, self.grid.size)
        valid = check_mask(to_numpy(mask), state.shape)
        return state, TokenMeasure.build(self.grid, valid, state.dtype)

    def _run(
        self,
        coefficients: Coefficients,
        state: Array,
        measure: TokenMeasure,
        count: int,
        stride: int,
        recording: bool = False,
        watched: tuple[tuple[str, Observable], ...] = (),
    ) -> tuple[Array, Array, Any]:
        """Advance by ``count`` steps."""
        parts = len(self.scheme.parts.lengths)
        program = self._program(recording, watched)
        final, saved, records = _advance(
            program, coefficients, state, measure, count * parts, stride * parts
        )
        if watched:
            records = {name: values[parts - 1 :: parts] for name, values in records.items()}
        return final, saved, records

    def _program(self, recording: bool, watched: tuple[tuple[str, Observable], ...]) -> "Program":
        """What the compiled loop does; without observables it is kept for the next call."""
        if not watched and recording in self._programs:
            return self._programs[recording]
        view = self.problem.observed if watched else None
        program = _without_arrays(
            Program(self.scheme, self.substeps, self.closing, recording, watched, view)
        )
        if not watched:
            self._programs[recording] = program
        return program

    def _after(self, start: int, count: int) -> Coefficients:
        """What observables need after each step: the time, and the map back to the model."""
        times = np.arange(start + 1, start + count + 1) * self.dt
        found: Coefficients = {"time": Table(jnp.asarray(times), True)}
        if self.problem.observed is not None:
            found["view"] = self._cast(self.problem.observed.coefficients(At(times, self.grid)))
        return interleave([found] * len(self.scheme.parts.lengths), count)

    def _view(self, states: Array, times: np.ndarray) -> Array:
        """U = observed(z, t) for every saved state."""
        operator = self.problem.observed
        assert operator is not None
        tables = operator.coefficients(At(times, self.grid))
        rows = jax.tree.map(lambda table: table.rows(len(times)), tables, is_leaf=is_table)
        return jax.vmap(lambda now, z: operator.apply(now, z, TokenMeasure()))(rows, states)

    def _named(self, records: tuple[Array, ...]) -> tuple[tuple[str, Array], ...]:
        """The recorded substeps with their names, in order."""
        names = self._names()
        parts = len(self.scheme.parts.lengths)
        return tuple(
            (name, states[part::parts])
            for part in range(parts)
            for name, states in zip(names, records, strict=True)
        )

    def _names(self) -> tuple[str, ...]:
        """The names of the recorded substeps of one part, in order."""
        stages = self.scheme.splitting.stages(len(self.substeps))
        return tuple(
            name for index, _, _ in stages for name in recorded_names(self.substeps[index])
        )

    def _locate(
        self, first: int, count: int, state: Array, measure: TokenMeasure
    ) -> NonFiniteError:
        """Find the step and substep at which a chunk's values cease to be finite."""
        for step in range(first, first + count):
            tables = {"step": self.prepare(step, 1)}
            state, _, records = self._run(tables, state, measure, 1, 1, recording=True)
            for name, values in self._named(records):
                if not np.all(np.isfinite(values)):
                    return NonFiniteError(step, name, self.dt)
            if not np.all(np.isfinite(state)):
                return NonFiniteError(step, "the closing projection", self.dt)
        return NonFiniteError(first + count - 1, "a substep", self.dt)


class Program(eqx.Module):
    """What one compiled loop does, without the values it does it with."""

    scheme: Scheme = eqx.field(static=True)
    substeps: tuple[Substep, ...]
    closing: DiscreteProjection | None
    recording: bool = eqx.field(static=True)
    watched: tuple[tuple[str, Observable], ...] = eqx.field(static=True)
    view: Any


@eqx.filter_jit
def _advance(
    program: Program,
    coefficients: Coefficients,
    u0: Array,
    measure: TokenMeasure,
    num_steps: int,
    save_every: int,
) -> tuple[Array, Array, Any]:
    def step(now: Coefficients, u: Array) -> tuple[Array, Any]:
        states: list[Array] = []
        record = (lambda name, state: states.append(state)) if program.recording else ignore
        u = program.scheme.splitting.step(program.substeps, now["step"], u, measure, record)
        if program.closing is not None:
            u = program.closing.project(u)
        if program.watched:
            return u, _watch(program, now["after"], u, measure)
        return u, tuple(states)

    with jax.default_matmul_precision("highest"):
        return evolve(step, coefficients, u0, num_steps=num_steps, save_every=save_every)


def _watch(
    program: Program, now: Coefficients, u: Array, measure: TokenMeasure
) -> dict[str, Array]:
    if program.view is not None:
        u = program.view.apply(now["view"], u, measure)
    return {name: observable(u, now["time"]) for name, observable in program.watched}


def _without_arrays(tree: Any) -> Any:
    """The tree with its arrays left out: coefficients already hold what they are needed for."""
    return eqx.filter(tree, eqx.is_array, inverse=True)

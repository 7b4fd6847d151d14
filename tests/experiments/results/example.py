"""A run without an equation: a deterministic map in place of a solver, and what it must give."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.results import Identity, RunDirectory
from experiments.results.layout import Layout, Observable
from experiments.results.writer import TrajectoryWriter, stream


@dataclass(frozen=True)
class Piece:
    first_step: int
    last_step: int
    times: np.ndarray
    states: np.ndarray
    observed: dict[str, np.ndarray]
    state: np.ndarray


@dataclass(frozen=True)
class Example:
    """A run of the map z -> cos(z) + noise(step), seen as u = 2 z.

    The solver's state z differs from what is saved, as in models that are advanced in other
    variables.  One observable is not a number now and then, one has a value for each row of u.
    """

    steps: int = 12
    save_every: int = 2
    chunk: int = 2
    shape: tuple[int, ...] = (3, 2)
    seed: int = 0

    @property
    def config_text(self) -> str:
        return f'title = "A map"\nseed = {self.seed}\n'

    @property
    def identity(self) -> Identity:
        return Identity("run", "float64", self.seed, {"numpy": np.__version__})

    @property
    def start(self) -> np.ndarray:
        return np.random.default_rng(self.seed).normal(size=self.shape)

    @property
    def layout(self) -> Layout:
        return Layout(
            initial=2 * self.start,
            tokens=(np.arange(self.shape[-2]) + 0.5) / self.shape[-2],
            features=(np.arange(self.shape[-1]) + 0.5) / self.shape[-1],
            horizon=1.5,
            steps=self.steps,
            save_every=self.save_every,
            chunk=self.chunk,
            title="A map",
            observables={
                "rate": Observable("a rate that may not exist", "1"),
                "rows": Observable("sum over y", "1", ("x",), self._rows(self.start)),
            },
        )

    def _rows(self, z: np.ndarray) -> np.ndarray:
        return (2 * z).sum(-1).reshape(-1, self.shape[-2]).sum(0)

    def pieces(self, z: np.ndarray, step: int) -> Iterator[Piece]:
        """The rest of the run, from a state and the number of steps it has behind it."""
        length = self.save_every * self.chunk
        for first in range(step, self.steps, length):
            last = min(first + length, self.steps)
            states, rates, rows = [], [], []
            for k in range(first + 1, last + 1):
                z = np.cos(z) + np.random.default_rng((self.seed, k)).normal(size=z.shape)
                rates.append(float("nan") if k % 5 == 3 else -0.0 if k % 5 == 1 else z.max())
                rows.append(self._rows(z))
                if k % self.save_every == 0:
                    states.append(2 * z)
            times = np.arange(first + self.save_every, last + 1, self.save_every)
            observed = {"rate": np.array(rates), "rows": np.array(rows)}
            times = times * (1.5 / self.steps)
            yield Piece(first, last, times, np.array(states), observed, z)

    def expected(self) -> dict[str, np.ndarray]:
        """Everything that the map gives, with no file in between."""
        every = list(self.pieces(self.start, 0))
        return {
            "u": np.concatenate([2 * self.start[None], *(piece.states for piece in every)]),
            "rate": np.concatenate([[np.nan], *(piece.observed["rate"] for piece in every)]),
            "rows": np.concatenate(
                [self._rows(self.start)[None], *(piece.observed["rows"] for piece in every)]
            ),
        }

    def create(self, path: Path, *, overwrite: bool = False, share: float = 1.0) -> None:
        """The run, begun and completed."""
        with RunDirectory.create(
            path, config_text=self.config_text, identity=self.identity, overwrite=overwrite
        ) as directory:
            self.fill(directory, share)

    def resume(self, path: Path, *, share: float = 1.0) -> None:
        """The run, continued or begun, and completed."""
        with RunDirectory.resume(
            path, config_text=self.config_text, identity=self.identity
        ) as directory:
            self.fill(directory, share)

    def fill(self, directory: RunDirectory, share: float) -> None:
        writer = TrajectoryWriter(directory, self.layout, share=share)
        state = self.start if writer.state is None else writer.state
        stream(writer, self.pieces(state, writer.step))
        directory.complete()

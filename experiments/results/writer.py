"""A trajectory that goes to the disk while it is computed."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import numpy as np

from experiments.files import beside, replace_files, synchronise, write_atomically, write_folder
from experiments.results import checkpoint, store
from experiments.results.directory import RunDirectory
from experiments.results.layout import Layout
from experiments.results.manifest import Progress
from experiments.results.store import Encoder


class Piece(Protocol):
    """Consecutive steps of a solution in host memory, as solvers yield them."""

    @property
    def first_step(self) -> int:
        """The step it starts from."""
        ...

    @property
    def last_step(self) -> int:
        """The step it ends after."""
        ...

    @property
    def times(self) -> np.ndarray:
        """The depths t of the saved states, (saves,)."""
        ...

    @property
    def states(self) -> np.ndarray:
        """Saved states after ``first_step`` up to ``last_step``, (saves, [samples,] x, y)."""
        ...

    @property
    def observed(self) -> Mapping[str, np.ndarray]:
        """Observables after each step, (last_step - first_step, ...)."""
        ...

    @property
    def state(self) -> np.ndarray:
        """What the solver goes on from after ``last_step``."""
        ...


class TrajectoryWriter:
    """Writes ``trajectory.zarr`` of a run, in pieces, so that a kill at any moment does no harm.

    The group is laid out in full before the first step; what is not written reads as NaN.  A piece
    goes to chunk files, each replaced in one step.  It is *published* when its observables and the
    state after it are on the disk, too, and then the manifest, replaced in one step, says so.
    Everything after what is published is written again when the run is resumed, with the same bits.

    Publishing waits for the disk.  Therefore it happens with the last piece, with :meth:`publish`,
    and otherwise as often as a share of the time allows.

    Args:
        directory: of the run; a new one gets the group, a resumed one must have the same.
        layout: the variables.
        share: of the time that publishing may take; 1 publishes every piece.

    Raises:
        ValueError: if the directory holds a trajectory of another layout or initial state.

    Attributes:
        step: the number of steps that are written, where the next piece must start.
        state: the state after them, as the solver gave it; None before the first step.
    """

    def __init__(self, directory: RunDirectory, layout: Layout, *, share: float = 0.1) -> None:
        """Lay the group out, or check that it is there."""
        self._directory, self._layout, self._share = directory, layout, share
        self._folder = directory.path / store.NAME
        self._encoder = Encoder(layout, directory.manifest.identity)
        if self._folder.exists():
            self._check()
        else:
            self._create()
        self._encoder.files.clear()
        progress = directory.manifest.trajectory or self._begin()
        found = progress.checkpoint
        checkpoint.remove_others(directory.path, found)
        self.step = progress.steps_done
        self.state = None if found is None else checkpoint.read(directory.path, found)
        self._observed: list[Mapping[str, np.ndarray]] = []
        self._consistent = True
        self._rest_until = 0.0

    def append(self, piece: Piece) -> None:
        """Write the next piece.

        Raises:
            ValueError: if it is not the next one, or its arrays do not fit the layout.
            OSError: if the system refuses, for instance because the disk is full.  Then, or after
                any other exception here, the directory is as if killed: resume it with a new
                writer.
        """
        if not self._consistent:
            raise ValueError("expected no piece after one that failed; resume the directory")
        self._check_piece(piece)
        self._consistent = False
        self._replace(self._encode("u", self._layout.saved(piece.first_step), piece.states))
        self._observed.append(piece.observed)
        self.step, self.state = piece.last_step, piece.state
        self._consistent = True
        if self.step == self._layout.steps or time.monotonic() >= self._rest_until:
            self.publish()

    def publish(self) -> None:
        """Publish what is written, if anything is and if no piece failed."""
        if not self._consistent or not self._observed:
            return
        self._consistent = False
        began = time.monotonic()
        self._put_observed()
        old = self._progress.checkpoint
        assert self.state is not None
        found, content = checkpoint.encode(self.state, self.step)
        write_atomically(self._directory.path / found.file, content)
        self._directory.publish(
            trajectory=Progress(
                steps=self._layout.steps,
                steps_done=self.step,
                saved=self._layout.saved(self.step),
                observed=self.step + 1,
                checkpoint=found,
            )
        )
        if old is not None:
            (self._directory.path / old.file).unlink(missing_ok=True)
        self._observed = []
        self._consistent = True
        took = time.monotonic() - began
        self._rest_until = began + took / self._share

    @property
    def _progress(self) -> Progress:
        progress = self._directory.manifest.trajectory
        assert progress is not None
        return progress

    def _begin(self) -> Progress:
        progress = Progress(steps=self._layout.steps, steps_done=0, saved=1, observed=1)
        self._directory.publish(trajectory=progress)
        return progress

    def _create(self) -> None:
        staging = beside(self._folder)
        staging.mkdir()
        write_folder(staging, self._encoder.files)
        staging.rename(self._folder)
        synchronise([self._directory.path])

    def _check(self) -> None:
        """Compare what never changes, and the initial state, with the files."""
        starts = {name for name in self._layout.observables} | {"u"}
        fixed = {
            key: content
            for key, content in self._encoder.files.items()
            if key.endswith("zarr.json") or key.split("/")[0] not in starts
        }
        differing = [key for key, content in fixed.items() if self._found(key) != content]
        if not differing:
            first = self._encoder.decode("u", 0, self._files_of("u", 0))
            if first.tobytes() != np.ascontiguousarray(self._layout.initial).tobytes():
                differing = ["the initial state"]
        if differing:
            raise ValueError(
                f"{self._folder}: expected the trajectory that this run began, found another one "
                f"(it differs in {', '.join(differing)}); restore the inputs of the run or begin "
                "with --overwrite"
            )

    def _check_piece(self, piece: Piece) -> None:
        if piece.first_step != self.step or not self.step < piece.last_step <= self._layout.steps:
            raise ValueError(
                f"expected a piece from step {self.step} to at most {self._layout.steps}, got one "
                f"from {piece.first_step} to {piece.last_step}"
            )
        begin, end = (self._layout.saved(step) for step in (piece.first_step, piece.last_step))
        times = self._layout.times[begin:end]
        scale = 1e-9 * self._layout.horizon
        same = len(piece.times) == len(times) and np.allclose(piece.times, times, 0, scale)
        if not same or len(piece.states) != len(times):
            raise ValueError(
                f"steps {piece.first_step} to {piece.last_step}: expected {len(times)} states "
                f"saved {_span(times)}, got {len(piece.states)} saved {_span(piece.times)}"
            )
        if piece.observed.keys() != self._layout.observables.keys():
            raise ValueError(
                f"expected the observables {', '.join(sorted(self._layout.observables))}, got "
                f"{', '.join(sorted(piece.observed))}"
            )
        count = piece.last_step - piece.first_step
        for name, values in piece.observed.items():
            shape = (count, *self._layout.shape_of(self._layout.observables[name].dimensions))
            if values.shape != shape:
                raise ValueError(f"{name}: expected shape {shape}, got {values.shape}")

    def _put_observed(self) -> None:
        begin = self._progress.observed
        files: dict[str, bytes] = {}
        for name in self._layout.observables:
            values = np.concatenate([piece[name] for piece in self._observed])
            files |= self._encode(name, begin, values)
        self._replace(files)

    def _encode(self, name: str, row: int, values: np.ndarray) -> dict[str, bytes]:
        """The files that change; rows before that share a file are kept."""
        if not len(values):
            return {}
        shared = self._encoder.begins_inside(name, row)
        return self._encoder.encode(name, row, values, self._files_of(name, row) if shared else {})

    def _files_of(self, name: str, row: int) -> dict[str, bytes]:
        return {key: self._read(key) for key in self._encoder.keys(name, row)}

    def _read(self, key: str) -> bytes:
        content = self._found(key)
        if content is None:
            raise ValueError(f"{self._folder} is damaged: {key} is missing; begin with --overwrite")
        return content

    def _found(self, key: str) -> bytes | None:
        path = self._folder / key
        return path.read_bytes() if path.exists() else None

    def _replace(self, files: Mapping[str, bytes]) -> None:
        if files:
            replace_files({self._folder / key: content for key, content in files.items()})


def _span(times: np.ndarray) -> str:
    return f"from t = {times[0]:g} to {times[-1]:g}" if len(times) else "never"


def stream(
    writer: TrajectoryWriter,
    pieces: Iterable[Piece],
    on_piece: Callable[[Piece], None] | None = None,
) -> None:
    """Write pieces as they are computed; when computing them fails, publish those before.

    Args:
        writer: where to.
        pieces: from ``writer.step`` on.
        on_piece: called after each is written, for a progress bar.
    """
    try:
        for piece in pieces:
            writer.append(piece)
            if on_piece is not None:
                on_piece(piece)
    finally:
        writer.publish()

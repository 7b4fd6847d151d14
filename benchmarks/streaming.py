"""A trajectory that is larger than the memory it may take, through the writer of results."""

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

#: The saved states, in float64, and how many of them are in memory at a time.
STATES, TOKENS, FEATURES, CHUNK = 2000, 1024, 256, 16

#: Of the whole process, in GiB.
PEAK_LIMIT = 1.5

#: Free space that is asked for, as a multiple of the states' size.
MARGIN = 1.25


@dataclass(frozen=True)
class Piece:
    first_step: int
    last_step: int
    times: np.ndarray
    states: np.ndarray
    observed: dict[str, np.ndarray]
    state: np.ndarray


def streaming() -> dict[str, float]:
    """Stream in a process of its own, into a temporary directory, and check what it wrote.

    Raises:
        OSError: if there is not enough space.
        AssertionError: if the peak of memory is above the limit.
    """
    size = STATES * TOKENS * FEATURES * 8
    with tempfile.TemporaryDirectory(prefix="continuum-streaming-") as folder:
        free = shutil.disk_usage(folder).free
        if free < MARGIN * size:
            raise OSError(
                f"{folder}: expected {MARGIN * size / 2**30:.1f} GiB of free space, found "
                f"{free / 2**30:.1f}; set TMPDIR to a directory on a larger disk"
            )
        command = [sys.executable, "-m", "benchmarks.streaming", str(Path(folder) / "run")]
        report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    if report["peak_gib"] > PEAK_LIMIT:
        raise AssertionError(f"{report['peak_gib']:.2f} GiB of memory > {PEAK_LIMIT} GiB")
    return report


def show(report: dict[str, float]) -> str:
    return (
        f"{STATES} saved states of {TOKENS} x {FEATURES} float64, {report['gib']:.2f} GiB: "
        f"peak memory {report['peak_gib']:.2f} GiB (limit {PEAK_LIMIT}), "
        f"{report['disk_gib']:.2f} GiB on disk, {report['seconds']:.1f} s, "
        f"{report['mb_per_s']:.0f} MB/s"
    )


def pieces(start: np.ndarray) -> Iterator[Piece]:
    """States whose low digits are random: what compresses least, as real states do."""
    rng = np.random.default_rng(0)
    steps = STATES - 1
    state = start
    for first in range(0, steps, CHUNK):
        last = min(first + CHUNK, steps)
        states = np.empty((last - first, *start.shape))
        for row in states:
            state = np.cos(state) + 0.1 * rng.standard_normal(start.shape)
            row[:] = state
        observed = {"mean": states.mean((1, 2))}
        times = np.arange(first + 1, last + 1) / steps
        yield Piece(first, last, times, states, observed, state)


def write(path: Path) -> dict[str, float]:
    """The work itself, in this process."""
    from experiments.results import Identity, RunDirectory
    from experiments.results.layout import Layout, Observable
    from experiments.results.writer import TrajectoryWriter

    layout = Layout(
        np.zeros((TOKENS, FEATURES)),
        tokens=np.arange(TOKENS) + 0.5,
        features=np.arange(FEATURES) + 0.5,
        horizon=1.0,
        steps=STATES - 1,
        chunk=CHUNK,
        observables={"mean": Observable("mean of u")},
    )
    seconds, mean = 0.0, 0.0
    with RunDirectory.create(path, config_text="", identity=Identity("run")) as directory:
        writer = TrajectoryWriter(directory, layout)
        for piece in pieces(layout.initial):
            began = time.perf_counter()
            writer.append(piece)
            seconds += time.perf_counter() - began
            mean = piece.observed["mean"][-1]
        directory.complete()
    _check(path, mean)
    size = STATES * TOKENS * FEATURES * 8
    stored = sum(entry.stat().st_size for entry in path.rglob("*") if entry.is_file())
    scale = 2**30 if sys.platform == "darwin" else 2**20
    return {
        "gib": size / 2**30,
        "disk_gib": stored / 2**30,
        "seconds": seconds,
        "mb_per_s": size / seconds / 1e6,
        "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale,
    }


def _check(path: Path, mean: float) -> None:
    """Read the last state back, without the others."""
    from experiments.results import open_run

    data = open_run(path).dataset
    found = data["u"].isel(t=-1).to_numpy().mean()
    # The same numbers in another order of summation.
    if data.sizes["t"] != STATES or abs(found - mean) > 1e-12:
        raise AssertionError(f"expected {STATES} states that end with mean {mean}, read {found}")


if __name__ == "__main__":
    json.dump(write(Path(sys.argv[1])), sys.stdout)

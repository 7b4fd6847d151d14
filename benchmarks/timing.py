"""Paired timing: the two sides take turns, so that a drifting machine disturbs both alike."""

import dataclasses
import time
from collections.abc import Callable

import numpy as np


@dataclasses.dataclass(frozen=True)
class Paired:
    """Seconds a call of either side, in turn, and how long our first call (compilation) took."""

    name: str
    ours: np.ndarray
    theirs: np.ndarray
    compile_seconds: float
    gigaflop: float

    def summary(self) -> dict[str, float | str]:
        ratios = self.ours / self.theirs
        return {
            "name": self.name,
            "ours_ms": 1e3 * float(np.median(self.ours)),
            "theirs_ms": 1e3 * float(np.median(self.theirs)),
            "ratio": float(np.median(ratios)),
            "ratio_low": float(np.quantile(ratios, 0.25)),
            "ratio_high": float(np.quantile(ratios, 0.75)),
            "compile_s": self.compile_seconds,
            "ours_gflops": self.gigaflop / float(np.median(self.ours)),
            "theirs_gflops": self.gigaflop / float(np.median(self.theirs)),
        }


def pair(
    name: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    gigaflop: float,
    rounds: int,
    agree: Callable[[object, object], None],
    warmup: int = 3,
) -> Paired:
    """Time both, A B A B ...; each callable must block until its result is there.

    ``agree`` raises when the two results differ: a fast wrong answer is no benchmark.
    """
    start = time.perf_counter()
    answer = ours()
    first = time.perf_counter() - start
    agree(answer, theirs())
    for _ in range(warmup):
        ours()
        theirs()
    times = np.array([[seconds(ours), seconds(theirs)] for _ in range(rounds)])
    steady = float(np.median(times[:, 0]))
    return Paired(name, times[:, 0], times[:, 1], max(first - steady, 0.0), gigaflop)


def seconds(call: Callable[[], object]) -> float:
    """The wall time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start

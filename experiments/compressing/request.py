"""What ``continuum compress`` is asked to do, as checked data; loads nothing heavy."""

import math
from dataclasses import dataclass
from pathlib import Path

from experiments.options import Precision


@dataclass(frozen=True)
class CompressRequest:
    """One comparison of several ranks.

    Args:
        model: a directory, or "minilm".
        ranks: the ranks to compare; with no tolerances either, powers of two.
        tolerances: in place of ranks, relative Hilbert-Schmidt errors of every kernel.
        texts: sentences; by default a few of different lengths.
        precision: of every array.
        output: the directory of figures and numbers; by default ``output/<model>-compression``.
    """

    model: str
    ranks: tuple[int, ...] = ()
    tolerances: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    precision: Precision = Precision.FLOAT64
    output: Path | None = None

    def __post_init__(self) -> None:
        """Refuse contradictions and numbers out of range."""
        if self.ranks and self.tolerances:
            raise ValueError(
                "--rank and --tolerance exclude each other: the one says how many terms to keep, "
                "the other how well; leave out one of them"
            )
        for rank in self.ranks:
            if rank < 1:
                raise ValueError(f"--rank: expected a whole number >= 1, got {rank}")
        for tolerance in self.tolerances:
            if not (math.isfinite(tolerance) and 0.0 <= tolerance < 1.0):
                raise ValueError(
                    f"--tolerance: expected a relative error of at least 0 and less than 1, got "
                    f"{tolerance}"
                )

    @property
    def directory(self) -> Path:
        """Where figures and numbers go."""
        name = Path(self.model).resolve().name
        return self.output or Path("output") / f"{name}-compression"

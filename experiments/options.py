"""What the commands that take a config have in common, as checked data; loads nothing heavy."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Precision(StrEnum):
    """The precision of a computation."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"


@dataclass(frozen=True)
class Options:
    """How to carry out an experiment.

    Args:
        config: a file, or the name of a shipped config.
        output: the directory of the result; by default ``output/<name>`` (``-convergence`` added
            for studies).
        changes: ``key.path=value`` for each changed value of the config.
        precision: of every array.
        threads: how many processors to use; by default all.
        progress: whether to show progress (only ever on a terminal).
        json: whether standard output is to hold the summary as JSON and nothing else.
        overwrite: replace an existing result.
        resume: continue an existing result.
        allow_incompatible: go on with an ill-posed question; every output is marked.
        plugins: Python files that register schemes, kernels or rules of one's own.
    """

    config: str
    output: Path | None = None
    changes: tuple[str, ...] = ()
    precision: Precision = Precision.FLOAT64
    threads: int | None = None
    progress: bool = True
    json: bool = False
    overwrite: bool = False
    resume: bool = False
    allow_incompatible: bool = False
    plugins: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        """Refuse contradictions."""
        if self.overwrite and self.resume:
            raise ValueError(
                "--overwrite and --resume exclude each other: the one begins anew, the other "
                "continues; leave out one of them"
            )
        if self.threads is not None and self.threads < 1:
            raise ValueError(f"--threads: expected a whole number >= 1, got {self.threads}")

    @property
    def name(self) -> str:
        """The name of the config without its folder and ending."""
        return Path(self.config).stem if self.config.endswith(".toml") else self.config

    def directory(self, suffix: str = "") -> Path:
        """Where the result goes."""
        return self.output or Path("output") / f"{self.name}{suffix}"

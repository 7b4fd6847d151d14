"""Reading a result."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.results.directory import CONFIG
from experiments.results.manifest import Manifest, is_result

if TYPE_CHECKING:
    import numpy as np
    import xarray


@dataclass(frozen=True)
class Run:
    """A result on disk, finished or not.

    Args:
        path: its directory.
        manifest: what it said when it was opened.
    """

    path: Path
    manifest: Manifest

    @cached_property
    def config_text(self) -> str:
        """The config as resolved, TOML."""
        return (self.path / CONFIG).read_bytes().decode()

    @cached_property
    def dataset(self) -> "xarray.Dataset":
        """The published part of the trajectory, values read when they are needed.

        ``xarray.open_zarr(path / "trajectory.zarr")`` has the full length of every axis and, in an
        unfinished run, NaN or values that are not published yet after this part.

        Raises:
            ValueError: if the result has no trajectory.
        """
        import xarray

        from experiments.results.store import NAME

        progress = self.manifest.trajectory
        if progress is None:
            raise ValueError(
                f"{self.path}: expected a trajectory, found none: {self.manifest.identity.kind}, "
                f"{self.manifest.status}"
            )
        whole = xarray.open_zarr(self.path / NAME)
        return whole.isel(t=slice(progress.saved), step=slice(progress.observed))

    def checkpoint(self) -> "np.ndarray | None":
        """The solver's state after the published steps; None before the first.

        Raises:
            ValueError: if its file is missing or damaged.
        """
        from experiments.results.checkpoint import read

        progress = self.manifest.trajectory
        if progress is None or progress.checkpoint is None:
            return None
        return read(self.path, progress.checkpoint)


def open_run(path: str | os.PathLike[str]) -> Run:
    """Open a result for reading; a writer may be at work.

    Raises:
        FileNotFoundError: if there is no result.
        ValueError: if it is damaged or of a later version.
    """
    folder = Path(path).resolve()
    if not is_result(folder):
        raise FileNotFoundError(f"{folder}: expected the directory of a result, found none")
    return Run(folder, Manifest.read(folder))

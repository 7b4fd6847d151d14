"""Results on disk: one directory for each run, never half-written, resumed bit for bit.

``trajectory.zarr`` is written by :mod:`experiments.results.writer`, which is imported when it is
needed, for it imports zarr.
"""

from experiments.results.directory import RunDirectory
from experiments.results.manifest import Checkpoint, Identity, Manifest, Progress
from experiments.results.run import Run, open_run
from experiments.results.tables import read_convergence, write_convergence

__all__ = [
    "Checkpoint",
    "Identity",
    "Manifest",
    "Progress",
    "Run",
    "RunDirectory",
    "open_run",
    "read_convergence",
    "write_convergence",
]

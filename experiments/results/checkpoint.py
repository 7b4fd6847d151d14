"""The state a run goes on from, bit for bit."""

import io
import zlib
from pathlib import Path

import numpy as np

from experiments.results.manifest import Checkpoint

#: Pattern of the files' names.
PATTERN = "checkpoint-*.npy"


def encode(state: np.ndarray, step: int) -> tuple[Checkpoint, bytes]:
    """What the manifest says about a state after some steps, and the content of its file.

    Raises:
        TypeError: for an array that only pickle could store.
    """
    if state.dtype.hasobject or state.dtype.kind == "V":
        raise TypeError(f"expected a state of numbers, got dtype {state.dtype}")
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(state), allow_pickle=False)
    content = stream.getvalue()
    return Checkpoint(f"checkpoint-{step:09}.npy", step, zlib.crc32(content)), content


def read(folder: Path, checkpoint: Checkpoint) -> np.ndarray:
    """The state.

    Raises:
        ValueError: if the file is missing or not what was written.
    """
    path = folder / checkpoint.file
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        content = b""
    if zlib.crc32(content) != checkpoint.checksum:
        raise ValueError(f"{path} is missing or damaged; begin with --overwrite")
    return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)


def remove_others(folder: Path, kept: Checkpoint | None) -> None:
    """Remove the checkpoints that the manifest does not name."""
    for path in folder.glob(PATTERN):
        if kept is None or path.name != kept.file:
            path.unlink(missing_ok=True)

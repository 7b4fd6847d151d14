"""Files that appear whole or not at all."""

import contextlib
import os
import tempfile
from pathlib import Path


def check_writable(path: Path, what: str) -> Path:
    """Refuse, before any work is done, a path that is no place for a regular file.

    Args:
        path: where the file will be.
        what: what it will hold, in words.

    Raises:
        ValueError: if something else stands there: a directory, a device, a pipe; or if a file
            stands where its directory should be.
    """
    if path.exists() and not path.is_file():
        kind = "a directory" if path.is_dir() else "a device, pipe or socket"
        raise ValueError(f"{what}: expected the name of a file, found {kind} at {path}")
    parent = next(p for p in path.absolute().parents if p.exists())
    if not parent.is_dir():
        raise ValueError(f"{what}: expected a directory at {parent}, found a file")
    if not os.access(parent, os.W_OK):
        raise ValueError(f"{what}: the directory {parent} is not writable; choose another one")
    return path


def write_atomically(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path``, replacing a file; parent directories are created.

    The content goes to a temporary file beside it, which then takes its place: whoever reads sees
    the old file or the new one.  A symbolic link is followed.
    """
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), _mode(target))
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask

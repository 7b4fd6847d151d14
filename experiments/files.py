"""Files that appear whole or not at all, and that survive a kill and a power failure."""

import contextlib
import errno
import glob
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

#: Beginning of the names of temporary files; what a killed process leaves is called so.
PARTIAL = ".partial-"

#: Files that are brought to the disk at once: each waits for the device, not for a processor.
_THREADS = 16


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

    The content goes to a temporary file beside it, to the disk, and then takes its place: whoever
    reads, also after a kill or a power failure, sees the old file or the new one.  A symbolic link
    is followed.
    """
    replace_files({path: content})


def replace_files(contents: Mapping[Path, bytes]) -> None:
    """Write many files as :func:`write_atomically` does; each by itself is old or new."""
    targets = [(path.resolve(), content) for path, content in contents.items()]
    parts = {path: path.with_name(PARTIAL + secrets.token_hex(8)) for path, _ in targets}
    try:
        for folder in {path.parent for path, _ in targets}:
            if not folder.is_dir():
                folder.mkdir(parents=True, exist_ok=True)
        _each(_write, ((parts[path], content, path) for path, content in targets))
        for path, part in parts.items():
            os.replace(part, path)
    except BaseException:
        for part in parts.values():
            with contextlib.suppress(OSError):
                os.unlink(part)
        raise
    synchronise({path.parent for path in parts})


def write_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Put new files, by their relative names, into a new folder; all on the disk before it returns.

    Nothing here is atomic: rename the folder into its place afterwards.

    Raises:
        FileExistsError: if there is such a file.
    """
    inner = {parent for name in contents for parent in (folder / name).parents}
    folders = sorted(path for path in inner if path.is_relative_to(folder))
    for path in folders:
        if path != folder:
            path.mkdir(exist_ok=True)
    _each(_write, ((folder / name, content, None) for name, content in contents.items()))
    synchronise(folders)


def write_new_folder(target: Path, contents: Mapping[str, bytes]) -> None:
    """Put new files into a folder that does not exist or is empty: all of them, or nothing.

    Raises:
        FileExistsError: if something stands there.
    """
    target = target.resolve()
    remedy = "expected a directory that does not exist or is empty; choose another one"
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise FileExistsError(f"{target}: {remedy}")
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = beside(target)
    try:
        staging.mkdir()
        write_folder(staging, contents)
        os.rename(staging, target)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    synchronise([target.parent])


def synchronise(folders: Iterable[Path]) -> None:
    """Bring the entries of folders, the names of the files in them, to the disk."""
    _each(_synchronise, ((folder,) for folder in folders))


def beside(path: Path) -> Path:
    """A new temporary name in the directory of ``path``."""
    return path.with_name(f"{PARTIAL}{secrets.token_hex(8)}-{path.name}")


def left_beside(path: Path) -> list[Path]:
    """What stands under the names that :func:`beside` gives for ``path``."""
    return sorted(path.parent.glob(f"{PARTIAL}{'[0-9a-f]' * 16}-{glob.escape(path.name)}"))


def sweep(folder: Path) -> None:
    """Remove the temporary files and folders that killed processes left in ``folder``."""
    for path in list(folder.rglob(PARTIAL + "*")):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _each(function: Callable[..., None], arguments: Iterable[tuple[Any, ...]]) -> None:
    """Call ``function`` with every tuple of arguments; raise the first error after all ended."""
    calls = list(arguments)
    if len(calls) == 1 or _THREADS == 1:
        for call in calls:
            function(*call)
        return
    with ThreadPoolExecutor(_THREADS) as pool:
        for done in [pool.submit(function, *call) for call in calls]:
            done.result()


def _write(path: Path, content: bytes, replaced: Path | None) -> None:
    """Write a new file to the disk, with the permissions of the one it will replace."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(handle, rest) :]
        if replaced is not None and replaced.exists():
            os.fchmod(handle, replaced.stat().st_mode & 0o777)
        os.fsync(handle)
    finally:
        os.close(handle)


def _synchronise(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # this file system has no such thing
            raise
    finally:
        os.close(handle)

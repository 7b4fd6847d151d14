"""The directory of a result that is being written."""

import contextlib
import dataclasses
import difflib
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Any

from experiments.files import (
    beside,
    left_beside,
    sweep,
    synchronise,
    write_atomically,
    write_folder,
)
from experiments.results import lock, manifest
from experiments.results.exchange import asides, exchange
from experiments.results.lock import Lock
from experiments.results.manifest import Identity, Manifest, is_result

#: The file with the config as resolved.
CONFIG = "config.toml"


class RunDirectory:
    """A directory with the config, the manifest and whatever else belongs to one result.

    It is put together under another name and renamed, so it is never seen without its config and
    manifest.  Until :meth:`complete` the manifest says ``running``, after a kill too, and
    :meth:`resume` continues.  Use it as a context; leaving it only gives the lock back.

    Made by :meth:`create` and :meth:`resume`.

    Attributes:
        path: where it is.
        manifest: what its ``manifest.json`` says.
    """

    def __init__(self, path: Path, held: Lock, said: Manifest) -> None:
        """Of an existing directory whose lock is held."""
        self.path = path
        self.manifest = said
        self._lock = held

    @staticmethod
    def create(
        path: str | os.PathLike[str],
        *,
        config_text: str,
        identity: Identity,
        overwrite: bool = False,
    ) -> "RunDirectory":
        """Begin a result.

        Args:
            path: a directory that does not exist; its parents are created.
            config_text: the config as resolved, TOML.
            identity: what it is a result of.
            overwrite: whether a result of ours (with all that is in its directory), or an empty
                directory, may be replaced.  The old one stays until the new one takes its place,
                in one step.

        Raises:
            FileExistsError: if something stands there that may not be replaced.
            BlockingIOError: if the old result is being written.
            OSError: if the system refuses; then nothing has changed.
        """
        target = Path(path).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep_beside(target)
        _check_replaceable(target, overwrite)
        old = Lock(target) if is_result(target) else None
        try:
            return _place(target, config_text, Manifest(identity), exchanging=old is not None)
        finally:
            if old is not None:
                old.release()

    @staticmethod
    def resume(
        path: str | os.PathLike[str], *, config_text: str, identity: Identity
    ) -> "RunDirectory":
        """Continue a result, or begin it when nothing is there, not even a file.

        Args:
            path: the directory.
            config_text: must be what it began with.
            identity: must be what it began with; with other versions, say, the same bits could not
                be promised.

        Raises:
            FileExistsError: if something stands there that is no result of ours.
            ValueError: if it is another result or damaged; the message names each difference.
            BlockingIOError: if it is being written.
        """
        target = Path(path).resolve()
        _sweep_beside(target)
        if not target.exists() or _is_empty(target):
            return RunDirectory.create(
                target, config_text=config_text, identity=identity, overwrite=True
            )
        if not is_result(target):
            raise FileExistsError(
                f"{target}: expected a result to resume, found something else; choose another "
                "directory"
            )
        held = Lock(target)
        try:
            found = RunDirectory(target, held, Manifest.read(target))
            _check_same(target, found.manifest, config_text, identity)
            sweep(target)
            if found.manifest.status == "failed":
                found.publish(status="running", reason=None)
        except BaseException:
            held.release()
            raise
        return found

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.manifest.status == "complete"

    def publish(self, **changes: Any) -> None:
        """Replace the manifest, in one step, by one with other values for some fields."""
        said = dataclasses.replace(self.manifest, **changes)
        write_atomically(self.path / manifest.NAME, said.to_bytes())
        self.manifest = said

    def write(self, name: str, content: bytes) -> Path:
        """Write a file in the directory, whole or not at all; gives its path.

        Raises:
            ValueError: for a name that leads out of the directory or belongs to its mechanism.
        """
        path = self.path / name
        reserved = {self.path / other for other in (manifest.NAME, CONFIG, lock.NAME)}
        if not path.resolve().is_relative_to(self.path) or path.resolve() in reserved:
            raise ValueError(f"expected a name inside {self.path} that is free, got {name!r}")
        write_atomically(path, content)
        return path

    def complete(self) -> None:
        """Say that nothing is left to do.

        Raises:
            ValueError: if steps of the trajectory are.
        """
        progress = self.manifest.trajectory
        if progress is not None and progress.steps_done != progress.steps:
            raise ValueError(
                f"{self.path}: expected {progress.steps} steps before it is complete, found "
                f"{progress.steps_done}; continue with --resume"
            )
        self.publish(status="complete", reason=None)

    def fail(self, reason: str) -> None:
        """Say that it cannot be finished, and why; what was written stays readable."""
        self.publish(status="failed", reason=reason)

    def close(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def __enter__(self) -> "RunDirectory":
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Give the lock back."""
        self.close()


def _place(target: Path, config_text: str, said: Manifest, *, exchanging: bool) -> RunDirectory:
    """Put a new directory together and let it take its place."""
    staging = beside(target)
    held = None
    try:
        staging.mkdir()
        held = Lock(staging)
        write_folder(staging, {CONFIG: config_text.encode(), manifest.NAME: said.to_bytes()})
        if exchanging:
            exchange(staging, target)
        else:
            _rename(staging, target)
        synchronise([target.parent])
        if exchanging:
            shutil.rmtree(staging, ignore_errors=True)
    except BaseException:
        if held is not None:
            held.release()
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return RunDirectory(target, held, said)


def _rename(staging: Path, target: Path) -> None:
    try:
        os.rename(staging, target)
    except OSError as error:
        if target.exists() and not _is_empty(target):
            raise _exists(target) from error
        raise


def _check_replaceable(target: Path, overwrite: bool) -> None:
    if not target.exists():
        return
    if not overwrite and (is_result(target) or _is_empty(target)):
        raise _exists(target)
    if not is_result(target) and not _is_empty(target):
        raise FileExistsError(
            f"{target}: expected a directory that does not exist, or a result of this program to "
            "overwrite, found something else, which is never deleted; choose another directory"
        )


def _exists(target: Path) -> FileExistsError:
    remedy = "add --overwrite or --resume, or choose another one"
    return FileExistsError(f"{target}: expected a directory that does not exist; {remedy}")


def _is_empty(target: Path) -> bool:
    return target.is_dir() and not any(target.iterdir())


def _sweep_beside(target: Path) -> None:
    """Undo and remove what killed processes left beside the directory, but nothing in use.

    Raises:
        BlockingIOError: if another process is just exchanging it.
    """
    for path in asides(target):
        if not target.exists():
            held = Lock(path)
            os.rename(path, target)
            held.release()
    for path in (*left_beside(target), *asides(target)):
        with contextlib.suppress(BlockingIOError):
            held = Lock(path)
            shutil.rmtree(path, ignore_errors=True)
            held.release()


def _check_same(target: Path, said: Manifest, config_text: str, identity: Identity) -> None:
    remedy = "restore what it began with, or begin anew with --overwrite"
    differences = said.identity.differences(identity)
    if differences:
        raise ValueError(f"{target} began with other settings ({'; '.join(differences)}); {remedy}")
    began = (target / CONFIG).read_bytes().decode()
    if began != config_text:
        lines = difflib.unified_diff(began.splitlines(), config_text.splitlines(), n=0, lineterm="")
        changes = [line for line in lines if line[:3] not in ("---", "+++") and line[:2] != "@@"]
        raise ValueError(
            f"{target} began with another config ({'; '.join(changes) or 'line ends'}); {remedy}"
        )

"""One writer for each result directory."""

import fcntl
import os
from pathlib import Path

#: The file in a result directory that its writer holds a lock on.
NAME = ".lock"


class Lock:
    """The right to write into a directory.

    The lock belongs to the open file, so the kernel takes it from a process that dies, however it
    dies: there are no stale locks.  It moves with the directory when that is renamed.

    Args:
        folder: an existing directory.

    Raises:
        BlockingIOError: if another process, or another ``Lock`` of this one, writes there.
        FileNotFoundError: if there is no such directory.
    """

    def __init__(self, folder: Path) -> None:
        """Take it, or raise."""
        self._handle = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not self._stands_at(folder):  # it was moved away between the two lines above
                raise BlockingIOError
            os.truncate(self._handle, 0)
            os.write(self._handle, f"{os.getpid()}\n".encode())
        except BlockingIOError as error:
            writer = os.pread(self._handle, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(self._handle)
            raise BlockingIOError(
                f"{folder}: expected no other writer, found one at work (process {writer}); wait "
                "for it, stop it, or choose another directory"
            ) from error
        except BaseException:
            os.close(self._handle)
            raise

    def release(self) -> None:
        """Give it back; a second time does nothing."""
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1

    def _stands_at(self, folder: Path) -> bool:
        try:
            return os.path.samestat(os.fstat(self._handle), os.stat(folder / NAME))
        except FileNotFoundError:
            return False

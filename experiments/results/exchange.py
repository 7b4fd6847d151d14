"""Two directories that change places in one step."""

import ctypes
import glob
import os
import secrets
import sys
from pathlib import Path

#: Constants of the system calls, from <linux/fs.h>, <fcntl.h> and <sys/stdio.h>.
_EXCHANGE, _AT_CWD = 2, -100

_ASIDE = ".aside-"


def exchange(first: Path, second: Path) -> None:
    """Let two directories of one file system change places, at no moment with either name empty.

    Python has no name for the system call (``renameat2`` on Linux, ``renamex_np`` on macOS).  Where
    the file system does not know it, three renames do the same in three steps; what a kill leaves
    after the first one, :func:`asides` finds.
    """
    if not _in_one_step(first, second):
        aside = second.with_name(f"{_ASIDE}{secrets.token_hex(8)}-{second.name}")
        os.rename(second, aside)
        try:
            os.rename(first, second)
        except BaseException:
            os.rename(aside, second)
            raise
        os.rename(aside, first)


def asides(path: Path) -> list[Path]:
    """What stood at ``path`` before an exchange that was killed."""
    return sorted(path.parent.glob(f"{_ASIDE}{'[0-9a-f]' * 16}-{glob.escape(path.name)}"))


def _in_one_step(first: Path, second: Path) -> bool:
    """Whether the system could do it."""
    library = ctypes.CDLL(None)
    names = os.fsencode(first), os.fsencode(second)
    try:
        if sys.platform == "darwin":
            return library.renamex_np(*names, _EXCHANGE) == 0
        return library.renameat2(_AT_CWD, names[0], _AT_CWD, names[1], _EXCHANGE) == 0
    except AttributeError:  # an old library
        return False

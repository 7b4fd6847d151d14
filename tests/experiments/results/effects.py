"""Every way to change a file system, watched."""

import os
from pathlib import Path

from experiments import files
from experiments.results import exchange

#: Functions of ``os`` through which files change; ``open`` only when it may write.
NAMES = (
    "open", "write", "fsync", "fchmod", "truncate", "replace", "rename", "mkdir", "unlink", "rmdir"
)  # fmt: skip

#: Those whose first argument is an open file.
OF_HANDLES = ("write", "fsync", "fchmod", "truncate")


class Effects:
    """Calls ``before(name, paths)`` before each effect, which may raise instead of it.

    What ``before`` itself does to files is not an effect.
    """

    def __init__(self, before):
        self._before = before
        self._paths = {}
        self._inside = False

    def install(self, monkeypatch):
        monkeypatch.setattr(files, "_THREADS", 1)  # the same order each time
        for name in NAMES:
            monkeypatch.setattr(os, name, self._watch(name, getattr(os, name)))
        original = exchange._in_one_step
        monkeypatch.setattr(exchange, "_in_one_step", self._watch("exchange", original))

    def _watch(self, name, original):
        def effect(*arguments, **options):
            reading = name == "open" and not arguments[1] & (os.O_WRONLY | os.O_RDWR)
            if not reading and not self._inside:
                self._tell(name, self._paths_of(name, arguments))
            # Nothing here waits for a real disk.
            result = None if name == "fsync" else original(*arguments, **options)
            if name == "open":
                self._paths[result] = Path(arguments[0])
            return result

        return effect

    def _tell(self, name, paths):
        self._inside = True
        try:
            self._before(name, paths)
        finally:
            self._inside = False

    def _paths_of(self, name, arguments):
        if name in OF_HANDLES:
            return [self._paths[arguments[0]]]
        count = 2 if name in ("replace", "rename", "exchange") else 1
        return [Path(argument) for argument in arguments[:count]]


class Count:
    """Counts effects by name."""

    def __init__(self):
        self.names = []

    def __call__(self, name, paths):
        self.names.append(name)


class Fail:
    """Raises at the effect of some number, counted from 0, and not again."""

    def __init__(self, number, error):
        self._rest, self._error = number, error

    def __call__(self, name, paths):
        self._rest -= 1
        if self._rest == -1:
            raise self._error

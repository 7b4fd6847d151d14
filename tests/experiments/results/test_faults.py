"""A fault at every write boundary: nothing unreadable, and resuming gives the same bits."""

import copy
import errno
import hashlib
import os
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from experiments.files import PARTIAL
from experiments.results import RunDirectory, exchange, lock, manifest, open_run, writer
from experiments.results.writer import TrajectoryWriter
from tests.experiments.results.comparison import assert_finished, assert_readable, contents
from tests.experiments.results.effects import Count, Effects, Fail
from tests.experiments.results.example import Example

OLD = Example(seed=1, steps=4)

#: All of them at every boundary in the soak; the quick tests deal them out in turn.
EXCEPTIONS = (
    OSError(errno.ENOSPC, "No space left on device"),
    PermissionError(errno.EACCES, "Permission denied"),
    KeyboardInterrupt(),
)


def nothing(example, path):
    pass


def old_run(example, path):
    OLD.create(path)


def killed_run(example, path):
    """A run that died with a piece published and another on the disk, not published."""
    with RunDirectory.create(
        path, config_text=example.config_text, identity=example.identity
    ) as directory:
        trajectory = TrajectoryWriter(directory, example.layout, share=1e-9)
        for piece in list(example.pieces(example.start, 0))[:2]:
            trajectory.append(piece)
    assert trajectory.step > open_run(path).manifest.trajectory.steps_done > 0
    (path / "trajectory.zarr" / "u" / f"{PARTIAL}torn").write_bytes(b"torn")


def begin(example, path):
    example.create(path)


def resume(example, path):
    example.resume(path)


def overwrite(example, path):
    """Begin anew where the old run is; no further than that."""
    RunDirectory.create(
        path, config_text=example.config_text, identity=example.identity, overwrite=True
    ).close()


@dataclass(frozen=True)
class Scenario:
    """A run, what stands in its place before, what is done, and whether that is one exchange."""

    example: Example
    prepare: Any
    act: Any
    in_one_step: bool = True


SCENARIOS = {
    "begin": Scenario(Example(steps=4), nothing, begin),
    "resume": Scenario(Example(), killed_run, resume),
    "overwrite": Scenario(Example(steps=4), old_run, overwrite),
    "overwrite in three renames": Scenario(Example(steps=4), old_run, overwrite, in_one_step=False),
}


class Case:
    """A scenario, again and again with different faults."""

    def __init__(self, scenario, folder, monkeypatch, thorough):
        self._scenario, self._monkeypatch, self._thorough = scenario, monkeypatch, thorough
        self._template, self._folder = folder / "template", folder / "here"
        self._path, self._snapshot = self._folder / "run", folder / "snapshot"
        self._seen = set()
        self._template.mkdir()
        self._example = scenario.example
        self.under(Count(), scenario.prepare, self._template / "run")
        self.under(Count(), begin, folder / "finished")
        assert_finished(folder / "finished", self._example)
        self._finished = contents(folder / "finished")

    def restart(self):
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.copytree(self._template, self._folder)

    def act(self, before):
        """The scenario, from its beginning."""
        self.restart()
        self.under(before, self._scenario.act, self._path)
        return before

    def under(self, before, act, path):
        with self._monkeypatch.context() as patch:
            Effects(before).install(patch)
            return act(self._example, path)

    def check_killed(self, name, paths):
        """What a kill at this moment would leave: a copy is checked, the original goes on."""
        if name in ("open", "write"):  # so half a write is never seen
            hidden = any(part.startswith(PARTIAL) for part in paths[0].parts)
            assert hidden or paths[0].name == lock.NAME
        if self._is_new_state(self._folder):
            shutil.rmtree(self._snapshot, ignore_errors=True)
            shutil.copytree(self._folder, self._snapshot)
            self._check(self._snapshot / "run")

    def check_left(self):
        """What an exception has left."""
        if self._is_new_state(self._folder):
            self._check(self._path)

    def _check(self, path):
        overwriting = self._scenario.prepare is old_run
        absent = not path.exists()
        assert not absent or self._scenario.act is begin or not self._scenario.in_one_step
        if not absent:
            old = open_run(path).config_text == OLD.config_text
            (assert_finished if old else assert_readable)(path, OLD if old else self._example)
        old_was_there = self.under(Count(), self._finish, path)
        assert old_was_there or not (absent and overwriting)
        assert contents(path) == self._finished
        assert [entry.name for entry in path.parent.iterdir()] == ["run"]

    def _finish(self, example, path):
        """What a user does next; whether it was the old run that stood there."""
        try:
            example.resume(path)
        except ValueError as error:
            assert "began with other settings (seed: 1 -> 0)" in str(error)
            example.create(path, overwrite=True)
            return True
        return False

    def _is_new_state(self, folder):
        """Whether the files are not as they were at some moment before.

        Temporary names count without what is random in them and, but for the soak, without what is
        inside, which nobody reads.
        """
        digest = hashlib.sha256()
        for place, folders, files in os.walk(folder):
            hidden = PARTIAL in place[len(str(folder)) :]
            if hidden and not self._thorough:
                folders.clear()
            folders.sort()
            for name in sorted(files):
                temporary = hidden or name.startswith(PARTIAL) or name == lock.NAME
                with open(os.path.join(place, name), "rb") as file:
                    content = b"" if temporary and not self._thorough else file.read()
                shown = f"{place[len(str(folder)) :]}/{name}\0"
                digest.update(_without_digits(shown).encode() + content)
            digest.update(_without_digits(f"{place[len(str(folder)) :]}\0").encode())
        new = digest.digest() not in self._seen
        self._seen.add(digest.digest())
        return new


def _without_digits(text):
    """Random names of one kind become equal."""
    parts = text.split("/")
    return "/".join(
        part[: part.index("-")] + part[part.index("-") + 17 :]
        if part.startswith((PARTIAL, exchange._ASIDE))
        else part
        for part in parts
    )


@pytest.fixture
def folder(tmp_path):
    """A directory in memory where the system has one: these tests make and remove many."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as name:
        yield Path(name)


@pytest.fixture(params=SCENARIOS)
def case(request, folder, monkeypatch, budget):
    scenario = SCENARIOS[request.param]
    if not scenario.in_one_step:
        monkeypatch.setattr(exchange, "_in_one_step", lambda *_: False)
    if budget.name == "quick":
        monkeypatch.setattr(writer, "Encoder", Encoders())
    return Case(scenario, folder, monkeypatch, thorough=budget.name == "soak")


class Encoders:
    """Lays a group out once for each example, not for each run."""

    def __init__(self):
        self._make, self._made = writer.Encoder, {}

    def __call__(self, layout, identity):
        key = (identity.seed, layout.steps)
        if key not in self._made:
            self._made[key] = self._make(layout, identity)
        encoder = copy.copy(self._made[key])
        encoder.files = dict(encoder.files)
        return encoder


def test_a_kill_at_every_boundary(case):
    case.act(case.check_killed)
    case.check_left()


def test_an_exception_at_every_boundary(case, budget):
    count = len(case.act(Count()).names)
    for number in range(count):
        for turn, error in enumerate(EXCEPTIONS):
            if budget.name == "soak" or turn == number % len(EXCEPTIONS):
                try:
                    case.act(Fail(number, error))
                except type(error) as found:
                    assert found is error  # noqa: PT017  (some are not errors: a sweep that fails)
                case.check_left()


def test_nothing_is_published_before_it_is_on_the_disk(tmp_path, monkeypatch):
    """A file takes its place after its content is there, the manifest after all names are."""
    written, named = set(), set()

    def before(name, paths):
        if name == "write" and paths[0].name != lock.NAME:
            written.add(paths[0])
        elif name == "fsync":
            written.discard(paths[0])
            named.discard(paths[0])
        elif name in ("replace", "rename"):
            assert not [path for path in written if path.is_relative_to(paths[0])]
            assert not named or paths[1].name != manifest.NAME
            named.add(paths[1].parent)

    with monkeypatch.context() as patch:
        Effects(before).install(patch)
        Example().create(tmp_path / "run")
    assert not written
    assert not named


def test_the_boundaries_are_all_there_are(tmp_path, monkeypatch):
    """Python itself reports what changes files (PEP 578): as often as the tests above count."""
    seen, active = Counter(), [True]
    names = {"os.rename": "rename", "os.mkdir": "mkdir", "os.remove": "unlink", "os.rmdir": "rmdir"}
    others = ("os.link", "os.symlink", "os.chmod", "os.truncate", "shutil.move", "shutil.copyfile")

    def listen(event, arguments):
        if not active:
            return
        if event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR):
            seen["open"] += 1
        elif event in names or event in others:
            seen[names.get(event, event)] += 1

    old_run(None, tmp_path / "run")
    count = Count()
    with monkeypatch.context() as patch:
        Effects(count).install(patch)
        sys.addaudithook(listen)
        Example().create(tmp_path / "run", overwrite=True)
        active.clear()
    counted = Counter(count.names)
    assert counted["write"] == counted["open"]  # each new file is written in one call
    assert counted["exchange"] == 1
    spelled = {"replace": "rename", "fchmod": "os.chmod", "truncate": "os.truncate"}
    expected = Counter(spelled.get(name, name) for name in count.names)
    for unreported in ("write", "fsync", "exchange"):
        del expected[unreported]
    assert seen == expected

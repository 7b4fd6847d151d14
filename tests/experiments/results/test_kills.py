"""Processes that are really killed."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from experiments.results import RunDirectory, open_run
from tests.experiments.results.comparison import assert_finished, assert_readable, contents
from tests.experiments.results.killed import EXAMPLE

ROOT = Path(__file__).parents[3]

#: How long after its start the slowest process is killed, in seconds.
LONGEST = 0.6


def start(path):
    """A process that is at work."""
    command = [sys.executable, "-m", "tests.experiments.results.killed", str(path)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def kill(process):
    process.kill()
    process.stdout.close()
    return process.wait()


def test_a_killed_run_is_readable_and_ends_with_the_same_bits(tmp_path, budget):
    kills = 2 if budget.name == "quick" else 20
    rng = np.random.default_rng(0)
    EXAMPLE.create(tmp_path / "uninterrupted")
    expected, left = contents(tmp_path / "uninterrupted"), kills
    for number in range(10 * kills):
        path = tmp_path / f"{number}"
        while left:
            process = start(path)
            time.sleep(rng.uniform(0, LONGEST))
            if kill(process) != -signal.SIGKILL:
                break  # it was faster
            left -= 1
            assert_readable(path, EXAMPLE)
        EXAMPLE.resume(path)
        assert_finished(path, EXAMPLE)
        assert contents(path) == expected
        if not left:
            break
    assert not left


def test_a_living_writer_keeps_others_out_and_a_dead_one_does_not(tmp_path):
    path = tmp_path / "run"
    process = start(path)
    try:
        while not path.exists():
            assert process.poll() is None
        settings = {"config_text": EXAMPLE.config_text, "identity": EXAMPLE.identity}
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(BlockingIOError, match=f"process {process.pid}\\)"):
            RunDirectory.resume(path, **settings)
        with pytest.raises(BlockingIOError, match=f"process {process.pid}\\)"):
            RunDirectory.create(path, **settings, overwrite=True)
        open_run(path)
    finally:
        kill(process)
    RunDirectory.resume(path, **settings).close()


def test_an_interrupt_leaves_a_run_to_resume(tmp_path):
    path = tmp_path / "run"
    process = start(path)
    while not path.exists() or not open_run(path).manifest.trajectory:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.stdout.close()
    process.wait()
    assert_readable(path, EXAMPLE)
    EXAMPLE.resume(path)
    assert_finished(path, EXAMPLE)

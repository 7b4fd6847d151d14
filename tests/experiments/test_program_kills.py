"""The program itself is killed at random moments; what it continues is what it would have done."""

import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from experiments.results import open_run
from tests.experiments.test_commands import TEXT

#: Many small chunks, so that a kill falls between them.
SLOW = ("--set", "time.steps=24000", "--set", "time.save_every=40", "--set", "time.chunk=1")


def program(*arguments):
    return [sys.executable, "-m", "experiments", *map(str, arguments)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The config, and an uninterrupted run with the time it took."""
    folder = tmp_path_factory.mktemp("whole")
    config = folder / "small.toml"
    config.write_text(TEXT)
    began = time.monotonic()
    subprocess.run(
        program("run", config, "--output", folder / "out", "--no-figures", *SLOW),
        check=True,
        capture_output=True,
    )
    return config, folder / "out", time.monotonic() - began


def test_a_killed_run_resumes_to_the_same_bits(whole, budget, tmp_path):
    """Each run is killed and continued until it is whole, again and again until enough died."""
    config, expected, seconds = whole
    kills = 2 if budget.name == "quick" else 20
    rng, out, killed = random.Random(0), tmp_path / "out", 0
    arguments = program("run", config, "--output", out, "--no-figures", "--resume", *SLOW)
    while killed < kills:
        running = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.35, 0.95) * seconds)
        running.send_signal(signal.SIGKILL)
        if running.wait() == -signal.SIGKILL:
            killed += 1
            if out.exists():
                open_run(out).dataset.load()  # readable at every moment
        else:
            same_bits(out, expected)
            shutil.rmtree(out)
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    same_bits(out, expected)


def same_bits(out, expected):
    """The run is complete and holds what an uninterrupted one holds."""
    assert open_run(out).manifest.status == "complete"
    found, wanted = open_run(out).dataset, open_run(expected).dataset
    for name in wanted.variables:
        np.testing.assert_array_equal(found[name], wanted[name])

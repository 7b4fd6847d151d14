"""``python -m tests.experiments.results.killed DIRECTORY``: a run that waits to be killed."""

import sys
from pathlib import Path

from tests.experiments.results.example import Example

#: Long enough to be hit, short enough to be finished by the test.
EXAMPLE = Example(steps=120, save_every=1, chunk=3)

if __name__ == "__main__":
    print("ready", flush=True)
    EXAMPLE.resume(Path(sys.argv[1]))

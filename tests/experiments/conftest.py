"""Running the command line."""

import json

import pytest
from typer.testing import CliRunner

from experiments.cli import app


class Command:
    """``continuum verify`` in this process."""

    def __init__(self):
        self._runner = CliRunner()

    def __call__(self, *arguments):
        return self._runner.invoke(app, ["verify", *map(str, arguments)])

    def report(self, *arguments):
        """The JSON report of a run that must succeed."""
        result = self(*arguments, "--json", "-")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def refused(self, *arguments):
        """The one line that a run with bad input writes to standard error."""
        result = self(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        return result.stderr


@pytest.fixture(scope="session")
def verify():
    return Command()

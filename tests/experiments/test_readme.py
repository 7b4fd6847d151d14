"""What the README shows, runs."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import experiments
from experiments.cli import app

README = (Path(experiments.__file__).parents[1] / "README.md").read_text()


def test_the_python_example_runs_and_is_exact():
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    *description, difference = printed.getvalue().splitlines()
    assert description[0] == "equation 'split'"
    assert float(difference) < 1e-13


def test_every_command_that_it_shows_works(tmp_path):
    shown = re.findall(r"^    continuum (verify.*?)(?:\s+#.*)?$", README, flags=re.MULTILINE)
    assert len(shown) == 5
    for line in shown:
        if "path/to" in line or "minilm" in line:  # see test_verify_models.py
            continue
        result = CliRunner().invoke(app, line.split())
        assert result.exit_code == 0, f"{line}: {result.output}"


@pytest.mark.parametrize("name", re.findall(r"^\| `(\w[\w.]*)\(", README, flags=re.MULTILINE))
def test_every_entry_point_exists(name):
    module, _, attribute = name.rpartition(".")
    assert callable(getattr(__import__(module, fromlist=[attribute]), attribute))


def test_it_names_no_machine():
    assert not re.search(r"/(home|root|work|tmp|Users)/", README)

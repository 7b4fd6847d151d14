"""Namesakes on the path: SimPEG's ``discretize``, somebody's ``continuum``."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(code, *paths, cwd):
    """Run Python with ``paths`` in front of the project's own packages."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (*paths, ROOT)))}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=cwd, capture_output=True, text=True
    )


@pytest.mark.parametrize("name", ["continuum", "discretize"])
def test_a_foreign_namesake_is_refused_by_name_and_place(name, tmp_path):
    package = tmp_path / "foreign" / name
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("__version__ = '9.9'\n")
    result = run("import solvers", tmp_path / "foreign", cwd=tmp_path)
    assert result.returncode == 1
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: a foreign package named '{name}'")
    assert f"imported from {package / '__init__.py'}; expected the one of the distribution" in last
    assert "transformer-continuum. Uninstall the other one, or use an environment" in last


def test_a_folder_of_that_name_without_code_does_no_harm(tmp_path):
    """Such a folder (data, say) in front of the path is no package: ours is found behind it."""
    (tmp_path / "continuum").mkdir()
    result = run("import solvers; print(solvers.DISTRIBUTION)", tmp_path, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "transformer-continuum\n"), result.stderr

"""The command line as a program: what it loads, what it refuses, what it writes."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

import experiments
import solvers
from experiments.cli import app
from experiments.files import write_atomically
from experiments.packages import require_ours

ROOT = Path(experiments.__file__).parents[1]
SMALL = ("--layers", "2", "--d-model", "8", "--heads", "2", "--tokens", "5")


def _python(*arguments):
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


def test_help_loads_nothing_heavy():
    code = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from experiments.cli import app\n"
        "for arguments in (['--help'], ['verify', '--help'], ['--version']):\n"
        "    result = CliRunner().invoke(app, arguments)\n"
        "    assert result.exit_code == 0, result.output\n"
        "heavy = {'jax', 'numpy', 'scipy', 'torch', 'transformers', 'matplotlib', 'solvers'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    result = _python("-c", code)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "[]\n"


def test_version_is_printed():
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout.startswith("transformer-continuum ")


def test_module_runs_in_float64_without_torch_and_writes_only_json():
    code = (
        "import runpy, sys\n"
        "sys.modules['torch'] = sys.modules['transformers'] = None\n"
        f"sys.argv = ['continuum', 'verify', '--json', '-', *{SMALL!r}]\n"
        "runpy.run_module('experiments', run_name='__main__')\n"
    )
    result = _python("-c", code)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["passed"] and report["dtype"] == "float64"
    assert report["max_rel"] < 1e-13
    assert "torch" not in report["versions"]


def test_module_reports_bad_input_without_a_traceback():
    result = _python("-m", "experiments", "verify", "--heads", "5")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: --heads: expected a divisor")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--heads", 5, "--d-model", 12], "expected a divisor of --d-model 12, got 5"),
        (["--layers", 0], "--layers: expected a whole number >= 1, got 0"),
        (["--d-ff", -1], "--d-ff: expected a whole number >= 1"),
        (["--tokens", 0], "--tokens: expected"),
        (["--batch", 0], "--batch: expected"),
        (["--seed", -1], "--seed: expected"),
        (["--eps", -1], "--eps: expected a finite number >= 0, got -1.0"),
        (["--eps", "nan"], "--eps: expected"),
        (["--tolerance", "inf"], "--tolerance: expected"),
        (["--tolerance", "nan"], "--tolerance: expected"),
        (["--text", "words"], "--text: expected a model"),
        (["nowhere"], "nowhere is not a directory"),
        (["model.bin"], "pickle"),
        (["--figure", "a.bmp"], "expected a name ending in .png, .svg, .pdf, got a.bmp"),
        (["--json", "/dev/null"], "found a device"),
    ],
)
def test_bad_input_is_one_line_that_says_what_was_expected(verify, arguments, words):
    assert words in verify.refused(*arguments)


@pytest.mark.parametrize(
    "arguments", [["--norm", "middle"], ["--layers", "x"], ["--equation", "?"]]
)
def test_words_the_parser_does_not_know(verify, arguments):
    result = verify(*arguments)
    assert result.exit_code == 2
    assert arguments[0] in result.stderr


def test_traceback_on_request(verify):
    result = verify("--heads", 5, "--traceback")
    assert isinstance(result.exception, ValueError)


def test_json_file_and_stdout_are_the_same(verify, tmp_path):
    path = tmp_path / "new" / "report.json"
    result = verify(*SMALL, "--json", path, "--describe")
    assert result.exit_code == 0
    assert "passed" in result.stdout
    written = json.loads(path.read_text())
    shown = verify.report(*SMALL, "--describe")
    assert written == shown
    assert written["description"].startswith("equation 'split'")
    needed = {"reference", "dtype", "max_abs", "max_rel", "tolerance", "passed", "layers"}
    assert needed <= written.keys()
    assert [p.name for p in path.parent.iterdir()] == ["report.json"]


def test_files_are_written_when_the_tolerance_is_missed(verify, tmp_path):
    path, figure = tmp_path / "report.json", tmp_path / "figure.png"
    path.write_text("old")
    result = verify(*SMALL, "--tolerance", 0, "--json", path, "--figure", figure)
    assert result.exit_code == 1
    assert json.loads(path.read_text())["passed"] is False
    assert figure.stat().st_size > 0


def test_bad_input_writes_nothing(verify, tmp_path):
    path, figure = tmp_path / "a" / "report.json", tmp_path / "b" / "figure.png"
    verify.refused("nowhere", "--json", path, "--figure", figure)
    assert list(tmp_path.iterdir()) == []
    verify.refused(*SMALL, "--json", tmp_path)
    (tmp_path / "file").write_text("")
    verify.refused(*SMALL, "--json", tmp_path / "file" / "report.json")
    assert (tmp_path / "file").read_text() == ""


@pytest.mark.parametrize("options", [(), ("--norm", "pre", "--dtype", "float32")])
def test_figure_is_a_picture_with_something_in_it(verify, tmp_path, options):
    path = tmp_path / "figures" / "layers.png"
    assert verify(*SMALL, *options, "--figure", path).exit_code == 0
    pixels = imread(path)[..., :3]
    assert min(pixels.shape[:2]) > 500
    assert 0.01 < np.mean(np.any(pixels < 0.9, axis=-1)) < 0.3
    assert len(np.unique(np.round(pixels.reshape(-1, 3), 2), axis=0)) > 20  # several colours


def test_figure_as_svg_names_the_substeps(verify, tmp_path, monkeypatch):
    path = tmp_path / "layers.svg"
    assert verify(*SMALL, "--figure", path).exit_code == 0
    first = path.read_bytes()
    assert xml.etree.ElementTree.fromstring(first).tag.endswith("svg")
    for words in (b"norm_attention", b"tolerance", b"machine epsilon"):
        assert words in first
    assert verify(*SMALL, "--figure", path).exit_code == 0
    assert path.read_bytes() == first  # overwritten, and reproducible


def test_atomic_write_keeps_the_old_file_when_it_fails(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(OSError, match="no"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_symbolic_links_are_followed(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_foreign_packages_are_refused(verify, monkeypatch):
    monkeypatch.setattr(solvers, "DISTRIBUTION", "another project")
    with pytest.raises(ImportError, match="foreign package named 'solvers'"):
        require_ours()


def test_a_foreign_discretize_stops_the_command(tmp_path):
    (tmp_path / "discretize").mkdir()
    (tmp_path / "discretize" / "__init__.py").write_text("class TensorMesh: ...\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv = ['continuum', 'verify']; "
    )
    result = _python("-c", code + "from experiments.cli import main; main()")
    assert result.returncode == 2
    assert "a foreign package named 'discretize'" in result.stderr
    assert len(result.stderr.splitlines()) == 1

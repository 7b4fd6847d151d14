"""``continuum run``, ``converge``, ``plot`` and ``configs``, as a user meets them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray
from typer.testing import CliRunner

import solvers
from experiments.building import build
from experiments.cli import app
from experiments.config import load_config
from experiments.results import open_run
from tests.helpers import relative_difference

TEXT = """
title = "A small flow"
seed = 1
[parameters]
strength = 2.0
[domains]
tokens = [[0.0, 1.0]]
features = [0.0, 1.0]
[equation]
form = "residual"
horizon = 1.0
moments = { mean = 0.0, deviation = 1.0 }
activation = "gelu"
[equation.attention]
query = { kernel = "strength*cos(2*xi - eta)" }
key = { kernel = "sin(3*xi + eta)" }
value = { kernel = "(xi + eta)*(1 + t)" }
output = { kernel = "1 + cos(eta - y)" }
[[equation.dense]]
kernel = "cos(2*xi - y)"
[[equation.dense]]
kernel = "sin(xi - 2*y)"
[initial]
expression = "sin(3*y + 2*x)"
[grid]
tokens = 3
features = 4
[time]
steps = 12
scheme = "lie"
save_every = 2
chunk = 2
[observables]
cubes = "u**3*x"
[[studies]]
name = "time"
axis = "time"
sizes = [16, 32, 64]
reference = { kind = "lines" }
"""

runner = CliRunner()


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(TEXT)
    return path


def command(*arguments):
    return runner.invoke(app, [str(argument) for argument in arguments])


def test_a_run_is_the_trajectory_of_solve_with_its_observables(config, tmp_path):
    out = tmp_path / "out"
    result = command("run", config, "--output", out, "--json", "--no-progress")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    data = xarray.open_zarr(out / "trajectory.zarr")
    experiment = build(load_config(config))
    solution = solvers.solve(experiment.problem, experiment.u0, num_steps=12, save_every=2)
    # separately compiled programs: round-off over twelve steps
    assert relative_difference(data["u"], solution.trajectory) <= 1e-13
    np.testing.assert_allclose(data["t"], solution.times, rtol=1e-15)
    np.testing.assert_array_equal(data["x"], experiment.tokens.nodes)
    np.testing.assert_array_equal(data["y"], experiment.grid.features.nodes)
    states = data["u"].to_numpy()
    np.testing.assert_allclose(data["norm"][::2], np.sqrt((states**2).mean((1, 2))), rtol=1e-13)
    x = experiment.tokens.nodes[:, None]
    np.testing.assert_allclose(data["cubes"][::2], (states**3 * x).mean((1, 2)), atol=1e-14)
    assert float(data["violation_s1"].max()) <= 1e-15
    assert summary["observables"]["norm"] == pytest.approx(1.0, rel=1e-14)
    assert data["t"].attrs["units"] == "1" and data["u"].attrs["long_name"]
    assert data.attrs["Conventions"].startswith("CF-")
    assert {path.suffix for path in (out / "figures").iterdir()} == {".png", ".svg"}
    assert open_run(out).manifest.status == "complete"


def test_a_result_is_not_replaced_unasked(config, tmp_path):
    out = tmp_path / "out"
    quick = ("run", config, "--output", out, "--no-progress", "--no-figures")
    assert command(*quick).exit_code == 0
    before = open_run(out).dataset["u"].to_numpy()
    refused = command(*quick)
    assert refused.exit_code == 2 and "--overwrite or --resume" in refused.stderr
    resumed = command(*quick, "--resume", "--json")
    assert json.loads(resumed.stdout)["resumed_at"] == 12
    assert command(*quick, "--overwrite", "--set", "parameters.strength=1.0").exit_code == 0
    assert relative_difference(open_run(out).dataset["u"], before) > 1e-6
    other = command(*quick, "--resume")
    assert other.exit_code == 2 and "another config" in other.stderr and "strength" in other.stderr
    assert command(*quick, "--resume", "--overwrite").exit_code == 2


def test_converge_measures_and_writes_what_it_measured(config, tmp_path):
    out = tmp_path / "out"
    result = command("converge", config, "--output", out, "--json", "--no-progress")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    stored = json.loads((out / "convergence.json").read_text())
    assert printed["studies"] == stored["studies"]
    study = stored["studies"][0]
    assert study["sizes"] == [16, 32, 64] and study["declared_order"] == 1.0
    assert abs(study["fitted_order"] - 1) <= 0.05
    assert max(study["violations"]["s1"]) <= 1e-15
    assert len((out / "convergence.csv").read_text().splitlines()) == 4
    assert (out / "figures" / "convergence.svg").is_file()
    again = command("plot", out, "--output", tmp_path / "elsewhere", "--json")
    assert again.exit_code == 0
    assert (tmp_path / "elsewhere" / "convergence.png").is_file()
    times = {path: path.stat().st_mtime_ns for path in (out / "finals").iterdir()}
    resumed = command("converge", config, "--output", out, "--resume", "--no-progress")
    assert resumed.exit_code == 0 and "measured order" in resumed.stdout
    assert times == {path: path.stat().st_mtime_ns for path in (out / "finals").iterdir()}


def test_a_missed_order_is_exit_status_1(config, tmp_path):
    wrong = ("--set", "studies.0.sizes=[1,2,4]", "--set", "equation.horizon=4.0")
    result = command("converge", config, "--output", tmp_path / "out", "--no-figures", *wrong)
    assert result.exit_code == 1 and "MISSED" in result.stdout


BROKEN = {
    "form": "paper",
    "moments.mean": "0.0",
    "activation": "relu",
}


def test_an_ill_posed_question_needs_the_users_word(config, tmp_path):
    paper = [f"--set=equation.{key}={value}" for key, value in BROKEN.items()]
    out = tmp_path / "out"
    stopped = command("run", config, "--output", out, *paper)
    assert stopped.exit_code == 3 and "disjoint" in stopped.stderr and not out.exists()
    went_on = command("run", config, "--output", out, "--allow-incompatible", "--json", *paper)
    assert went_on.exit_code == 0
    assert "disjoint" in json.loads(went_on.stdout)["ill_posed"][0]
    assert "disjoint" in json.loads((out / "manifest.json").read_text())["identity"]["ill_posed"][0]
    assert "disjoint" in str(xarray.open_zarr(out / "trajectory.zarr").attrs)
    assert "ill-posed" in (out / "figures" / "series.svg").read_text()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (["grid.tokns=4"], ["grid.tokns", "tokens"]),
        (["time.scheme=strangg"], ["time.scheme", "strang"]),
        (["time.save_every=5"], ["save_every", "12"]),
        (["initial.expression=sin(y"], ["initial.expression"]),
        (["initial.expression=__import__('os')"], ["initial.expression"]),
        (["equation.horizon=-1.0"], ["equation.horizon"]),
        (["domains.features=[1.0, 0.0]"], ["domains.features"]),
        (["nonsense"], ["nonsense"]),
    ],
)
def test_bad_input_is_one_line_for_each_finding(config, tmp_path, changes, words):
    sets = [f"--set={change}" for change in changes]
    result = command("run", config, "--output", tmp_path / "out", *sets)
    assert result.exit_code == 2, result.output
    assert result.stdout == "" and result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr and result.stderr.count("\n") <= 2
    assert all(word in result.stderr for word in words), result.stderr
    assert not (tmp_path / "out").exists()


def test_a_run_that_blows_up_says_where_and_keeps_what_it_has(config, tmp_path):
    out = tmp_path / "out"
    growing = [
        "--set=equation.form=flow",
        "--set=equation.dense.0.kernel=1e80*t**8",
        "--set=initial.project=false",
    ]
    text = TEXT.replace('activation = "gelu"\n', "").replace(
        "moments = { mean = 0.0, deviation = 1.0 }\n", ""
    )
    config.write_text(text)
    result = command("run", config, "--output", out, "--no-figures", *growing)
    assert (
        result.exit_code == 2
        and "in step" in result.stderr
        and "attention in step" in result.stderr
    )
    found = open_run(out)
    assert found.manifest.status == "failed" and "in step" in found.manifest.reason
    kept = found.dataset["u"].to_numpy()
    assert len(kept) >= 1 and np.isfinite(kept).all()


PLUGIN = """
import solvers
from solvers.splitting import Branch, Splitting

backwards = Splitting(
    "in reverse", 1, lambda n: (Branch(1.0, tuple((k, 0.0, 1.0) for k in reversed(range(n)))),)
)
lie = solvers.SCHEMES["lie"]
solvers.SCHEMES["reverse"] = solvers.Scheme("reverse", 1, backwards, lie.read)
"""


def test_a_scheme_of_ones_own_is_one_file(config, tmp_path):
    plugin = tmp_path / "mine.py"
    plugin.write_text(PLUGIN)
    try:
        result = command(
            "converge",
            config,
            "--output",
            tmp_path / "out",
            "--plugin",
            plugin,
            "--set",
            "time.scheme=reverse",
            "--no-figures",
            "--json",
        )
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["studies"][0]["passed"] is True
    finally:
        solvers.SCHEMES.pop("reverse", None)
    plugin.write_text("1/0")
    broken = command("run", config, "--output", tmp_path / "no", "--plugin", plugin)
    assert broken.exit_code == 2 and "ZeroDivisionError" in broken.stderr


def test_configs_are_listed():
    assert "joint" in command("configs").stdout
    found = json.loads(command("configs", "--json").stdout)
    assert {"name", "title", "path"} == set(found[0]) and len(found) == 16


def test_configs_are_shown_as_resolved(config, tmp_path):
    shown = command("configs", "joint", "--set", "time.steps=48")
    assert shown.exit_code == 0 and shown.stdout.startswith("# joint\n")
    again = tmp_path / "again.toml"
    again.write_text(shown.stdout)
    assert load_config(again) == load_config("joint", ["time.steps=48"])
    data = json.loads(command("configs", config, "--set", "seed=7", "--json").stdout)
    assert [row["config"]["seed"] for row in data] == [7]
    assert data[0]["name"] == "small" and data[0]["path"] == str(config)
    every = json.loads(command("configs", "--set", "seed=9", "--json").stdout)
    assert len(every) == 16 and {row["config"]["seed"] for row in every} == {9}
    wrong = command("configs", config, "--set", "time.steps=many")
    assert wrong.exit_code == 2 and "time.steps" in wrong.stderr


def test_configs_are_written_whole_or_not_at_all(tmp_path):
    out = tmp_path / "new" / "configs"
    done = command("configs", "--output", out)
    assert done.exit_code == 0 and len(done.stdout.splitlines()) == 16
    shipped = {row["name"]: row["path"] for row in json.loads(command("configs", "--json").stdout)}
    for name, path in shipped.items():
        assert (out / f"{name}.toml").read_text() == Path(path).read_text()
    refused = command("configs", "joint", "--output", out)
    assert refused.exit_code == 2 and "does not exist or is empty" in refused.stderr
    nothing = command("configs", "--set", "grid.nonsense=1", "--output", tmp_path / "no")
    assert nothing.exit_code == 2 and not (tmp_path / "no").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"new"}


#: What every command takes, with a value that is fine for each.
COMMON = ("--set", "title=Other", "--precision", "float64", "--threads", "1", "--no-progress")


@pytest.mark.parametrize("name", ["run", "converge", "plot", "configs"])
def test_every_command_takes_the_same_options(config, tmp_path, name):
    """In a process of its own: the number of threads is that of the process."""
    target = config
    if name == "plot":
        target = tmp_path / "result"
        assert command("run", config, "--output", target, "--no-figures").exit_code == 0
    arguments = (name, target, "--output", tmp_path / "out", *COMMON, "--json")
    done = subprocess.run(
        [sys.executable, "-m", "experiments", *map(str, arguments)], capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    json.loads(done.stdout)
    (written,) = (tmp_path / "out").rglob("*.toml" if name != "plot" else "state.svg")
    assert "Other" in written.read_text()
    for option in (["--threads", "0"], ["--precision", "half"], ["--set", "nonsense"]):
        assert command(name, target, "--output", tmp_path / "no", *option).exit_code == 2
    assert not (tmp_path / "no").exists()


def test_figures_are_of_what_was_computed(config, tmp_path):
    out = tmp_path / "out"
    assert command("run", config, "--output", out, "--no-figures").exit_code == 0
    refused = command("plot", out, "--set", "grid.tokens=4")
    assert refused.exit_code == 2 and "computed with" in refused.stderr
    assert not (out / "figures").exists()
    missing = command("plot", tmp_path)
    assert missing.exit_code == 2 and "expected the directory of a result" in missing.stderr


def without_moments():
    return TEXT.replace('activation = "gelu"\n', "").replace(
        "moments = { mean = 0.0, deviation = 1.0 }\n", ""
    )


FLOW = ("--set=equation.form=flow", "--set=initial.project=false", "--no-figures")


def test_an_initial_state_that_is_not_finite_leaves_nothing(config, tmp_path):
    out = tmp_path / "out"
    for name in ("run", "converge"):
        result = command(name, config, "--output", out, "--set", "initial.expression=1/(y-y)")
        assert result.exit_code == 2 and "the initial state: expected finite" in result.stderr
        assert result.stderr.count("\n") == 1 and not out.exists()


def test_what_does_not_fit_into_memory_is_one_line(config, tmp_path):
    huge = ("--set", "grid.tokens=3000000", "--set", "grid.features=3000000")
    result = command("run", config, "--output", tmp_path / "out", *huge)
    assert result.exit_code == 2 and "fit into memory" in result.stderr, result.output
    assert result.stderr.count("\n") == 1 and not (tmp_path / "out").exists()


def test_a_study_whose_solutions_blow_up_says_so(config, tmp_path):
    config.write_text(without_moments())
    growing = (*FLOW, "--set=equation.dense.0.kernel=1e80*t**8")
    finest = "--set=studies.time.reference={kind='finest'}"
    result = command("converge", config, "--output", tmp_path / "a", *growing, finest, "--json")
    assert result.exit_code == 1
    assert "study time: expected finite errors" in result.stderr
    study = json.loads(result.stdout)["studies"][0]
    assert study["errors"] == [None] * 3 and "finite" in study["warnings"][-1]
    lines = command("converge", config, "--output", tmp_path / "b", *growing)
    assert lines.exit_code == 2 and "Dopri8 gave up" in lines.stderr


def test_an_observable_that_is_not_a_number_is_null(config, tmp_path):
    change = ("--set", "observables.bad=log(0*u - 1)", "--no-figures", "--json")
    result = command("run", config, "--output", tmp_path / "out", *change)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["observables"]["bad"] is None


def test_places_that_cannot_be_written(config, tmp_path):
    quick = ("run", config, "--no-figures", "--output")
    below = command(*quick, config / "out")
    assert below.exit_code == 2 and "choose another" in below.stderr
    assert str(config) in below.stderr and "Errno" not in below.stderr
    long = command(*quick, tmp_path / ("a" * 300))
    assert long.exit_code == 2 and "too long" in long.stderr
    taken = command(*quick, config)
    assert taken.exit_code == 2 and "never deleted" in taken.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def test_a_plugin_that_exits_is_refused(config, tmp_path):
    plugin = tmp_path / "exits.py"
    plugin.write_text("raise SystemExit(0)")
    result = command("run", config, "--output", tmp_path / "out", "--plugin", plugin)
    assert result.exit_code == 2 and "SystemExit" in result.stderr


def test_unicode_and_spaces(config, tmp_path):
    folder = tmp_path / "Ordner mit ä"
    folder.mkdir()
    path = folder / "ünï cödé.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("A small", "∂u/∂t — a small").encode())
    result = command("run", path, "--output", folder / "out put", "--json")
    assert result.exit_code == 0, result.output
    assert xarray.open_zarr(folder / "out put" / "trajectory.zarr").attrs["title"].startswith("∂u")


def test_single_precision_one_thread_and_nothing_but_json(config, tmp_path):
    """In a process of its own: jax's precision is decided once."""
    out = tmp_path / "out"
    arguments = ("run", config, "--output", out, "--precision", "float32", "--threads", "1")
    done = subprocess.run(
        [sys.executable, "-m", "experiments", *map(str, arguments), "--json"],
        capture_output=True, text=True, env=os.environ | {"JAX_ENABLE_X64": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    data = xarray.open_zarr(out / "trajectory.zarr")
    assert data["u"].dtype == np.float32 and summary["steps"] == 12
    experiment = build(load_config(config))
    exact = solvers.solve(experiment.problem, experiment.u0, num_steps=12, save_every=2)
    # single precision over twelve steps; far above round-off of doubles
    assert 1e-9 < relative_difference(data["u"].astype(float), exact.trajectory) <= 2e-5
    again = subprocess.run(
        [sys.executable, "-m", "experiments", "plot", str(out)], capture_output=True, text=True
    )
    assert again.returncode == 0 and "attention.svg" in again.stdout, again.stderr

"""Every architecture of the table against the implementation that its row names."""

import dataclasses
import json

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from experiments.architectures import ROWS, judge
from experiments.architectures.judging import TOLERANCE, difference
from experiments.cli import app

CASES = [(name, k) for name, row in ROWS.items() for k in range(len(row.configurations))]


@pytest.mark.parametrize(("name", "k"), CASES)
def test_a_recovered_model_is_its_reference(name, k, budget):
    row = ROWS[name]
    for seed in range(1 if budget.name == "quick" else 10):
        _, relative = difference(row, row.configurations[k], seed)
        assert relative <= TOLERANCE, (name, row.configurations[k], seed)


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.refinable])
def test_refining_the_grid_changes_nothing(name):
    """P0 invariance: everything is constant on cells, so cells may be cut."""
    row = ROWS[name]
    for parts in ((2, 1), (3, 2)):
        _, relative = difference(row, row.configurations[0], 1, parts)
        assert relative <= TOLERANCE, parts


@pytest.mark.parametrize("name", ROWS)
def test_a_changed_weight_is_noticed(name):
    """The comparison can fail: another seed's model is no match."""
    row = ROWS[name]
    torch.manual_seed(11)
    wrong = row.read(row.build(row.configurations[0]))
    broken = dataclasses.replace(row, read=lambda model: wrong)
    _, relative = difference(broken, row.configurations[0], 0)
    assert relative > 1e-3


def test_a_verdict_gathers_the_worst():
    verdict = judge(ROWS["GPT-2"])
    assert verdict.models == len(ROWS["GPT-2"].configurations) >= 3
    assert verdict.passed == (verdict.max_rel <= TOLERANCE)
    assert np.isfinite(verdict.max_abs)
    assert verdict.summary()["name"] == "GPT-2"


@pytest.mark.parametrize(("width", "shown"), [(160, True), (80, False)])
def test_the_command_prints_the_table(width, shown):
    """A narrow terminal is spared the columns of words that docs/architectures.md has too."""
    runner = CliRunner(env={"COLUMNS": str(width)})
    done = runner.invoke(app, ["architectures", "--only", "gpt-2"])
    assert done.exit_code == 0, done.output
    assert "transformers GPT2Model" in " ".join(done.stdout.split())
    assert "equal" in done.stdout
    assert ("normalisation inside" in done.stdout) == shown


def test_the_command_gives_json():
    done = CliRunner().invoke(app, ["architectures", "--only", "GPT-2", "--json"])
    (row,) = json.loads(done.stdout)["rows"]
    assert {"name", "scheme", "reference", "max_abs", "max_rel", "passed"} <= set(row)
    assert row["passed"] is True
    assert 0.0 < row["max_rel"] <= TOLERANCE


def test_an_unknown_row_is_named():
    done = CliRunner().invoke(app, ["architectures", "--only", "perceptron"])
    assert done.exit_code == 2
    assert "expected one of Transformer encoder, " in done.stderr
    assert "'perceptron'" in done.stderr


def test_a_row_that_differs_fails_the_command(monkeypatch):
    torch.manual_seed(11)
    row = ROWS["GPT-2"]
    wrong = row.read(row.build(row.configurations[0]))
    broken = dataclasses.replace(
        row, read=lambda model: wrong, configurations=row.configurations[:1]
    )
    monkeypatch.setitem(ROWS, "GPT-2", broken)
    done = CliRunner().invoke(app, ["architectures", "--only", "GPT-2"])
    assert done.exit_code == 1
    assert "DIFFERS" in done.stdout

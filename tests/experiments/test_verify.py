"""``continuum verify`` measures what it says, and its verdict can go both ways."""

import dataclasses
import itertools

import numpy as np
import pytest
import torch

from experiments import reference
from experiments.request import Batch, Dtype, Encoder, Equation, Norm, Request
from experiments.verification import numpy_case as numpy_cases
from experiments.verification import torch_case as torch_cases
from experiments.verification.batches import lengths_mask
from experiments.verification.comparison import compare
from experiments.verification.correspondence import CORRESPONDENCES

PAIRS = list(itertools.product(("split", "residual"), ("post", "pre")))
SMALL = ("--layers", 2, "--d-model", 12, "--heads", 3, "--tokens", 7)

SUBSTEPS = {
    ("split", "post"): [
        "attention", "norm_attention", "dense_1", "dense_2", "relaxation", "norm_output",
    ],
    ("split", "pre"): ["attention", "feedforward", "relaxation"],
    ("residual", "post"): ["attention", "norm_attention", "feedforward", "norm_output"],
    ("residual", "pre"): ["attention", "feedforward"],
}  # fmt: skip


def _all_rows(report):
    rows = [row for layer in report["layers"] for row in layer["substeps"]]
    return [*rows, report["final"], *([report["embedding"]] if report["embedding"] else [])]


def _check(report, limit):
    """The verdict, and every row of the report."""
    assert report["passed"] is True
    assert report["tolerance"] == limit
    assert 0 < report["max_rel"] <= limit
    assert all(0 <= row["max_rel"] <= 10 * limit for row in _all_rows(report))
    assert report["max_abs"] > 0


@pytest.mark.parametrize("judge", ["numpy", "torch"])
@pytest.mark.parametrize(("equation", "norm"), PAIRS)
def test_every_substep_agrees_in_float64(verify, equation, norm, judge):
    options = ["--equation", equation, "--norm", norm, "--activation", "gelu"]
    report = verify.report(*SMALL, *options, *(["--torch"] if judge == "torch" else []))
    _check(report, 1e-13)
    assert max(row["max_rel"] for row in _all_rows(report)) <= 1e-13
    assert [layer["layer"] for layer in report["layers"]] == [1, 2]
    for layer in report["layers"]:
        assert [row["name"] for row in layer["substeps"]] == SUBSTEPS[equation, norm]
        assert layer["output"] == layer["substeps"][-1]
    assert (report["equation"], report["dtype"]) == (equation, "float64")
    assert ("torch" in report["reference"]) == (judge == "torch")
    assert report["options"]["encoder"]["norm"] == norm
    assert {"python", "jax", "numpy", "transformer-continuum"} <= report["versions"].keys()
    assert 0 < report["valid_tokens"] < report["tokens"] == 3 * 7


@pytest.mark.parametrize(("judge", "norm"), [("numpy", "post"), ("torch", "pre")])
def test_float32_computes_in_float32(verify, judge, norm):
    flags = ["--torch"] if judge == "torch" else []
    report = verify.report(*SMALL, "--norm", norm, "--dtype", "float32", *flags)
    _check(report, 2e-6)
    assert report["max_rel"] > 1e-9


def test_torch_at_twelve_layers_wide_and_narrow(verify):
    for d_ff in (8, 48):
        report = verify.report("--torch", "--layers", 12, "--d-ff", d_ff, "--d-model", 24)
        _check(report, 1e-13)
        assert len(report["layers"]) == 12


@pytest.mark.parametrize("judge", [(), ("--torch",)])
def test_smallest_encoder_and_no_mask(verify, judge):
    one = ("--layers", 1, "--d-model", 2, "--heads", 1, "--d-ff", 1, "--tokens", 1, "--batch", 1)
    assert verify.report(*one, *judge)["passed"]
    whole = verify.report(*SMALL, "--no-mask", *judge)
    assert whole["valid_tokens"] == whole["tokens"] == 21


@pytest.mark.parametrize("eps", [0.0, 1e-5, 0.1])
def test_eps_of_any_size(verify, eps):
    _check(verify.report(*SMALL, "--eps", eps), 1e-13)


def test_the_seed_changes_the_numbers(verify):
    reports = [verify.report(*SMALL, "--seed", seed) for seed in (1, 1, 2)]
    first, again, other = ([row["max_abs"] for row in _all_rows(r)] for r in reports)
    assert first == again != other


def test_missed_tolerance_is_exit_status_1_and_says_so(verify, tmp_path):
    result = verify(*SMALL, "--tolerance", 1e-300)
    assert result.exit_code == 1
    assert "FAILED" in result.stdout
    assert "passed" not in result.stdout


def test_table_and_summary(verify):
    result = verify(*SMALL, "--describe")
    assert result.exit_code == 0
    for words in ("equation 'split'", "relaxation", "half of it", "rel. diff."):
        assert words in result.stdout
    first, last = result.stdout.rstrip().splitlines()[-2:]
    assert first.startswith("split equation, Lie splitting, unit grid, float64, on ")
    assert last.startswith("passed: largest relative difference ")


def _request(norm, equation):
    encoder = Encoder(layers=2, d_model=8, heads=2, d_ff=6, norm=Norm(norm))
    return Request(equation=Equation(equation), encoder=encoder, batch=Batch(tokens=5))


@pytest.mark.parametrize(("equation", "norm"), PAIRS)
@pytest.mark.parametrize("name", ["attention", "hidden", "feedforward", "sum", "output"])
def test_an_error_in_one_value_of_the_judge_shows_in_its_row(equation, norm, name):
    """Each row compares what it says: spoil one value of layer 2, and only its rows change."""
    request = _request(norm, equation)
    case = numpy_cases.numpy_case(request)
    case.layers[1][name] = case.layers[1][name] * (1 + 1e-6)
    layers, _, _ = compare(case, request.equation)
    reads = {
        ("split", "post"): {"attention": "attention", "hidden": "dense_1",
                            "feedforward": "dense_2", "sum": "relaxation",
                            "output": "norm_output"},
        ("split", "pre"): {"attention": "attention feedforward", "feedforward": "feedforward",
                           "output": "relaxation"},
        ("residual", "post"): {"attention": "attention", "sum": "feedforward",
                               "output": "norm_output"},
        ("residual", "pre"): {"attention": "attention", "output": "feedforward"},
    }[equation, norm]  # fmt: skip
    wrong = {row.name for row in layers[1].substeps if row.max_rel > 1e-9}
    assert wrong == set(reads.get(name, "").split())
    assert all(row.max_rel < 1e-13 for row in layers[0].substeps)


def test_a_judge_with_another_eps_is_noticed(verify, monkeypatch):
    """An eps of 4e-5 instead of 1e-5, the factor that fact 5.b is about, is no round-off."""
    honest = numpy_cases.encoder_weights

    def other(parameters):
        return honest(dataclasses.replace(parameters, eps=4 * parameters.eps))

    monkeypatch.setattr(numpy_cases, "encoder_weights", other)
    result = verify(*SMALL)
    assert result.exit_code == 1


def test_a_nan_never_passes(verify, monkeypatch):
    honest = reference.encode

    def spoiled(parameters, u, mask=None):
        encoding = honest(parameters, u, mask)
        encoding.layers[0]["hidden"][0, 0, 0] = np.nan
        return encoding

    monkeypatch.setattr(numpy_cases, "encode", spoiled)
    result = verify(*SMALL, "--json", "-")
    assert result.exit_code == 1
    assert '"max_rel": null' in result.stdout


def test_padding_is_padding(verify, monkeypatch):
    """What stands in padded rows does not count, and what stands in valid ones does."""
    honest = reference.encode
    for spoil_valid, status in ((False, 0), (True, 1)):

        def spoiled(parameters, u, mask=None, chosen=spoil_valid):
            encoding = honest(parameters, u, mask)
            encoding.layers[0]["output"][mask == chosen] += 1.0
            return encoding

        monkeypatch.setattr(numpy_cases, "encode", spoiled)
        assert verify(*SMALL).exit_code == status


def test_masks_leave_a_token_and_hide_some():
    for batch in (1, 2, 5):
        mask = lengths_mask(Batch(tokens=9, batch=batch, seed=3))
        assert mask.any(axis=1).all()
        assert not mask.all()
    assert lengths_mask(Batch(tokens=1)).all()


def test_every_pair_has_a_correspondence():
    assert set(CORRESPONDENCES) == set(itertools.product(Equation, Norm))


def test_the_torch_judge_has_no_special_values():
    before = torch.random.get_rng_state()
    model = torch_cases.random_torch_encoder(torch, Request(dtype=Dtype.FLOAT64))
    assert torch.equal(before, torch.random.get_rng_state())
    for name, parameter in model.named_parameters():
        assert parameter.std() > 0.05, name

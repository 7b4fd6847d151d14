"""RoBERTa, DistilBERT, ALBERT, T5 and BLOOM: folders, heads, plain references, refusals."""

import json
from unittest import mock

import jax
import numpy as np
import pytest
import torch
import transformers
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from continuum.operators import BucketBias
from discretize.encoders import recover, to_torch
from discretize.encoders.blocks import Dense
from discretize.encoders.bloom import alibi_slopes
from experiments.architectures import ROWS
from experiments.architectures.tokens import hidden_states, token_inputs
from solvers import solve
from tests.helpers import relative_difference

NAMES = ("RoBERTa", "DistilBERT", "ALBERT", "T5 encoder", "BLOOM")
#: A class with heads, and what of it stays outside.
HEADED = {
    "RoBERTa": (transformers.RobertaForMaskedLM, {"a language-model head"}),
    "DistilBERT": (transformers.DistilBertForSequenceClassification, {"a classification head"}),
    "ALBERT": (
        transformers.AlbertForPreTraining,
        {
            "the pooler (a dense layer and tanh on the first token)",
            "a language-model head",
            "a sentence-order head",
        },
    ),
    "T5 encoder": (transformers.T5ForTokenClassification, {"a classification head"}),
    "BLOOM": (transformers.BloomForCausalLM, {"the language-model head"}),
}


def build(name, k=0, seed=3):
    torch.manual_seed(seed)
    return ROWS[name].build(ROWS[name].configurations[k])


def ask(recovered, inputs):
    return solve(recovered, recovered.embed(**inputs.arguments), mask=inputs.mask).final


def assert_same_equation(found, expected):
    """The same structure and, bit for bit, the same numbers."""
    for part in ("problem", "embed", "closing"):
        one, other = getattr(found, part), getattr(expected, part)
        assert jax.tree.structure(one) == jax.tree.structure(other)
        for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.fixture(scope="module")
def models():
    return {name: build(name) for name in NAMES}


@pytest.fixture(scope="module")
def saved(models, tmp_path_factory):
    """The models' folders and the entries of their configurations."""
    found = {}
    for name, model in models.items():
        folder = tmp_path_factory.mktemp("model")
        model.save_pretrained(folder)
        found[name] = folder, json.loads((folder / "config.json").read_text())
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_is_the_live_model(name, models, saved):
    live = recover(models[name])
    assert_same_equation(recover(saved[name][0]), live)
    assert live.outside == ("the embeddings (see embed)",)


@pytest.mark.parametrize("name", NAMES)
def test_the_plain_reference_agrees_in_float32(name, models):
    """As transformers runs it, parts in float32 included."""
    inputs = token_inputs(models[name], np.random.default_rng(0))[0]
    found = ask(recover(models[name]), inputs)
    expected = hidden_states(models[name], inputs)
    assert relative_difference(found, expected, inputs.mask) <= 2e-6


@pytest.mark.parametrize("name", NAMES)
def test_heads_stay_outside(name, models, tmp_path):
    kind, words = HEADED[name]
    torch.manual_seed(4)
    model = kind(models[name].config).double().eval()
    model.save_pretrained(tmp_path)
    plain = recover(model.transformer if name == "T5 encoder" else model.base_model)
    for source in (model, tmp_path):
        recovered = recover(source)
        # a head that shares the words' table is not stored a second time
        tied = name == "BLOOM" and source == tmp_path
        assert set(recovered.outside[1:]) == (set() if tied else words)
        assert_same_equation(recovered, plain)


@pytest.mark.parametrize("name", ["RoBERTa", "DistilBERT", "T5 encoder", "BLOOM"])
def test_both_names_of_the_equation_agree(name):
    model = build(name, 2)
    inputs = token_inputs(model, np.random.default_rng(1))[0]
    split, residual = (ask(recover(model, equation=e), inputs) for e in ("split", "residual"))
    assert relative_difference(split, residual, inputs.mask) <= 1e-13


@pytest.mark.parametrize("k", [0, 2])
def test_albert_is_constant_in_time(k):
    """One row of weights; in the residual flow only the first layer has no norm before it."""
    model = build("ALBERT", k)
    inputs = token_inputs(model, np.random.default_rng(1))[0]
    expected = hidden_states(model, inputs)
    split, residual = (recover(model, equation=e) for e in ("split", "residual"))
    assert split.problem.equation.horizon == model.config.num_hidden_layers
    query = split.problem.equation.terms["attention"].query
    assert query.kernel.values.shape[0] == 1
    assert not query.kernel.time_dependent
    for recovered in (split, residual):
        assert relative_difference(ask(recovered, inputs), expected, inputs.mask) <= 1e-13


def test_albert_as_a_torch_encoder(models):
    """The way back repeats the shared layer."""
    model = models["ALBERT"]
    recovered = recover(model)
    encoder = to_torch(recovered)
    assert len(encoder.layers) == model.config.num_hidden_layers
    inputs = token_inputs(model, np.random.default_rng(2))[0]
    with torch.no_grad():
        u0 = torch.from_numpy(np.array(recovered.embed(**inputs.arguments)))
        found = encoder(u0, src_key_padding_mask=torch.from_numpy(~inputs.mask))
    assert relative_difference(found, hidden_states(model, inputs), inputs.mask) <= 1e-13


def test_roberta_counts_its_table_of_positions(models):
    recovered, model = recover(models["RoBERTa"]), models["RoBERTa"]
    longest = model.config.max_position_embeddings - model.config.pad_token_id - 1
    assert recovered.embed(np.full((1, longest), 5)).shape[1] == longest
    with pytest.raises(ValueError, match=f"at most {longest} tokens"):
        recovered.embed(np.full((1, longest + 1), 5))


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize(("buckets", "furthest"), [(32, 128), (8, 12), (5, 20), (64, 1000), (4, 3)])
def test_buckets_are_those_of_t5(both, buckets, furthest):
    distance = np.arange(-300, 301)
    bias = BucketBias(np.zeros((buckets, 1)), furthest, both)
    expected = T5Attention._relative_position_bucket(
        torch.from_numpy(distance), both, buckets, furthest
    )
    np.testing.assert_array_equal(bias.bucket(distance), expected.numpy())


@pytest.mark.parametrize("heads", [1, 2, 3, 5, 8, 11, 16, 24, 112])
def test_slopes_are_those_of_bloom(heads):
    """Transformers' own, which it raises to powers in float32."""
    alibi = build_alibi_tensor(torch.ones(1, 4, dtype=torch.long), heads, torch.float64)
    steps = np.diff(alibi.numpy()[:, 0], axis=-1)
    np.testing.assert_allclose(alibi_slopes(heads), steps[:, 0], rtol=2.5e-7)


def test_dense_layers_split_in_groups():
    kernel = np.arange(2 * 3 * 12.0).reshape(2, 3, 12)
    parts = Dense(kernel, kernel[:, 0]).split(3, 2)
    for index, part in enumerate(parts):
        columns = [index * 2, index * 2 + 1, 6 + index * 2, 7 + index * 2]
        np.testing.assert_array_equal(part.kernel, kernel[..., columns])
        np.testing.assert_array_equal(part.bias, kernel[:, 0, columns])
    bare = Dense(kernel).split(2)
    assert bare[0].bias is None
    np.testing.assert_array_equal(np.concatenate([p.kernel for p in bare], axis=2), kernel)


REFUSED = {
    "relative positions": (
        "RoBERTa",
        {"position_embedding_type": "relative_key"},
        TypeError,
        "position_embedding_type 'relative_key' is not covered",
    ),
    "decoder": ("RoBERTa", {"is_decoder": True}, TypeError, "is_decoder is not covered"),
    "padding": ("RoBERTa", {"pad_token_id": -1}, ValueError, "integer pad_token_id >= 0"),
    "width": ("RoBERTa", {"hidden_size": 18}, ValueError, "hidden_size is 18 in the config and 15"),
    "activation": ("DistilBERT", {"activation": "mish"}, TypeError, "unknown activation 'mish'"),
    "dim": ("DistilBERT", {"dim": 18}, ValueError, "dim is 18 in the config and 15"),
    "hidden_dim": ("DistilBERT", {"hidden_dim": 18}, ValueError, "hidden_dim is 18"),
    "heads": ("DistilBERT", {"n_heads": 4}, ValueError, "4 heads do not divide"),
    "layers": ("DistilBERT", {"n_layers": 2}, ValueError, "not part of the architecture"),
    "groups": ("ALBERT", {"num_hidden_groups": 2}, TypeError, "num_hidden_groups 2 .* expected 1"),
    "inner": ("ALBERT", {"inner_group_num": 3}, TypeError, "inner_group_num 3 .* expected 1"),
    "embedding": ("ALBERT", {"embedding_size": 9}, ValueError, "embedding_size is 9 .* and 7"),
    "no layers": ("ALBERT", {"num_hidden_layers": 0}, ValueError, "positive integer num_hidden"),
    "T5 decoder": ("T5 encoder", {"is_decoder": True}, TypeError, "is_decoder is not covered"),
    "T5 activation": (
        "T5 encoder",
        {"dense_act_fn": None, "feed_forward_proj": "gated-mish"},
        TypeError,
        "unknown activation 'mish' of feed_forward_proj 'gated-mish'",
    ),
    "gate": ("T5 encoder", {"is_gated_act": True}, ValueError, "missing tensors: .*wi_0.weight"),
    "d_kv": ("T5 encoder", {"d_kv": 5}, ValueError, r"q.weight: expected 15 rows .* got 12"),
    "num_heads": (
        "T5 encoder",
        {"num_heads": 4, "d_kv": 3},
        ValueError,
        "one column for each of 4 heads",
    ),
    "buckets": (
        "T5 encoder",
        {"relative_attention_num_buckets": 32},
        ValueError,
        "relative_attention_num_buckets is 32 in the config and 8",
    ),
    "vocabulary": ("T5 encoder", {"vocab_size": 9}, ValueError, "vocab_size is 9"),
    "residual": (
        "BLOOM",
        {"apply_residual_connection_post_layernorm": True},
        TypeError,
        "apply_residual_connection_post_layernorm is not covered",
    ),
    "BLOOM width": ("BLOOM", {"hidden_size": 18}, ValueError, "hidden_size is 18 .* and 15"),
    "BLOOM heads": ("BLOOM", {"n_head": 4}, ValueError, "4 heads do not divide"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(saved, case):
    name, changed, error, message = REFUSED[case]
    folder, entries = saved[name]
    path = folder / "config.json"
    path.write_text(json.dumps(entries | changed))
    try:
        with pytest.raises(error, match=message):
            recover(folder)
    finally:
        path.write_text(json.dumps(entries))


def test_old_names_in_configurations(saved, models):
    """BLOOM's first names, and a T5 that states its feedforward in one word."""
    changes = {
        "BLOOM": {"hidden_size": None, "n_head": None, "n_embed": 15, "num_attention_heads": 3},
        "T5 encoder": {"dense_act_fn": None, "is_gated_act": None, "feed_forward_proj": "relu"},
    }
    for name, changed in changes.items():
        folder, entries = saved[name]
        path = folder / "config.json"
        path.write_text(json.dumps(_without_nulls(entries | changed)))
        try:
            assert_same_equation(recover(folder), recover(models[name]))
        finally:
            path.write_text(json.dumps(entries))


def _without_nulls(entries):
    return {key: value for key, value in entries.items() if value is not None}


@pytest.mark.parametrize(
    "kind",
    [transformers.T5Model, transformers.T5ForConditionalGeneration],
    ids=lambda k: k.__name__,
)
def test_a_t5_with_a_decoder_is_refused(kind, models, tmp_path):
    entries = models["T5 encoder"].config.to_dict() | {"is_encoder_decoder": True}
    model = kind(transformers.T5Config(**entries)).double().eval()
    model.save_pretrained(tmp_path)
    for source in (model, tmp_path):
        with pytest.raises(TypeError, match=r"cross-attention .* T5EncoderModel"):
            recover(source)


def test_two_tables_of_words_are_refused(models):
    model = build("T5 encoder", 1)
    model.encoder.embed_tokens = torch.nn.Embedding(50, 10).double()
    with pytest.raises(ValueError, match=r"shared.weight and encoder.embed_tokens.weight"):
        recover(model)


def test_weights_that_are_not_finite_are_refused():
    for name, part in (
        ("ALBERT", "encoder.embedding_hidden_mapping_in.bias"),
        ("T5 encoder", "encoder.final_layer_norm.weight"),
        ("BLOOM", "ln_f.bias"),
    ):
        model = build(name, 1)
        with torch.no_grad():
            model.get_parameter(part).fill_(torch.nan)
        with pytest.raises(ValueError, match="NaN or infinite"):
            recover(model)


def test_lifting_leaves_no_trace(models):
    """BLOOM's row replaces functions of torch for the time of one call."""
    before = torch.pow, torch.nn.functional.softmax
    inputs = token_inputs(models["BLOOM"], np.random.default_rng(0))[0]
    target = "experiments.architectures.bloom.hidden_states"
    with mock.patch(target, side_effect=KeyError), pytest.raises(KeyError):
        ROWS["BLOOM"].forward(models["BLOOM"], inputs)
    assert before == (torch.pow, torch.nn.functional.softmax)

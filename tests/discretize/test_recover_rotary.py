"""GPT-J, GPT-NeoX and Llama: folders, heads, plain references, and what is refused."""

import json

import jax
import numpy as np
import pytest
import torch
import transformers

from discretize.encoders import recover
from discretize.encoders.rotary import float32_frequencies
from experiments.architectures import ROWS
from experiments.architectures.row import Inputs
from experiments.architectures.tokens import hidden_states, token_inputs
from solvers import solve
from tests.helpers import relative_difference

NAMES = ("GPT-J", "GPT-NeoX", "Llama")
CAUSAL = {
    "GPT-J": transformers.GPTJForCausalLM,
    "GPT-NeoX": transformers.GPTNeoXForCausalLM,
    "Llama": transformers.LlamaForCausalLM,
}
SMALL = {
    "hidden_size": 20,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 6,
}


def build(name, k=0, seed=3):
    torch.manual_seed(seed)
    return ROWS[name].build(ROWS[name].configurations[k])


def rewrite(folder, **changed):
    """Change entries of a folder's configuration."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    return folder


def ask(recovered, inputs):
    return solve(recovered, recovered.embed(**inputs.arguments), mask=inputs.mask).final


def assert_same_equation(found, expected):
    """The same numbers; frequencies within the rounding of float32, which torch owns."""
    for part in ("problem", "embed", "closing"):
        one, other = getattr(found, part), getattr(expected, part)
        assert jax.tree.structure(one) == jax.tree.structure(other)
        for (path, a), (_, b) in zip(
            jax.tree.leaves_with_path(one), jax.tree.leaves_with_path(other), strict=True
        ):
            rtol = 1.2e-7 if "frequencies" in jax.tree_util.keystr(path) else 0.0
            np.testing.assert_allclose(a, b, rtol=rtol, atol=0.0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [0, 1])
def test_a_folder_is_the_live_model(name, k, tmp_path):
    model = build(name, k)
    model.save_pretrained(tmp_path)
    assert_same_equation(recover(tmp_path), recover(model))


@pytest.mark.parametrize("name", NAMES)
def test_the_plain_reference_agrees_in_float32(name):
    """As transformers runs it, float32 parts included, and in float32 throughout."""
    model = build(name)
    inputs = token_inputs(model, np.random.default_rng(0))[0]
    found = ask(recover(model), inputs)
    assert relative_difference(found, hidden_states(model, inputs), inputs.mask) <= 2e-6
    single = model.float()
    recovered = recover(single)
    assert recovered.problem.dtype == np.float32
    found = ask(recovered, inputs)
    assert relative_difference(found, hidden_states(single, inputs), inputs.mask) <= 5e-6


@pytest.mark.parametrize("name", NAMES)
def test_a_language_model_and_its_folder(name, tmp_path):
    torch.manual_seed(4)
    model = CAUSAL[name](build(name).config).double().eval()
    model.save_pretrained(tmp_path)
    plain = recover(model.base_model)
    for source in (model, tmp_path):
        recovered = recover(source)
        assert "the language-model head" in recovered.outside
        assert_same_equation(recovered, plain)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [0, 1])
def test_both_names_of_the_equation_agree(name, k):
    model = build(name, k)
    inputs = token_inputs(model, np.random.default_rng(1))[0]
    split, residual = (ask(recover(model, equation=e), inputs) for e in ("split", "residual"))
    assert relative_difference(split, residual, inputs.mask) <= 1e-14


def test_padding_on_the_left():
    row, model = ROWS["Llama"], build("Llama")
    ids = np.random.default_rng(2).integers(3, 50, (3, 7))
    inputs = Inputs({"input_ids": ids}, np.arange(7) >= np.array([0, 3, 6])[:, None])
    found = ask(recover(model), inputs)
    assert relative_difference(found, row.forward(model, inputs), inputs.mask) <= 1e-13


def test_the_parallel_residual_is_read():
    """The two forms of GPT-NeoX with the same weights are two equations."""
    one = build("GPT-NeoX")
    other = transformers.GPTNeoXModel(
        transformers.GPTNeoXConfig(**(one.config.to_dict() | {"use_parallel_residual": False}))
    )
    other.double().eval().load_state_dict(one.state_dict())
    inputs = token_inputs(one, np.random.default_rng(0))[0]
    found, changed = (ask(recover(model), inputs) for model in (one, other))
    assert relative_difference(found, changed, inputs.mask) > 1e-3
    expected = ROWS["GPT-NeoX"].forward(other, inputs)
    assert relative_difference(changed, expected, inputs.mask) <= 1e-13


def test_frequencies_are_those_of_transformers():
    for base, cells in ((10000.0, 3), (10000.0, 64), (500000.0, 128)):
        found = float32_frequencies(cells, base)
        expected = 1.0 / base ** (torch.arange(0, cells, 2, dtype=torch.float32) / cells)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected.numpy(), rtol=2.4e-7)


def test_no_rotation_and_an_odd_one():
    """A share of the head that rounds to nothing, and to an odd number of features."""
    for share in (0.0, 0.1, 0.3):
        torch.manual_seed(0)
        model = ROWS["GPT-NeoX"].build({**SMALL, "rotary_pct": share})
        paths = jax.tree.leaves_with_path(recover(model).problem.equation)
        turned = any("frequencies" in jax.tree_util.keystr(path) for path, _ in paths)
        assert turned == (share > 0.0)
        inputs = token_inputs(model, np.random.default_rng(0))[0]
        expected = ROWS["GPT-NeoX"].forward(model, inputs)
        assert relative_difference(ask(recover(model), inputs), expected, inputs.mask) <= 1e-13


LINEAR = {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}
REFUSED = {
    "rope": ("Llama", {"rope_parameters": LINEAR}, TypeError, "rope_type 'linear' .* 'default'"),
    "rope scaling": (
        "Llama",
        {"rope_scaling": {"type": "dynamic", "factor": 2.0}},
        TypeError,
        "rope_type 'dynamic' is not covered",
    ),
    "rope of NeoX": ("GPT-NeoX", {"rope_parameters": LINEAR}, TypeError, "rope_type 'linear'"),
    "rope by layer": (
        "Llama",
        {"rope_parameters": {"full_attention": LINEAR}},
        TypeError,
        "full_attention are not covered",
    ),
    "no rope": ("Llama", {"rope_parameters": 3}, ValueError, "expected a JSON object, got 3"),
    "a base of zero": (
        "Llama",
        {"rope_parameters": {"rope_theta": 0.0}},
        ValueError,
        "expected finite rotary frequencies",
    ),
    "activation": ("Llama", {"hidden_act": "mish"}, TypeError, "unknown activation 'mish'"),
    "activation of NeoX": ("GPT-NeoX", {"hidden_act": "mish"}, TypeError, "activation 'mish'"),
    "activation of J": ("GPT-J", {"activation_function": "mish"}, TypeError, "activation 'mish'"),
    "window": ("Llama", {"sliding_window": 4}, TypeError, "sliding_window is not covered"),
    "experts": ("Llama", {"num_local_experts": 4}, TypeError, "num_local_experts is not covered"),
    "quantised": ("Llama", {"quantization_config": {"bits": 4}}, TypeError, "quantised weights"),
    "width": ("Llama", {"hidden_size": 48}, ValueError, "contradicts the weights: hidden_size"),
    "vocabulary": ("GPT-J", {"vocab_size": 9}, ValueError, "vocab_size is 9 in the config and 50"),
    "feedforward": ("GPT-NeoX", {"intermediate_size": 9}, ValueError, "intermediate_size is 9"),
    "groups": ("Llama", {"num_key_value_heads": 4}, ValueError, "k_proj.weight: expected 24 rows"),
    "uneven groups": ("Llama", {"num_key_value_heads": 3}, ValueError, "3 heads .* 4 heads"),
    "heads": ("GPT-NeoX", {"num_attention_heads": 5}, ValueError, "5 heads do not divide"),
    "biases": ("Llama", {"attention_bias": True}, ValueError, "missing tensors: .*q_proj.bias"),
    "extra biases": ("GPT-NeoX", {"attention_bias": False}, ValueError, "not part of the arch"),
    "too much rotation": ("GPT-J", {"rotary_dim": 8}, ValueError, "at most 6 rotated features"),
    "odd rotation": ("GPT-J", {"rotary_dim": 3}, ValueError, "an even rotary_dim, got 3"),
    "no rotary_dim": ("GPT-J", {"rotary_dim": None}, ValueError, "integer rotary_dim .* got None"),
    "layers": ("Llama", {"num_hidden_layers": 2}, ValueError, "not part of the architecture"),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Models in folders, and the entries of their configurations."""
    folders = {name: tmp_path_factory.mktemp("models") for name in NAMES}
    for name, folder in folders.items():
        build(name).save_pretrained(folder)
    return {
        name: (folder, json.loads((folder / "config.json").read_text()))
        for name, folder in folders.items()
    }


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(saved, case):
    name, changed, error, message = REFUSED[case]
    folder, entries = saved[name]
    rewrite(folder, **changed)
    try:
        with pytest.raises(error, match=message):
            recover(folder)
    finally:
        (folder / "config.json").write_text(json.dumps(entries))


def test_old_configurations_keep_the_rotation_beside_the_rest(tmp_path):
    model = build("GPT-NeoX", 2)
    model.save_pretrained(tmp_path)
    rewrite(tmp_path, rope_parameters=None, rotary_pct=0.6, rotary_emb_base=500)
    assert_same_equation(recover(tmp_path), recover(model))


@pytest.mark.parametrize("name", NAMES)
def test_altered_buffers_of_live_models(name):
    """What a live model would use is what counts: read, or refused."""
    model = build(name)
    inputs = token_inputs(model, np.random.default_rng(0))[0]
    with torch.no_grad():
        for buffer in model.rotary_emb.buffers():
            buffer.mul_(0.5)
    if name == "GPT-J":
        with pytest.raises(ValueError, match="embed_positions is not the table of sines"):
            recover(model)
        return
    expected = ROWS[name].forward(model, inputs)
    assert relative_difference(ask(recover(model), inputs), expected, inputs.mask) <= 1e-13

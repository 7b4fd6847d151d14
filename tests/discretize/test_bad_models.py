"""Models that must be refused: the message names what was expected and what was found."""

import json
import shutil
from pathlib import Path

import jax
import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from torch import nn

from discretize.encoders import recover

QUERY = "encoder.layer.1.attention.self.query.weight"


def layer(**options):
    return nn.TransformerEncoderLayer(
        8, **({"nhead": 2, "dim_feedforward": 12, "dtype": torch.float64} | options)
    )


def encoder(count=2, **options):
    return nn.TransformerEncoder(layer(**options), count, enable_nested_tensor=False)


def spoiled(change, count=2, **options):
    """A fresh encoder after ``change``."""
    model = encoder(count, **options)
    with torch.no_grad():
        change(model)
    return model


def put(tensor_of, value):
    """A change that writes ``value`` into one number of a tensor."""

    def change(model):
        tensor_of(model).view(-1)[3] = value

    return change


def replace_layer(index, new):
    def change(model):
        model.layers[index] = new

    return change


def set_attribute(path, value):
    def change(model):
        *parents, last = path.split(".")
        for name in parents:
            model = getattr(model, name)
        setattr(model, last, value)

    return change


class OwnLayer(nn.TransformerEncoderLayer):
    """A layer whose forward may be anything."""


class OwnEncoder(nn.TransformerEncoder):
    """An encoder whose forward may be anything."""


LIVE = {
    "NaN in a weight": (
        lambda: spoiled(put(lambda m: m.layers[1].linear1.weight, float("nan"))),
        ValueError,
        "the weights 'hidden.kernel' hold NaN or infinite values",
    ),
    "infinity in a bias": (
        lambda: spoiled(put(lambda m: m.layers[0].self_attn.in_proj_bias, float("inf"))),
        ValueError,
        "the weights 'query.bias' hold NaN or infinite values",
    ),
    "NaN in a norm": (
        lambda: spoiled(put(lambda m: m.layers[0].norm2.weight, float("nan"))),
        ValueError,
        "the weights 'norm_output.scale' hold NaN or infinite values",
    ),
    "an unknown activation": (
        lambda: encoder(activation=nn.functional.elu),
        TypeError,
        "unknown activation <function elu.*; expected relu, gelu, silu or tanh",
    ),
    "an activation module of its own": (
        lambda: encoder(activation=nn.LeakyReLU()),
        TypeError,
        r"unknown activation LeakyReLU\(.*; expected relu, gelu, silu or tanh",
    ),
    "a subclass of GELU": (
        lambda: encoder(activation=type("Mine", (nn.GELU,), {})()),
        TypeError,
        r"unknown activation Mine\(",
    ),
    "a subclass of the layer": (
        lambda: OwnLayer(8, 2),
        TypeError,
        r"expected the class torch.nn.TransformerEncoderLayer itself, got .*\.OwnLayer, whose "
        "forward may differ",
    ),
    "one layer of a subclass": (
        lambda: spoiled(replace_layer(1, OwnLayer(8, 2, 12, dtype=torch.float64))),
        TypeError,
        r"expected the class torch.nn.TransformerEncoderLayer itself, got .*\.OwnLayer",
    ),
    "a subclass of the encoder": (
        lambda: OwnEncoder(layer(), 2, enable_nested_tensor=False),
        TypeError,
        r"expected the class torch.nn.TransformerEncoder itself, got .*\.OwnEncoder",
    ),
    "mixed activations": (
        lambda: spoiled(replace_layer(1, layer(activation="gelu"))),
        TypeError,
        r"expected one activation in all layers, got \['relu', 'gelu'\]",
    ),
    "mixed norm positions": (
        lambda: spoiled(replace_layer(1, layer(norm_first=True))),
        TypeError,
        r"expected one norm_first in all layers, got \[False, True\]",
    ),
    "mixed numbers of heads": (
        lambda: spoiled(replace_layer(1, layer(nhead=4))),
        TypeError,
        r"expected one number of heads in all layers, got \[2, 4\]",
    ),
    "mixed eps": (
        lambda: spoiled(replace_layer(1, layer(layer_norm_eps=1e-3))),
        TypeError,
        r"expected one norm eps in all layers, got \[1e-05, 0.001\]",
    ),
    "mixed biases": (
        lambda: spoiled(replace_layer(1, layer(bias=False))),
        TypeError,
        r"expected one bias of self_attn in all layers, got \[True, False\]",
    ),
    "mixed layouts": (
        lambda: spoiled(replace_layer(1, layer(batch_first=True))),
        TypeError,
        r"expected one batch_first in all layers, got \[False, True\]",
    ),
    "mixed widths": (
        lambda: spoiled(replace_layer(1, layer(dim_feedforward=13))),
        ValueError,
        r"layers.N.linear1.weight of one shape in all layers, got \[\(12, 8\), \(13, 8\)\]",
    ),
    "mixed precision": (
        lambda: spoiled(replace_layer(1, layer(dtype=torch.float32))),
        ValueError,
        r"expected weights of one dtype, found .*float32.*float64",
    ),
    "no layers": (lambda: encoder(0), ValueError, "expected at least one layer, got none"),
    "another norm": (
        lambda: spoiled(set_attribute("layers.0.norm1", nn.RMSNorm(8))),
        TypeError,
        r"expected norm1 to be a LayerNorm over the features, got RMSNorm",
    ),
    "a norm without scale": (
        lambda: spoiled(set_attribute("layers.0.norm2", nn.LayerNorm(8, elementwise_affine=False))),
        TypeError,
        "norm2 without elementwise_affine is not covered",
    ),
    "another final norm": (
        lambda: nn.TransformerEncoder(
            layer(), 2, nn.Linear(8, 8).double(), enable_nested_tensor=False
        ),
        TypeError,
        r"expected the final norm to be a LayerNorm over the features, got Linear",
    ),
    "an extra parameter": (
        lambda: spoiled(set_attribute("layers.0.extra", nn.Linear(8, 8).double())),
        ValueError,
        r"tensors that are not part of the architecture: layers.0.extra.bias, layers.0.extra.weig",
    ),
    "a key of another size": (
        lambda: spoiled(
            set_attribute("layers.0.self_attn", nn.MultiheadAttention(8, 2, kdim=4, vdim=4))
        ),
        TypeError,
        "self_attn with kdim or vdim set is not covered",
    ),
    "an appended zero token": (
        lambda: spoiled(
            set_attribute("layers.0.self_attn", nn.MultiheadAttention(8, 2, add_zero_attn=True))
        ),
        TypeError,
        "self_attn with add_zero_attn set is not covered",
    ),
    "an appended key": (
        lambda: spoiled(
            set_attribute("layers.0.self_attn", nn.MultiheadAttention(8, 2, add_bias_kv=True))
        ),
        TypeError,
        "self_attn with bias_k set is not covered",
    ),
    "float16": (
        lambda: encoder(dtype=torch.float16),
        ValueError,
        r"expected float32 or float64 weights, got torch.float16; convert the model first",
    ),
    "bfloat16": (
        lambda: encoder(dtype=torch.bfloat16),
        ValueError,
        r"expected float32 or float64 weights, got torch.bfloat16",
    ),
    "another module": (
        lambda: nn.Linear(8, 8),
        TypeError,
        r"a torch.nn.modules.linear.Linear is not covered; expected a torch.nn.TransformerEncoder",
    ),
    "a decoder layer": (
        lambda: nn.TransformerDecoderLayer(8, 2),
        TypeError,
        r"TransformerDecoderLayer is not covered; expected",
    ),
    "no model": (lambda: 3, TypeError, r"a builtins.int is not covered; expected"),
    "a state dict": (lambda: {}, TypeError, r"a builtins.dict is not covered; expected"),
}


@pytest.mark.parametrize("case", LIVE)
def test_live_models_that_do_not_fit(case):
    build, error, message = LIVE[case]
    model = build()
    with pytest.raises(error, match=message):
        recover(model)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"equation": "heat"}, "equation: expected one of split, residual, got 'heat'"),
        ({"dtype": "float16"}, "dtype: expected 'float32' or 'float64', got 'float16'"),
    ],
)
def test_unknown_options(options, message):
    with pytest.raises(ValueError, match=message):
        recover(encoder(), **options)


def test_a_float64_model_is_not_rounded_in_silence():
    message = "is float64, but jax runs in float32 .*jax_enable_x64"
    with jax.enable_x64(False):
        with pytest.raises(ValueError, match=f"the tensor 'layers.0.*' {message}"):
            recover(encoder())
        assert recover(encoder(), dtype="float32").problem.dtype == np.float32
        with pytest.raises(ValueError, match=message):
            recover(encoder(dtype=torch.float32), dtype="float64")


def test_a_float64_bert_is_not_rounded_in_silence(saved_bert):
    with jax.enable_x64(False), pytest.raises(ValueError, match="is float64, but jax runs in"):
        recover(saved_bert)


# ------------------------------------------------------------------------------- BERT folders


@pytest.fixture
def folder(saved_bert, tmp_path):
    """A copy of a sound folder, to be damaged."""
    return Path(shutil.copytree(saved_bert, tmp_path / "bert"))


def config(**changed):
    """A change of config.json; None removes an entry."""

    def change(folder):
        path = folder / "config.json"
        content = json.loads(path.read_text()) | changed
        path.write_text(json.dumps({k: v for k, v in content.items() if v is not None}))

    return change


def arrays(edit):
    """A change of model.safetensors."""

    def change(folder):
        path = folder / "model.safetensors"
        tensors = load_file(path)
        edit(tensors)
        save_file(tensors, path)

    return change


def set_array(name, function):
    return arrays(lambda t: t.update({name: np.ascontiguousarray(function(t[name]))}))


def spoil(name, value):
    def edit(tensors):
        tensors[name] = tensors[name].copy()
        tensors[name].reshape(-1)[0] = value

    return arrays(edit)


def truncate(size):
    def change(folder):
        path = folder / "model.safetensors"
        path.write_bytes(path.read_bytes()[:size])

    return change


def pickle_instead(folder):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch pwned'\ntR.")


FOLDERS = {
    "hidden_size": (
        config(hidden_size=15),
        ValueError,
        "config contradicts the weights: hidden_size is 15 in the config and 12 in the weights",
    ),
    "intermediate_size": (
        config(intermediate_size=24),
        ValueError,
        "intermediate_size is 24 in the config and 20 in the weights",
    ),
    "vocab_size": (
        config(vocab_size=31),
        ValueError,
        "vocab_size is 31 in the config and 30 in the weights",
    ),
    "max_position_embeddings": (
        config(max_position_embeddings=512),
        ValueError,
        "max_position_embeddings is 512 in the config and 16 in the weights",
    ),
    "type_vocab_size": (
        config(type_vocab_size=1),
        ValueError,
        "type_vocab_size is 1 in the config and 2 in the weights",
    ),
    "too many layers": (
        config(num_hidden_layers=3),
        ValueError,
        r"missing tensors: encoder.layer.2.attention.output.LayerNorm.bias, .* and 10 more",
    ),
    "too few layers": (
        config(num_hidden_layers=1),
        ValueError,
        "tensors that are not part of the architecture: encoder.layer.1.attention.output",
    ),
    "heads that do not divide": (
        config(num_attention_heads=5),
        ValueError,
        "5 heads do not divide the model dimension 12",
    ),
    "no number of heads": (
        config(num_attention_heads=None),
        ValueError,
        "expected a positive integer num_attention_heads in the config, got None",
    ),
    "a negative number of layers": (
        config(num_hidden_layers=-1),
        ValueError,
        "expected a positive integer num_hidden_layers in the config, got -1",
    ),
    "another architecture": (
        config(model_type="marian"),
        TypeError,
        r"model_type 'marian' is not covered \(cross-attention: .*\); expected one of 'bert', ",
    ),
    "relative positions": (
        config(position_embedding_type="relative_key"),
        TypeError,
        r"position_embedding_type 'relative_key' is not covered \(relative positions add a term "
        r"that depends on x - x~ to the scores\); expected 'absolute'",
    ),
    "a decoder": (
        config(is_decoder=True),
        TypeError,
        r"is_decoder is not covered \(a decoder masks later tokens\)",
    ),
    "cross-attention": (
        config(add_cross_attention=True),
        TypeError,
        r"add_cross_attention is not covered \(cross-attention reads a second sequence\)",
    ),
    "quantised weights": (
        config(quantization_config={"bits": 8}),
        TypeError,
        "quantised weights are not covered",
    ),
    "an unknown activation": (
        config(hidden_act="mish"),
        TypeError,
        "unknown activation 'mish'; expected one of gelu, gelu_new",
    ),
    "a negative eps": (
        config(layer_norm_eps=-1.0),
        ValueError,
        "layer_norm_eps: expected a finite number >= 0, got -1.0",
    ),
    "an eps that is no number": (
        config(layer_norm_eps="tiny"),
        ValueError,
        "layer_norm_eps: expected a finite number >= 0, got 'tiny'",
    ),
    "a list as configuration": (
        lambda f: (f / "config.json").write_text("[]"),
        ValueError,
        "config.json: expected a JSON object, got list",
    ),
    "a configuration cut short": (
        lambda f: (f / "config.json").write_text('{"model_type": "be'),
        ValueError,
        "config.json: not readable as JSON",
    ),
    "no configuration": (
        lambda f: (f / "config.json").unlink(),
        FileNotFoundError,
        "config.json is missing: expected the model's configuration there",
    ),
    "no weights": (
        lambda f: (f / "model.safetensors").unlink(),
        FileNotFoundError,
        "model.safetensors is missing; .* holds config.json",
    ),
    "a pickle": (
        pickle_instead,
        FileNotFoundError,
        "model.safetensors is missing, and pytorch_model.bin stands there: a pickle can run code "
        "when it is read and is never opened here; write safetensors",
    ),
    "weights cut in the data": (
        truncate(-16),
        ValueError,
        "model.safetensors: not a whole safetensors file .* truncated",
    ),
    "weights cut in the header": (truncate(100), ValueError, "not a whole safetensors file"),
    "weights that are none": (
        lambda f: (f / "model.safetensors").write_bytes(b"<html>404</html>" * 10),
        ValueError,
        "model.safetensors: not a whole safetensors file",
    ),
    "a missing tensor": (
        arrays(lambda t: t.pop(QUERY)),
        ValueError,
        f"missing tensors: {QUERY}$",
    ),
    "a missing embedding": (
        arrays(lambda t: t.pop("embeddings.word_embeddings.weight")),
        ValueError,
        "missing tensors: embeddings.word_embeddings.weight$",
    ),
    "an extra tensor": (
        arrays(lambda t: t.update({"encoder.layer.0.adapter.weight": np.ones(3)})),
        ValueError,
        "tensors that are not part of the architecture: encoder.layer.0.adapter.weight$",
    ),
    "NaN in a layer": (
        spoil(QUERY, np.nan),
        ValueError,
        "the weights 'query.kernel' hold NaN or infinite values",
    ),
    "infinity in an embedding": (
        spoil("embeddings.position_embeddings.weight", np.inf),
        ValueError,
        "the embeddings hold NaN or infinite values",
    ),
    "a tensor of another shape in one layer": (
        set_array(QUERY, lambda a: a[:, :-1]),
        ValueError,
        r"query.weight of one shape in all layers, got \[\(12, 11\), \(12, 12\)\]",
    ),
    "a flat tensor": (
        arrays(lambda t: [t.update({k: t[k].reshape(-1)}) for k in t if "query.weight" in k]),
        ValueError,
        r"encoder.layer.N.attention.self.query.weight: expected matrices, got shape \(144,\)",
    ),
    "a square where a bias belongs": (
        arrays(lambda t: [t.update({k: np.ones((12, 12))}) for k in t if "key.bias" in k]),
        ValueError,
        r"key: expected 2 biases of shape \(12,\), got \(2, 12, 12\)",
    ),
    "a flat embedding": (
        set_array("embeddings.word_embeddings.weight", lambda a: a.reshape(-1)),
        ValueError,
        r"embeddings.word_embeddings.weight: expected shape \(360, 12\), got \(360,\)",
    ),
    "an embedding norm of another size": (
        set_array("embeddings.LayerNorm.weight", lambda a: a[:-1]),
        ValueError,
        r"embeddings.LayerNorm.weight: expected shape \(12,\), got \(11,\)",
    ),
    "a narrow position table": (
        set_array("embeddings.position_embeddings.weight", lambda a: a[:, :-1]),
        ValueError,
        r"embeddings.position_embeddings.weight: expected shape \(16, 12\), got \(16, 11\)",
    ),
    "half precision": (
        set_array(QUERY, lambda a: a.astype(np.float16)),
        ValueError,
        rf"expected float32 or float64 weights, found half or quantised ones: {QUERY} \(F16\)",
    ),
    "a tensor in another precision": (
        set_array(QUERY, lambda a: a.astype(np.float32)),
        ValueError,
        r"expected weights of one dtype, found .*float32.*float64",
    ),
    "an embedding in another precision": (
        set_array("embeddings.word_embeddings.weight", lambda a: a.astype(np.float32)),
        ValueError,
        r"expected weights of one dtype, found .*float32.*float64",
    ),
    "integers": (
        arrays(lambda t: [t.update({k: t[k].astype(np.int32)}) for k in t]),
        ValueError,
        "expected float32 or float64, got int32",
    ),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_folders_that_do_not_fit(folder, case, monkeypatch):
    damage, error, message = FOLDERS[case]
    damage(folder)
    monkeypatch.chdir(folder.parent)
    before = sorted(p.name for p in folder.iterdir())
    with pytest.raises(error, match=message):
        recover(folder)
    # nothing was run and nothing was written
    assert sorted(p.name for p in folder.iterdir()) == before
    assert [p.name for p in folder.parent.iterdir()] == ["bert"]


@pytest.mark.parametrize("suffix", [".pt", ".pth", ".bin", ".pkl", ".ckpt"])
@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_to_a_pickle(tmp_path, suffix, kind):
    path = tmp_path / f"model{suffix}"
    path.write_bytes(b"cos\nsystem\n(S'touch pwned'\ntR.")
    message = f"model{suffix}: a pickle can run code when it is read .* expected a folder with"
    with pytest.raises(ValueError, match=message):
        recover(kind(path))


@pytest.mark.parametrize("name", ["bert-base-uncased", "config.json"])
def test_a_path_to_no_folder(folder, name):
    """A hub's name is not downloaded; a file is not a folder."""
    with pytest.raises(FileNotFoundError, match=f"{name} is not a directory: expected one with"):
        recover(str(folder / name))


def test_the_sound_folder_is_accepted(folder):
    """The test of the tests: what the damage is done to would be recovered."""
    config()(folder)
    arrays(lambda tensors: None)(folder)
    assert recover(folder).problem.num_steps == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"is_decoder": True}, "is_decoder is not covered"),
        ({"hidden_act": "mish"}, "unknown activation 'mish'"),
        ({"position_embedding_type": "relative_key_query"}, "relative positions add a term"),
    ],
)
def test_live_berts_are_read_by_their_configuration_too(make_bert, change, message):
    model = make_bert(**change)
    with pytest.raises(TypeError, match=message):
        recover(model)


def test_other_transformers_models_are_refused():
    import transformers

    config = transformers.FNetConfig(
        vocab_size=9, hidden_size=12, num_hidden_layers=1, intermediate_size=12
    )
    model = transformers.FNetModel(config)
    with pytest.raises(
        TypeError,
        match=r"FNetModel is not covered .a Fourier transform in x.*; expected a torch.nn.Tr",
    ):
        recover(model)


def test_subclasses_of_bert_are_refused(bert):
    class Mine(type(bert)):
        """A BERT whose forward may be anything."""

    model = Mine(bert.config)
    with pytest.raises(TypeError, match="Mine is not covered; expected"):
        recover(model)

"""Hugging Face BERT, live or from a local directory."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from discretize.encoders.live import cast, check_unaltered, state_arrays, to_numpy, torch_module
from discretize.encoders.recovered import Recovered
from discretize.encoders.stacking import Tensors
from discretize.encoders.weights import EncoderWeights, Norm, assemble
from discretize.tensors import read_tensors

#: The model's activation names and ours; ``gelu`` is the exact erf form.
_ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
}

#: Heads that a BERT may carry and that stay outside, by prefix.
_OUTSIDE = {
    "pooler.": "the pooler (a dense layer and tanh on the first token)",
    "cls.": "a language-model head",
    "classifier.": "a classification head",
    "qa_outputs.": "a question-answering head",
}

_LAYER = "encoder.layer.{}."


def accepts(model: Any) -> bool:
    """Whether the model is a transformers BERT (any head) or a path."""
    if isinstance(model, str | Path):
        return True
    torch = torch_module()
    config = getattr(model, "config", None)
    return (
        torch is not None
        and isinstance(model, torch.nn.Module)
        and type(model).__module__.startswith("transformers.")
        and getattr(config, "model_type", None) == "bert"
    )


def read(model: Any, equation: str, dtype: str | None) -> Recovered:
    """Recover the model; see ``recover``."""
    if isinstance(model, str | Path):
        name = str(model)
        config, arrays = _read_folder(Path(model))
    else:
        name = f"{type(model).__module__}.{type(model).__qualname__}"
        config, arrays = model.config.to_dict(), state_arrays(model)
    _check_config(config, name)
    if not isinstance(model, str | Path):
        _check_live(model, config, name)
    plain = {_current_name(key): value for key, value in arrays.items()}
    if len(plain) != len(arrays):
        raise ValueError(
            f"{name}: two tensors stand for one: expected names with the prefix 'bert.' or "
            "without it, got both"
        )
    tensors = Tensors(cast(plain, dtype), name)
    weights = _layers(tensors, config)
    embedding = _embedding(tensors, config, name, weights.query.kernel.shape[1])
    outside = [
        words for prefix, words in _OUTSIDE.items() if any(k.startswith(prefix) for k in plain)
    ]
    tensors.finish(("embeddings.position_ids", "embeddings.token_type_ids", *_OUTSIDE))
    _check_sizes(weights, embedding, config, name)
    return assemble(weights, equation, embedding, name, ("the embeddings (see embed)", *outside))


def _current_name(key: str) -> str:
    """A tensor's name without the prefix of a model with a head, and without legacy endings."""
    key = key.removeprefix("bert.")
    for old, new in (("LayerNorm.gamma", "LayerNorm.weight"), ("LayerNorm.beta", "LayerNorm.bias")):
        if key.endswith(old):
            return key.removesuffix(old) + new
    return key


def _check_live(model: Any, config: Mapping[str, Any], name: str) -> None:
    """Hold the modules against those that the config would build today."""
    torch = torch_module()
    with torch.device("meta"):
        fresh = type(model)(model.config)
    allowed = {part: type(module) for part, module in fresh.named_modules()}
    check_unaltered(model, tuple(dict.fromkeys(allowed.values())))
    for part, module in model.named_modules():
        expected, found = allowed.get(part), type(module)
        eps, heads = getattr(module, "eps", None), getattr(module, "num_attention_heads", None)
        if found is not expected:
            wrong = f"the class {expected} by the config, {found} in the model"
        elif isinstance(module, torch.nn.LayerNorm) and eps != config.get("layer_norm_eps", 1e-12):
            wrong = f"eps {config.get('layer_norm_eps')} by the config, {eps} in the model"
        elif heads not in (None, config["num_attention_heads"]):
            wrong = f"{config['num_attention_heads']} heads by the config, {heads} in the model"
        else:
            continue
        raise ValueError(f"{name}: the config contradicts the module {part}: {wrong}")


class BertEmbedding(eqx.Module):
    """f(x, y): word, position and segment embeddings added up, then layer normalisation.

    Args:
        words: (vocabulary, features).
        positions: (longest sequence, features).
        segments: (segment types, features).
        scale: the normalisation's scale (features,).
        shift: the normalisation's shift (features,).
        eps: its eps.
    """

    words: Array
    positions: Array
    segments: Array
    scale: Array
    shift: Array
    eps: float = eqx.field(static=True)

    def __call__(self, input_ids: ArrayLike, token_type_ids: ArrayLike | None = None) -> Array:
        """u0 (batch, tokens, features) for integer token ids (batch, tokens) or (tokens,).

        Raises:
            ValueError: for ids outside the vocabulary or sequences longer than the position table.
        """
        ids = _checked_ids("input_ids", input_ids, len(self.words))
        kinds = np.zeros_like(ids) if token_type_ids is None else token_type_ids
        kinds = _checked_ids("token_type_ids", kinds, len(self.segments))
        if kinds.shape != ids.shape:
            raise ValueError(f"token_type_ids: expected shape {ids.shape}, got {kinds.shape}")
        tokens = ids.shape[-1]
        if tokens > len(self.positions):
            raise ValueError(
                f"input_ids: expected at most {len(self.positions)} tokens (the position table), "
                f"got {tokens}"
            )
        # the order of the sum is that of the model, so that rounding agrees
        u = self.words[ids] + self.segments[kinds] + self.positions[:tokens]
        centred = u - jnp.mean(u, axis=-1, keepdims=True)
        variance = jnp.mean(centred**2, axis=-1, keepdims=True)
        return centred / jnp.sqrt(variance + self.eps) * self.scale + self.shift


def _checked_ids(name: str, ids: ArrayLike, size: int) -> np.ndarray:
    found = np.asarray(to_numpy(ids))
    if not np.issubdtype(found.dtype, np.integer) or found.ndim not in (1, 2) or found.size == 0:
        raise ValueError(
            f"{name}: expected integers of shape (tokens,) or (batch, tokens), got {found.dtype} "
            f"of shape {found.shape}"
        )
    if found.min() < 0 or found.max() >= size:
        raise ValueError(
            f"{name}: expected values from 0 to {size - 1}, got {found.min()} to {found.max()}"
        )
    return found


def _read_folder(folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{folder} is not a directory: expected one with config.json and model.safetensors "
            "(names on a hub are not downloaded; of a file, give the directory)"
        )
    path = folder / "config.json"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: expected the model's configuration there")
    try:
        config = json.loads(path.read_text())
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(config, dict):
        raise ValueError(f"{path}: expected a JSON object, got {type(config).__name__}")
    return config, read_tensors(folder / "model.safetensors")


def _check_config(config: Mapping[str, Any], name: str) -> None:
    kind = config.get("model_type")
    if kind != "bert":
        raise TypeError(f"{name}: model_type {kind!r} is not covered; expected 'bert'")
    position = config.get("position_embedding_type") or "absolute"
    if position != "absolute":
        raise TypeError(
            f"{name}: position_embedding_type {position!r} is not covered: relative positions add "
            "a term that depends on x - x~ to the scores; expected 'absolute'"
        )
    for flag, why in (
        ("is_decoder", "a decoder masks later tokens"),
        ("add_cross_attention", "cross-attention reads a second sequence"),
    ):
        if config.get(flag):
            raise TypeError(f"{name}: {flag} is not covered ({why})")
    if config.get("quantization_config"):
        raise TypeError(f"{name}: quantised weights are not covered; expected plain floats")
    if str(config.get("hidden_act", "gelu")) not in _ACTIVATIONS:
        raise TypeError(
            f"{name}: unknown activation {config.get('hidden_act')!r}; expected one of "
            f"{', '.join(_ACTIVATIONS)}"
        )
    for key in ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"):
        value = config.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(
                f"{name}: expected a positive integer {key} in the config, got {value!r}"
            )
    eps = config.get("layer_norm_eps", 0.0)
    if isinstance(eps, bool) or not isinstance(eps, int | float) or not 0.0 <= eps < math.inf:
        raise ValueError(f"{name}: layer_norm_eps: expected a finite number >= 0, got {eps!r}")


def _layers(tensors: Tensors, config: Mapping[str, Any]) -> EncoderWeights:
    count, eps = config["num_hidden_layers"], float(config.get("layer_norm_eps", 1e-12))

    def dense(name: str):
        return tensors.dense(_LAYER + name, count)

    def norm(name: str) -> Norm:
        return tensors.norm(_LAYER + name, count, eps)

    parts = {
        "query": dense("attention.self.query"),
        "key": dense("attention.self.key"),
        "value": dense("attention.self.value"),
        "output": dense("attention.output.dense"),
        "hidden": dense("intermediate.dense"),
        "feedforward": dense("output.dense"),
        "norm_attention": norm("attention.output.LayerNorm"),
        "norm_output": norm("output.LayerNorm"),
    }
    tensors.require()
    return EncoderWeights(
        **parts,
        heads=config["num_attention_heads"],
        activation=_ACTIVATIONS[config.get("hidden_act", "gelu")],
    )


def _embedding(tensors: Tensors, config: Mapping[str, Any], name: str, width: int) -> BertEmbedding:
    tables = [f"embeddings.{part}_embeddings.weight" for part in ("word", "position", "token_type")]
    norm = ["embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias"]
    parts = [tensors.get(part) for part in (*tables, *norm)]
    tensors.require()
    for part, values in zip((*tables, *norm), parts, strict=True):
        expected = (*values.shape[:1], width) if part in tables else (width,)
        if values.shape != expected:
            raise ValueError(f"{name}: {part}: expected shape {expected}, got {values.shape}")
        if not np.all(np.isfinite(values)):
            raise ValueError(f"{name}: the embeddings hold NaN or infinite values ({part})")
    eps = float(config.get("layer_norm_eps", 1e-12))
    words, positions, segments, scale, shift = (jnp.asarray(part) for part in parts)
    return BertEmbedding(words, positions, segments, scale, shift, eps)


def _check_sizes(
    weights: EncoderWeights, embedding: BertEmbedding, config: Mapping[str, Any], name: str
) -> None:
    found = {
        "hidden_size": weights.query.kernel.shape[1],
        "intermediate_size": weights.hidden.kernel.shape[2],
        "vocab_size": len(embedding.words),
        "max_position_embeddings": len(embedding.positions),
        "type_vocab_size": len(embedding.segments),
    }
    wrong = [
        f"{key} is {config[key]} in the config and {value} in the weights"
        for key, value in found.items()
        if key in config and config[key] != value
    ]
    if wrong:
        raise ValueError(f"{name}: the config contradicts the weights: {'; '.join(wrong)}")

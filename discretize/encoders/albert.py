"""Hugging Face ALBERT: one layer's weights in every layer, so kernels that are constant in t."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from discretize.encoders.config import Config
from discretize.encoders.embedding import TokenEmbedding, embedding_tensors
from discretize.encoders.opening import Family, Opened, finish
from discretize.encoders.recovered import Recovered
from discretize.encoders.stacking import Tensors
from discretize.encoders.weights import EncoderWeights, assemble

#: Names of the layer's tensors: ours, and the model's after the prefix of the only layer.
LAYER = {
    "query": "attention.query",
    "key": "attention.key",
    "value": "attention.value",
    "output": "attention.dense",
    "hidden": "ffn",
    "feedforward": "ffn_output",
    "norm_attention": "attention.LayerNorm",
    "norm_output": "full_layer_layer_norm",
}

_PREFIX = "encoder.albert_layer_groups.0.albert_layers.0."

_EMBEDDING = {
    "words": "embeddings.word_embeddings.weight",
    "positions": "embeddings.position_embeddings.weight",
    "segments": "embeddings.token_type_embeddings.weight",
    "scale": "embeddings.LayerNorm.weight",
    "shift": "embeddings.LayerNorm.bias",
}


def read(opened: Opened, equation: str) -> Recovered:
    """Recover the model; see ``recover``.

    Every kernel has one row, which holds at all times: ``"split"`` is an autonomous equation.  In
    ``"residual"`` the affine map in front of the first layer, the identity, differs from the later
    ones, the affine part of the preceding norm.
    """
    config, tensors = opened.config, opened.tensors
    _check(config)
    weights = _layer(tensors, config)
    width = weights.query.kernel.shape[1]
    embedding = _embed(tensors, config, width)
    outside = finish(opened, FAMILY)
    assert embedding.positions is not None and embedding.segments is not None
    config.check_sizes(
        {
            "hidden_size": width,
            "intermediate_size": weights.hidden.width,
            "embedding_size": embedding.words.shape[1],
            "vocab_size": len(embedding.words),
            "max_position_embeddings": len(embedding.positions),
            "type_vocab_size": len(embedding.segments),
        }
    )
    return assemble(weights, equation, embedding, opened.name, outside)


def _check(config: Config) -> None:
    """Refuse what ALBERT's code can do and this recovery does not cover."""
    config.refuse(
        "num_hidden_groups",
        "layers of several groups have weights of their own, the kernels would not be constant "
        "in t",
        allowed=(1,),
    )
    config.refuse(
        "inner_group_num",
        "several layers in a group have weights of their own, the kernels would not be constant "
        "in t",
        allowed=(1,),
    )
    config.refuse(
        "position_embedding_type",
        "relative positions add a term that depends on x - x~ to the scores",
        allowed=("absolute",),
    )
    for key in ("hidden_size", "intermediate_size", "embedding_size"):
        config.count(key)


def _layer(tensors: Tensors, config: Config) -> EncoderWeights:
    """The weights that all layers share."""
    eps = config.number("layer_norm_eps", 1e-12)
    parts: dict[str, Any] = {
        part: tensors.norm(_PREFIX + name, 1, eps)
        if part.startswith("norm")
        else tensors.dense(_PREFIX + name, 1)
        for part, name in LAYER.items()
    }
    tensors.require()
    return EncoderWeights(
        **parts,
        heads=config.count("num_attention_heads"),
        activation=config.activation("hidden_act", "gelu_new"),
        shared_by=config.count("num_hidden_layers"),
    )


def _embed(tensors: Tensors, config: Config, width: int) -> TokenEmbedding:
    """Words, positions and segments of few features, normalised, then mapped to the width."""
    mapping = tensors.dense("encoder.embedding_hidden_mapping_in", 1)
    tensors.require()
    kernel, bias = mapping.kernel[0], None if mapping.bias is None else mapping.bias[0]
    assert bias is not None
    found = embedding_tensors(tensors, _EMBEDDING, kernel.shape[0])
    if kernel.shape[1] != width or bias.shape != (width,):
        raise ValueError(
            f"{tensors.model}: encoder.embedding_hidden_mapping_in: expected {width} rows (the "
            f"model dimension), got {kernel.shape[1]}"
        )
    projection = _finite(tensors, kernel), _finite(tensors, bias)
    eps = config.number("layer_norm_eps", 1e-12)
    return TokenEmbedding(**found, projection=projection, eps=eps)


def _finite(tensors: Tensors, values: np.ndarray) -> Array:
    if not np.all(np.isfinite(values)):
        raise ValueError(
            f"{tensors.model}: encoder.embedding_hidden_mapping_in: expected finite weights, got "
            "NaN or infinite values"
        )
    return jnp.asarray(values)


FAMILY = Family(
    "albert",
    read,
    "albert.",
    {
        "pooler.": "the pooler (a dense layer and tanh on the first token)",
        "predictions.": "a language-model head",
        "sop_classifier.": "a sentence-order head",
        "classifier.": "a classification head",
        "qa_outputs.": "a question-answering head",
    },
    ("embeddings.position_ids", "embeddings.token_type_ids"),
)

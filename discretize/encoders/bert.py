"""Hugging Face BERT."""

from typing import Any

from discretize.encoders.config import Config
from discretize.encoders.embedding import TokenEmbedding, embedding_tensors
from discretize.encoders.opening import Family, Opened, finish
from discretize.encoders.recovered import Recovered
from discretize.encoders.stacking import Tensors
from discretize.encoders.weights import EncoderWeights, assemble

#: Heads that a model of this kind may carry and that stay outside, by prefix.
HEADS = {
    "pooler.": "the pooler (a dense layer and tanh on the first token)",
    "cls.": "a language-model head",
    "classifier.": "a classification head",
    "qa_outputs.": "a question-answering head",
}

#: Old names of the norms' tensors.
LEGACY = (("LayerNorm.gamma", "LayerNorm.weight"), ("LayerNorm.beta", "LayerNorm.bias"))

#: Names of a layer's tensors: ours, and the model's after ``encoder.layer.N.``.
LAYER = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "hidden": "intermediate.dense",
    "feedforward": "output.dense",
    "norm_attention": "attention.output.LayerNorm",
    "norm_output": "output.LayerNorm",
}


def read(opened: Opened, equation: str) -> Recovered:
    """Recover the model; see ``recover``."""
    config = opened.config
    check(config)
    weights = layers(opened.tensors, config)
    embedding = embed(opened.tensors, config, weights.query.kernel.shape[1])
    outside = finish(opened, FAMILY)
    config.check_sizes(sizes(weights, embedding))
    return assemble(weights, equation, embedding, opened.name, outside)


def check(config: Config) -> None:
    """Refuse what BERT's code can do and this recovery does not cover."""
    config.refuse(
        "position_embedding_type",
        "relative positions add a term that depends on x - x~ to the scores",
        allowed=("absolute",),
    )
    config.refuse("is_decoder", "a decoder masks later tokens")
    config.refuse("add_cross_attention", "cross-attention reads a second sequence")
    config.activation("hidden_act", "gelu")
    for key in ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"):
        config.count(key)
    config.number("layer_norm_eps", 1e-12)


def layers(tensors: Tensors, config: Config) -> EncoderWeights:
    """The layers' weights."""
    count, eps = config.count("num_hidden_layers"), config.number("layer_norm_eps", 1e-12)
    names = {part: f"encoder.layer.{{}}.{name}" for part, name in LAYER.items()}
    parts: dict[str, Any] = {
        part: tensors.norm(name, count, eps)
        if part.startswith("norm")
        else tensors.dense(name, count)
        for part, name in names.items()
    }
    tensors.require()
    return EncoderWeights(
        **parts,
        heads=config.count("num_attention_heads"),
        activation=config.activation("hidden_act", "gelu"),
    )


def embed(
    tensors: Tensors, config: Config, width: int, padding: int | None = None
) -> TokenEmbedding:
    """Words, positions and segments, added up and normalised."""
    names = {
        "words": "embeddings.word_embeddings.weight",
        "positions": "embeddings.position_embeddings.weight",
        "segments": "embeddings.token_type_embeddings.weight",
        "scale": "embeddings.LayerNorm.weight",
        "shift": "embeddings.LayerNorm.bias",
    }
    found = embedding_tensors(tensors, names, width)
    return TokenEmbedding(**found, eps=config.number("layer_norm_eps", 1e-12), padding=padding)


def sizes(weights: EncoderWeights, embedding: TokenEmbedding) -> dict[str, int]:
    """What the configuration says of the weights, as the weights have it."""
    tables = {
        "vocab_size": embedding.words,
        "max_position_embeddings": embedding.positions,
        "type_vocab_size": embedding.segments,
    }
    return {
        "hidden_size": weights.query.kernel.shape[1],
        "intermediate_size": weights.hidden.kernel.shape[2],
        **{key: len(table) for key, table in tables.items() if table is not None},
    }


FAMILY = Family(
    "bert",
    read,
    "bert.",
    HEADS,
    ("embeddings.position_ids", "embeddings.token_type_ids"),
    LEGACY,
)

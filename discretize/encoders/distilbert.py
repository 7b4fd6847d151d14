"""Hugging Face DistilBERT: BERT's layers under names of their own, without segments."""

from typing import Any

from discretize.encoders.embedding import TokenEmbedding, embedding_tensors
from discretize.encoders.opening import Family, Opened, finish
from discretize.encoders.recovered import Recovered
from discretize.encoders.weights import EncoderWeights, assemble

#: Names of a layer's tensors: ours, and the model's after ``transformer.layer.N.``.
LAYER = {
    "query": "attention.q_lin",
    "key": "attention.k_lin",
    "value": "attention.v_lin",
    "output": "attention.out_lin",
    "hidden": "ffn.lin1",
    "feedforward": "ffn.lin2",
    "norm_attention": "sa_layer_norm",
    "norm_output": "output_layer_norm",
}

_EMBEDDING = {
    "words": "embeddings.word_embeddings.weight",
    "positions": "embeddings.position_embeddings.weight",
    "scale": "embeddings.LayerNorm.weight",
    "shift": "embeddings.LayerNorm.bias",
}

#: Of every norm: the model's code fixes it.
_EPS = 1e-12


def read(opened: Opened, equation: str) -> Recovered:
    """Recover the model; see ``recover``."""
    config, tensors = opened.config, opened.tensors
    activation = config.activation("activation", "gelu")
    count, heads = config.count("n_layers"), config.count("n_heads")
    for key in ("dim", "hidden_dim"):
        config.count(key)
    names = {part: f"transformer.layer.{{}}.{name}" for part, name in LAYER.items()}
    parts: dict[str, Any] = {
        part: tensors.norm(name, count, _EPS)
        if part.startswith("norm")
        else tensors.dense(name, count)
        for part, name in names.items()
    }
    tensors.require()
    weights = EncoderWeights(**parts, heads=heads, activation=activation)
    width = weights.query.kernel.shape[1]
    found = embedding_tensors(tensors, _EMBEDDING, width)
    outside = finish(opened, FAMILY)
    config.check_sizes(
        {
            "dim": width,
            "hidden_dim": weights.hidden.width,
            "vocab_size": len(found["words"]),
            "max_position_embeddings": len(found["positions"]),
        }
    )
    embedding = TokenEmbedding(**found, eps=_EPS)
    return assemble(weights, equation, embedding, opened.name, outside)


FAMILY = Family(
    "distilbert",
    read,
    "distilbert.",
    {
        "vocab_": "a language-model head",
        "pre_classifier.": "a classification head",
        "classifier.": "a classification head",
        "qa_outputs.": "a question-answering head",
    },
    ("embeddings.position_ids",),
)

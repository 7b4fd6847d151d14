"""Hugging Face GPT-NeoX: attention and feedforward side by side or in sequence, two norms."""

import numpy as np

from continuum.operators import Causal
from discretize.encoders.blocks import Blocks, Dense, Positions
from discretize.encoders.config import Config
from discretize.encoders.embedding import TokenEmbedding, embedding_tensors
from discretize.encoders.opening import Family, Opened, finish
from discretize.encoders.recovered import Recovered
from discretize.encoders.rotary import (
    check_heads,
    check_rotated,
    rope_parameters,
    rotary,
    skip_buffers,
)
from discretize.encoders.sequences import assemble_sequence, prenorm, unsplit

_LAYER = "layers.{}."


def read(opened: Opened, equation: str) -> Recovered:
    """Recover the model; see ``recover``.

    With ``use_parallel_residual`` both terms read the same state and are added in one substep;
    without it they are the two substeps of a pre-norm layer.
    """
    config, tensors = opened.config, opened.tensors
    width, heads = config.count("hidden_size"), config.count("num_attention_heads")
    check_heads(config, width, heads)
    rope = rope_parameters(
        config,
        rope_theta=("rotary_emb_base", 10000.0),
        partial_rotary_factor=("rotary_pct", 0.25),
    )
    count, eps = config.count("num_hidden_layers"), config.number("layer_norm_eps", 1e-5)
    biased = bool(config.get("attention_bias", True))

    def dense(name: str, *, bias: bool = True) -> Dense:
        return tensors.dense(_LAYER + name, count, bias=bias)

    joined = dense("attention.query_key_value", bias=biased)
    output = dense("attention.dense", bias=biased)
    first, second = dense("mlp.dense_h_to_4h"), dense("mlp.dense_4h_to_h")
    names = ("input_layernorm", "post_attention_layernorm")
    norms = [tensors.norm(_LAYER + name, count, eps) for name in names]
    closing = tensors.norm("final_layer_norm", 1, eps)
    tensors.require()
    tensors.check_finite()
    config.check_sizes({"hidden_size": joined.kernel.shape[1], "intermediate_size": first.width})
    query, key, value = _split(joined, heads, config.model)
    blocks = Blocks(width)
    cells = int(config.count("head_dim", width // heads) * _factor(rope))
    check_rotated(config, cells, width // heads)
    base = rope.number("rope_theta", 10000.0)
    turned = rotary(opened, cells, base, query.kernel.dtype) if cells else None
    attention = blocks.attention(
        query, key, value, output, heads, Positions(None, Causal(coordinate="cell"), turned)
    )
    feedforward = blocks.feedforward(first, config.activation("hidden_act", "gelu"), second)
    scheme = unsplit if config.get("use_parallel_residual", True) else prenorm
    found = scheme(
        attention @ blocks.norm(norms[0]), feedforward @ blocks.norm(norms[1]), count, equation
    )
    embedding = TokenEmbedding(**embedding_tensors(tensors, {"words": "embed_in.weight"}, width))
    config.check_sizes({"vocab_size": len(embedding.words)})
    skip_buffers(tensors, count, *(_LAYER + f"attention.{name}" for name in _BUFFERS))
    outside = finish(opened, FAMILY)
    return assemble_sequence(found, embedding, opened.name, outside, blocks.norm(closing))


def _factor(rope: Config) -> float:
    """The share of a head's features that is rotated."""
    return rope.number("partial_rotary_factor", 0.25)


def _split(joined: Dense, heads: int, model: str) -> tuple[Dense, Dense, Dense]:
    """Query, key and value, which stand side by side inside every head."""
    layers, source, found = joined.kernel.shape
    if found != 3 * source:
        raise ValueError(
            f"{model}: attention.query_key_value: expected {3 * source} rows, three times the "
            f"model dimension, got {found}"
        )
    kernel = joined.kernel.reshape(layers, source, heads, 3, -1)
    bias = None if joined.bias is None else joined.bias.reshape(layers, heads, 3, -1)

    def part(index: int) -> Dense:
        return Dense(
            np.ascontiguousarray(kernel[..., index, :]).reshape(layers, source, -1),
            None if bias is None else np.ascontiguousarray(bias[..., index, :]).reshape(layers, -1),
        )

    return part(0), part(1), part(2)


#: Of a layer's attention, in old checkpoints.
_BUFFERS = ("bias", "masked_bias", "rotary_emb.inv_freq")

FAMILY = Family(
    "gpt_neox",
    read,
    "gpt_neox.",
    {
        "lm_head.": "the language-model head",
        "embed_out.": "the language-model head",
        "score.": "a classification head",
        "classifier.": "a classification head",
        "qa_outputs.": "a question-answering head",
    },
)

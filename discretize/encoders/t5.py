"""Hugging Face T5, the encoder: RMS pre-norm, a relative bias that all layers share."""

import numpy as np

from continuum.operators import BucketBias
from discretize.encoders.blocks import Blocks, Dense, Positions
from discretize.encoders.config import ACTIVATIONS, Config
from discretize.encoders.embedding import TokenEmbedding, embedding_tensors
from discretize.encoders.opening import Family, Opened, finish
from discretize.encoders.recovered import Recovered
from discretize.encoders.sequences import assemble_sequence, prenorm
from discretize.encoders.stacking import Tensors

_ATTENTION, _FEEDFORWARD = "encoder.block.{}.layer.0.", "encoder.block.{}.layer.1."
_BIAS = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"


def read(opened: Opened, equation: str) -> Recovered:
    """Recover the model; see ``recover``.

    Only an encoder is covered.  The scores have no scale; the table of relative biases belongs to
    the first layer and is used by all.
    """
    config, tensors = opened.config, opened.tensors
    activation, gated = _check(opened)
    width, heads, size = (config.count(key) for key in ("d_model", "num_heads", "d_kv"))
    count, eps = config.count("num_layers"), config.number("layer_norm_epsilon", 1e-6)

    def dense(name: str) -> Dense:
        return tensors.dense(name, count, bias=False)

    parts = {name: dense(f"{_ATTENTION}SelfAttention.{name}") for name in ("q", "k", "v", "o")}
    first, *gate = (
        dense(f"{_FEEDFORWARD}DenseReluDense.{name}")
        for name in (("wi_0", "wi_1") if gated else ("wi",))
    )
    second = dense(f"{_FEEDFORWARD}DenseReluDense.wo")
    norms = [
        tensors.norm(f"{name}layer_norm", count, eps, bias=False)
        for name in (_ATTENTION, _FEEDFORWARD)
    ]
    closing = tensors.norm("encoder.final_layer_norm", 1, eps, bias=False)
    table = tensors.get(_BIAS)
    words = _words(tensors)
    tensors.require()
    tensors.check_finite()
    found = embedding_tensors(tensors, {"words": words}, parts["q"].kernel.shape[1])
    config.check_sizes(
        {
            "d_model": parts["q"].kernel.shape[1],
            "d_ff": first.width,
            "vocab_size": len(found["words"]),
            "relative_attention_num_buckets": len(table),
        }
    )
    _check_heads(config, parts, table, heads, size)
    blocks = Blocks(width)
    bias = BucketBias(table, config.count("relative_attention_max_distance", 128))
    attention = blocks.attention(
        parts["q"], parts["k"], parts["v"], parts["o"], heads, Positions(scale=1.0, bias=bias)
    )
    feedforward = blocks.feedforward(first, activation, second, *gate)
    into = [blocks.norm(norm, centred=False) for norm in norms]
    equations = prenorm(attention @ into[0], feedforward @ into[1], count, equation)
    outside = finish(opened, FAMILY)
    last = blocks.norm(closing, centred=False)
    return assemble_sequence(equations, TokenEmbedding(**found), opened.name, outside, last)


def _check(opened: Opened) -> tuple[str, bool]:
    """Refuse decoders; the activation of the feedforward, and whether it is gated."""
    config = opened.config
    config.refuse("is_decoder", "a decoder masks later tokens and reads a second sequence")
    if any(name.startswith("decoder.") for name in opened.tensors.names):
        raise TypeError(
            f"{config.model}: a T5 with a decoder is not covered: its cross-attention reads a "
            "second sequence; expected the encoder alone, as T5EncoderModel.from_pretrained(...) "
            "opens it"
        )
    words = str(config.get("feed_forward_proj", "relu"))
    gated = config.get("is_gated_act", words.startswith("gated-"))
    name = config.get("dense_act_fn")
    if name is None:
        name = "gelu_new" if words == "gated-gelu" else words.removeprefix("gated-")
    if name not in ACTIVATIONS:
        raise TypeError(
            f"{config.model}: unknown activation {name!r} of feed_forward_proj {words!r}; expected "
            f"one of {', '.join(ACTIVATIONS)}, alone or after 'gated-'"
        )
    return ACTIVATIONS[name], bool(gated)


def _words(tensors: Tensors) -> str:
    """The name of the word embeddings, which go by two names."""
    shared, own = "shared.weight", "encoder.embed_tokens.weight"
    if not tensors.has(own):
        return shared
    if tensors.has(shared) and not np.array_equal(tensors.get(shared), tensors.get(own)):
        raise ValueError(
            f"{tensors.model}: expected {shared} and {own} to hold the same numbers, got different "
            "ones; tie them"
        )
    return own


def _check_heads(
    config: Config, parts: dict[str, Dense], table: np.ndarray, heads: int, size: int
) -> None:
    """Hold the heads in the weights against the configuration."""
    for name in ("q", "k", "v"):
        if parts[name].width != heads * size:
            raise ValueError(
                f"{config.model}: SelfAttention.{name}.weight: expected {heads * size} rows "
                f"(num_heads {heads} of d_kv {size} features by the config), got "
                f"{parts[name].width}"
            )
    if table.ndim != 2 or table.shape[1] != heads:
        raise ValueError(
            f"{config.model}: {_BIAS}: expected one column for each of {heads} heads (num_heads), "
            f"got shape {table.shape}"
        )


FAMILY = Family(
    "t5",
    read,
    "transformer.",
    {"classifier.": "a classification head"},
)

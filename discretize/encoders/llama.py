"""Hugging Face Llama: pre-norm with RMS norms, a gated feedforward and grouped heads."""

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
from discretize.encoders.sequences import assemble_sequence, prenorm

_LAYER = "layers.{}."


def read(opened: Opened, equation: str) -> Recovered:
    """Recover the model; see ``recover``."""
    config, tensors = opened.config, opened.tensors
    width, heads, groups, size = _check(config)
    base = rope_parameters(config, rope_theta=("rope_theta", 10000.0)).number("rope_theta", 10000.0)
    count, eps = config.count("num_hidden_layers"), config.number("rms_norm_eps", 1e-6)
    attended, fed = (bool(config.get(key)) for key in ("attention_bias", "mlp_bias"))

    def dense(name: str, *, bias: bool) -> Dense:
        return tensors.dense(_LAYER + name, count, bias=bias)

    query, key, value, output = (
        dense(f"self_attn.{name}_proj", bias=attended) for name in ("q", "k", "v", "o")
    )
    gate, up, down = (dense(f"mlp.{name}_proj", bias=fed) for name in ("gate", "up", "down"))
    names = ("input_layernorm", "post_attention_layernorm")
    norms = [tensors.norm(_LAYER + name, count, eps, bias=False) for name in names]
    closing = tensors.norm("norm", 1, eps, bias=False)
    tensors.require()
    tensors.check_finite()
    config.check_sizes({"hidden_size": query.kernel.shape[1], "intermediate_size": gate.width})
    for name, part, number in (("q", query, heads), ("k", key, groups), ("v", value, groups)):
        if part.width != number * size:
            raise ValueError(
                f"{config.model}: self_attn.{name}_proj.weight: expected {number * size} rows "
                f"({number} heads of {size} features by the config), got {part.width}"
            )
    blocks = Blocks(width)
    turned = rotary(opened, size, base, query.kernel.dtype)
    positions = Positions(None, Causal(coordinate="cell"), turned)
    attention = blocks.attention(query, key, value, output, heads, positions, groups)
    feedforward = blocks.feedforward(gate, config.activation("hidden_act", "silu"), down, up)
    first, second = (blocks.norm(norm, centred=False) for norm in norms)
    found = prenorm(attention @ first, feedforward @ second, count, equation)
    embedding = TokenEmbedding(
        **embedding_tensors(tensors, {"words": "embed_tokens.weight"}, width)
    )
    config.check_sizes({"vocab_size": len(embedding.words)})
    skip_buffers(tensors, count, _LAYER + "self_attn.rotary_emb.inv_freq")
    outside = finish(opened, FAMILY)
    last = blocks.norm(closing, centred=False)
    return assemble_sequence(found, embedding, opened.name, outside, last)


def _check(config: Config) -> tuple[int, int, int, int]:
    """The width, the heads of queries, those of keys and values, and the size of a head."""
    for key, why in _REFUSED.items():
        config.refuse(key, why)
    width, heads = config.count("hidden_size"), config.count("num_attention_heads")
    check_heads(config, width, heads)
    groups = config.count("num_key_value_heads", heads)
    size = config.count("head_dim", width // heads)
    check_rotated(config, size, size)
    if heads % groups:
        raise ValueError(
            f"{config.model}: {groups} heads of keys and values do not serve {heads} heads of "
            "queries alike; expected a divisor"
        )
    return width, heads, groups, size


#: What Llama's relatives do and Llama does not.
_REFUSED = {
    "sliding_window": "tokens far behind the query would not be seen",
    "num_local_experts": "a mixture of experts chooses its feedforward by the token",
    "num_experts": "a mixture of experts chooses its feedforward by the token",
}

FAMILY = Family(
    "llama",
    read,
    "model.",
    {
        "lm_head.": "the language-model head",
        "score.": "a classification head",
        "qa_outputs.": "a question-answering head",
    },
    ("rotary_emb.inv_freq",),
)

"""Hugging Face GPT-J: attention and feedforward side by side, behind one norm."""

from continuum.operators import Causal
from discretize.encoders.blocks import Blocks, Dense, Positions
from discretize.encoders.config import Config
from discretize.encoders.embedding import TokenEmbedding, embedding_tensors
from discretize.encoders.opening import Family, Opened, finish
from discretize.encoders.recovered import Recovered
from discretize.encoders.rotary import (
    check_heads,
    check_rotated,
    check_sine_table,
    float32_frequencies,
    rotary,
    skip_buffers,
)
from discretize.encoders.sequences import assemble_sequence, unsplit

_LAYER = "h.{}."


def read(opened: Opened, equation: str) -> Recovered:
    """Recover the model; see ``recover``.

    The model keeps sines and cosines of float32 angles in a table.  Here the angles are formed in
    the dtype of the weights, from the same frequencies: for float64 weights the difference is that
    of the rounding, up to 6e-8 times the number of the token.
    """
    config, tensors = opened.config, opened.tensors
    width, heads, cells = _check(config)
    count, eps = config.count("n_layer"), config.number("layer_norm_epsilon", 1e-5)

    def dense(name: str, *, bias: bool = False) -> Dense:
        return tensors.dense(_LAYER + name, count, bias=bias)

    query, key, value = (dense(f"attn.{name}_proj") for name in "qkv")
    output = dense("attn.out_proj")
    first, second = dense("mlp.fc_in", bias=True), dense("mlp.fc_out", bias=True)
    norm = tensors.norm(_LAYER + "ln_1", count, eps)
    closing = tensors.norm("ln_f", 1, eps)
    tensors.require()
    tensors.check_finite()
    sizes = {"n_embd": query.kernel.shape[1]}
    config.check_sizes(sizes | ({"n_inner": first.width} if config.get("n_inner") else {}))
    check_sine_table(opened, float32_frequencies(cells, 10000.0))
    blocks = Blocks(width)
    turned = rotary(opened, cells, 10000.0, query.kernel.dtype, interleaved=True)
    attention = blocks.attention(
        query, key, value, output, heads, Positions(None, Causal(coordinate="cell"), turned)
    )
    feedforward = blocks.feedforward(
        first, config.activation("activation_function", "gelu_new"), second
    )
    inner = blocks.norm(norm)
    found = unsplit(attention @ inner, feedforward @ inner, count, equation)
    embedding = TokenEmbedding(**embedding_tensors(tensors, {"words": "wte.weight"}, width))
    config.check_sizes({"vocab_size": len(embedding.words)})
    skip_buffers(tensors, count, *(_LAYER + f"attn.{name}" for name in _BUFFERS))
    outside = finish(opened, FAMILY)
    return assemble_sequence(found, embedding, opened.name, outside, blocks.norm(closing))


def _check(config: Config) -> tuple[int, int, int]:
    """The width, the number of heads and the rotated features of one."""
    width, heads, cells = (config.count(key) for key in ("n_embd", "n_head", "rotary_dim"))
    check_heads(config, width, heads)
    check_rotated(config, cells, width // heads)
    if cells % 2:
        raise ValueError(f"{config.model}: expected an even rotary_dim, got {cells}")
    return width, heads, cells


#: Of a layer's attention, in old checkpoints.
_BUFFERS = ("bias", "masked_bias", "embed_positions")

FAMILY = Family(
    "gptj",
    read,
    "transformer.",
    {
        "lm_head.": "the language-model head",
        "score.": "a classification head",
        "qa_outputs.": "a question-answering head",
    },
)

"""Hugging Face GPT-2: pre-norm, with a causal cell kernel."""

import numpy as np

from continuum.operators import Causal
from discretize.encoders.blocks import Blocks, Dense, Positions
from discretize.encoders.config import Config
from discretize.encoders.embedding import TokenEmbedding, embedding_tensors
from discretize.encoders.opening import Family, Opened, finish
from discretize.encoders.recovered import Recovered
from discretize.encoders.sequences import assemble_sequence, prenorm

_LAYER = "h.{}."


def read(opened: Opened, equation: str) -> Recovered:
    """Recover the model; see ``recover``.

    The first dense layer holds query, key and value side by side, and all of them are stored
    (in, out).  A scale divided by the number of the layer goes into the query kernel.
    """
    config, tensors = opened.config, opened.tensors
    _check(config)
    width, heads = config.count("n_embd"), config.count("n_head")
    count, eps = config.count("n_layer"), config.number("layer_norm_epsilon", 1e-5)

    def dense(name: str) -> Dense:
        return tensors.dense(_LAYER + name, count, transposed=False)

    joined, output = dense("attn.c_attn"), dense("attn.c_proj")
    first, second = dense("mlp.c_fc"), dense("mlp.c_proj")
    norms = [tensors.norm(_LAYER + name, count, eps) for name in ("ln_1", "ln_2")]
    closing = tensors.norm("ln_f", 1, eps)
    tensors.require()
    tensors.check_finite()
    query, key, value = joined.split(3)
    config.check_sizes({"n_embd": query.kernel.shape[1]})
    blocks = Blocks(width)
    attention = blocks.attention(
        _by_layer(query) if config.get("scale_attn_by_inverse_layer_idx") else query,
        key,
        value,
        output,
        heads,
        Positions(
            scale=None if config.get("scale_attn_weights", True) else 1.0,
            causal=Causal(coordinate="cell"),
        ),
    )
    feedforward = blocks.feedforward(
        first, config.activation("activation_function", "gelu_new"), second
    )
    found = prenorm(
        attention @ blocks.norm(norms[0]), feedforward @ blocks.norm(norms[1]), count, equation
    )
    names = {"words": "wte.weight", "positions": "wpe.weight"}
    embedding = TokenEmbedding(**embedding_tensors(tensors, names, width))
    outside = finish(opened, FAMILY)
    return assemble_sequence(found, embedding, opened.name, outside, blocks.norm(closing))


def _check(config: Config) -> None:
    config.refuse("add_cross_attention", "cross-attention reads a second sequence")
    if config.count("n_embd") % config.count("n_head"):
        raise ValueError(
            f"{config.model}: {config.count('n_head')} heads do not divide the model dimension "
            f"{config.count('n_embd')}"
        )


def _by_layer(query: Dense) -> Dense:
    """Queries divided by the number of their layer, counted from one."""
    factor = 1.0 / np.arange(1, len(query.kernel) + 1).astype(query.kernel.dtype)
    bias = None if query.bias is None else query.bias * factor[:, None]
    return Dense(query.kernel * factor[:, None, None], bias)


FAMILY = Family(
    "gpt2",
    read,
    "transformer.",
    {
        "lm_head.": "the language-model head",
        "score.": "a classification head",
        "classifier.": "a classification head",
        "multiple_choice_head.": "a multiple-choice head",
    },
)

"""Hugging Face BLOOM: causal pre-norm with a bias of the scores that is linear in the distance."""

import math

import numpy as np

from continuum.operators import Causal, LinearBias
from discretize.encoders.blocks import Blocks, Dense, Positions
from discretize.encoders.config import Config
from discretize.encoders.embedding import TokenEmbedding, embedding_tensors
from discretize.encoders.opening import Family, Opened, finish
from discretize.encoders.recovered import Recovered
from discretize.encoders.sequences import assemble_sequence, prenorm

_LAYER = "h.{}."

_EMBEDDING = {
    "words": "word_embeddings.weight",
    "scale": "word_embeddings_layernorm.weight",
    "shift": "word_embeddings_layernorm.bias",
}


def read(opened: Opened, equation: str) -> Recovered:
    """Recover the model; see ``recover``.

    Query, key and value of a head stand side by side in one dense layer, head after head.  The
    model adds slope * (position of the key) to the scores, which under the softmax is the same as
    -slope * (distance of the key behind the query).
    """
    config, tensors = opened.config, opened.tensors
    width, heads, count = _check(config)
    eps = config.number("layer_norm_epsilon", 1e-5)

    def dense(name: str) -> Dense:
        return tensors.dense(_LAYER + name, count)

    joined, output = dense("self_attention.query_key_value"), dense("self_attention.dense")
    first, second = dense("mlp.dense_h_to_4h"), dense("mlp.dense_4h_to_h")
    norms = [
        tensors.norm(_LAYER + name, count, eps)
        for name in ("input_layernorm", "post_attention_layernorm")
    ]
    closing = tensors.norm("ln_f", 1, eps)
    tensors.require()
    tensors.check_finite()
    found = embedding_tensors(tensors, _EMBEDDING, joined.kernel.shape[1])
    features = joined.kernel.shape[1]
    config.check_sizes(
        {"hidden_size": features, "n_embed": features, "vocab_size": len(found["words"])}
    )
    if joined.width != 3 * width:
        raise ValueError(
            f"{config.model}: self_attention.query_key_value.weight: expected {3 * width} rows, "
            f"three times the model dimension, got {joined.width}"
        )
    blocks = Blocks(width)
    slopes = alibi_slopes(heads).astype(joined.kernel.dtype)
    query, key, value = joined.split(3, heads)
    attention = blocks.attention(
        query,
        key,
        value,
        output,
        heads,
        Positions(causal=Causal(coordinate="cell"), bias=LinearBias(slopes)),
    )
    feedforward = blocks.feedforward(first, "gelu_tanh", second)
    equations = prenorm(
        attention @ blocks.norm(norms[0]), feedforward @ blocks.norm(norms[1]), count, equation
    )
    outside = finish(opened, FAMILY)
    embedding = TokenEmbedding(**found, eps=eps)
    return assemble_sequence(equations, embedding, opened.name, outside, blocks.norm(closing))


def _check(config: Config) -> tuple[int, int, int]:
    """The width, the heads and the layers, by whichever of their names the config has."""
    config.refuse(
        "apply_residual_connection_post_layernorm",
        "the state would be replaced by its normalisation before each sum",
    )
    width, heads, count = (
        config.count(next((n for n in names if config.get(n) is not None), names[0]))
        for names in _NAMES
    )
    if width % heads:
        raise ValueError(
            f"{config.model}: {heads} heads do not divide the model dimension {width}; expected a "
            "divisor"
        )
    return width, heads, count


def alibi_slopes(heads: int) -> np.ndarray:
    """The slopes of ALiBi, one a head, from bases that are rounded to float32 as the model's are.

    For a power of two of heads they are 2^(-8 k / heads), k = 1 ... heads; the heads beyond the
    largest such power p take every other slope of 2 p heads.
    """
    power = 2 ** math.floor(math.log2(heads))
    base, extra = (float(np.float32(2.0 ** -(8.0 / n))) for n in (power, 2 * power))
    first = base ** np.arange(1, power + 1, dtype=float)
    return np.concatenate([first, extra ** np.arange(1, 2 * (heads - power), 2, dtype=float)])


#: Names of the width, the heads and the layers; an old name of the width overrides today's.
_NAMES = (
    ("n_embed", "hidden_size"),
    ("n_head", "num_attention_heads"),
    ("n_layer", "num_hidden_layers"),
)

FAMILY = Family(
    "bloom",
    read,
    "transformer.",
    {
        "lm_head.": "the language-model head",
        "score.": "a classification head",
        "classifier.": "a classification head",
        "qa_outputs.": "a question-answering head",
    },
)

"""Hugging Face RoBERTa: BERT's layers, with positions counted over tokens that are not padding."""

from discretize.encoders import bert
from discretize.encoders.config import Config
from discretize.encoders.opening import Family, Opened, finish
from discretize.encoders.recovered import Recovered
from discretize.encoders.weights import assemble


def read(opened: Opened, equation: str) -> Recovered:
    """Recover the model; see ``recover``."""
    config = opened.config
    bert.check(config)
    padding = _padding(config)
    weights = bert.layers(opened.tensors, config)
    width = weights.query.kernel.shape[1]
    embedding = bert.embed(opened.tensors, config, width, padding)
    outside = finish(opened, FAMILY)
    config.check_sizes(bert.sizes(weights, embedding))
    return assemble(weights, equation, embedding, opened.name, outside)


def _padding(config: Config) -> int:
    """The id of the padding token, from which positions are counted."""
    value = config.get("pad_token_id", 1)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(
            f"{config.model}: expected an integer pad_token_id >= 0 in the config (positions are "
            f"counted from it), got {value!r}"
        )
    return value


FAMILY = Family(
    "roberta",
    read,
    "roberta.",
    {**bert.HEADS, "lm_head.": "a language-model head"},
    ("embeddings.position_ids", "embeddings.token_type_ids"),
    bert.LEGACY,
)

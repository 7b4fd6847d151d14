"""The encoder of T5."""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.architectures.rotary import randomised
from experiments.architectures.row import Inputs, Row
from experiments.architectures.tokens import EAGER, hidden_states, token_inputs


def _build(settings: Mapping[str, Any]) -> Any:
    from transformers import T5Config, T5EncoderModel

    config = T5Config(**{"vocab_size": 50, **EAGER, **settings})
    return randomised(T5EncoderModel(config))


def _inputs(model: Any, generator: np.random.Generator) -> tuple[Inputs, ...]:
    """A padded batch and a single token, and a sequence longer than the exact buckets reach."""
    length = 2 * model.config.relative_attention_max_distance + 1
    long = generator.integers(3, model.config.vocab_size, (2, min(length, 41)))
    mask = np.arange(long.shape[1]) < np.array([long.shape[1], 20])[:, None]
    return (*token_inputs(model, generator), Inputs({"input_ids": long}, mask))


def _forward(model: Any, inputs: Inputs) -> np.ndarray:
    """A copy of the model with RMS norms in the dtype of the weights."""
    from transformers.models.t5.modeling_t5 import T5LayerNorm

    lifted = copy.deepcopy(model)
    for module in lifted.modules():
        if isinstance(module, T5LayerNorm):
            _lift_norm(module)
    return hidden_states(lifted, inputs)


def _lift_norm(norm: Any) -> None:
    def forward(u: Any) -> Any:
        variance = u.pow(2).mean(-1, keepdim=True)
        return norm.weight * (u * (variance + norm.variance_epsilon).rsqrt())

    norm.forward = forward


ROW = Row(
    name="T5 encoder",
    scheme="Lie",
    constraint="RMS normalisation inside",
    kernels="cell-constant in y, score + b(cell of x - cell of x~)",
    measure="token cells",
    reference="transformers T5EncoderModel",
    configurations=(
        {
            "d_model": 15,
            "num_layers": 3,
            "num_heads": 3,
            "d_kv": 4,
            "d_ff": 17,
            "relative_attention_num_buckets": 8,
            "relative_attention_max_distance": 12,
        },
        {
            "d_model": 10,
            "num_layers": 2,
            "num_heads": 1,
            "d_kv": 7,
            "d_ff": 7,
            "feed_forward_proj": "gated-gelu",
        },
        {
            "d_model": 12,
            "num_layers": 1,
            "num_heads": 2,
            "d_kv": 6,
            "d_ff": 24,
            "feed_forward_proj": "gated-silu",
            "layer_norm_epsilon": 1e-5,
            "relative_attention_num_buckets": 5,
            "relative_attention_max_distance": 20,
        },
    ),
    build=_build,
    inputs=_inputs,
    forward=_forward,
    lifted="the RMS norms",
)

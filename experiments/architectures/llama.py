"""Llama."""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.architectures.rotary import lift_rotations, randomised
from experiments.architectures.row import Inputs, Row
from experiments.architectures.tokens import hidden_states, token_inputs


def _build(settings: Mapping[str, Any]) -> Any:
    from transformers import LlamaConfig, LlamaModel

    common = {"vocab_size": 50, "max_position_embeddings": 16}
    # eager attention would take its softmax in float32; this one keeps the dtype
    config = LlamaConfig(**{**common, **settings, "attn_implementation": "sdpa"})
    return randomised(LlamaModel(config))


def _forward(model: Any, inputs: Inputs) -> np.ndarray:
    """The model with rotary angles and RMS norms in the dtype of the weights."""
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    lifted = copy.deepcopy(model)
    lift_rotations(lifted)
    for module in lifted.modules():
        if isinstance(module, LlamaRMSNorm):
            _lift_norm(module)
    return hidden_states(lifted, inputs)


def _lift_norm(norm: Any) -> None:
    def forward(u: Any) -> Any:
        variance = u.pow(2).mean(-1, keepdim=True)
        return norm.weight * (u * (variance + norm.variance_epsilon).rsqrt())

    norm.forward = forward


ROW = Row(
    name="Llama",
    scheme="Lie",
    constraint="RMS normalisation inside",
    kernels="cell-constant in y, causal in x, turned by the cell of x, fewer heads of keys",
    measure="token cells up to the query's",
    reference="transformers LlamaModel",
    configurations=(
        {
            "hidden_size": 24,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "intermediate_size": 17,
        },
        {
            "hidden_size": 10,
            "num_hidden_layers": 2,
            "num_attention_heads": 1,
            "intermediate_size": 7,
            "attention_bias": True,
            "mlp_bias": True,
        },
        {
            "hidden_size": 15,
            "num_hidden_layers": 1,
            "num_attention_heads": 3,
            "num_key_value_heads": 1,
            "head_dim": 6,
            "intermediate_size": 30,
            "hidden_act": "gelu",
            "rope_parameters": {"rope_type": "default", "rope_theta": 500000.0},
        },
    ),
    build=_build,
    inputs=token_inputs,
    forward=_forward,
    lifted="the rotary angles and the RMS norms; the softmax, by transformers' sdpa attention",
)

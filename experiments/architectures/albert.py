"""ALBERT."""

from collections.abc import Mapping
from typing import Any

from experiments.architectures.rotary import randomised
from experiments.architectures.row import Row
from experiments.architectures.tokens import EAGER, hidden_states, token_inputs


def _build(settings: Mapping[str, Any]) -> Any:
    from transformers import AlbertConfig, AlbertModel

    common = {"vocab_size": 50, "max_position_embeddings": 16, **EAGER}
    return randomised(AlbertModel(AlbertConfig(**{**common, **settings}), add_pooling_layer=False))


ROW = Row(
    name="ALBERT",
    scheme="Lie",
    constraint="state projected on S1, affine",
    kernels="cell-constant in y, constant in t",
    measure="token cells",
    reference="transformers AlbertModel",
    configurations=(
        {
            "embedding_size": 7,
            "hidden_size": 15,
            "num_hidden_layers": 4,
            "num_attention_heads": 3,
            "intermediate_size": 17,
        },
        {
            "embedding_size": 13,
            "hidden_size": 10,
            "num_hidden_layers": 3,
            "num_attention_heads": 1,
            "intermediate_size": 7,
            "hidden_act": "relu",
        },
        {
            "embedding_size": 12,
            "hidden_size": 12,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 24,
            "hidden_act": "gelu",
            "layer_norm_eps": 1e-5,
        },
    ),
    build=_build,
    inputs=token_inputs,
    forward=hidden_states,
)

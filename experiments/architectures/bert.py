"""BERT."""

from collections.abc import Mapping
from typing import Any

from experiments.architectures.row import Row
from experiments.architectures.tokens import EAGER, hidden_states, token_inputs


def _build(settings: Mapping[str, Any]) -> Any:
    from transformers import BertConfig, BertModel

    common: dict[str, Any] = {"vocab_size": 50, "max_position_embeddings": 16, **EAGER}
    config = BertConfig(**common, **settings)
    return BertModel(config, add_pooling_layer=False).double().eval()


ROW = Row(
    name="BERT",
    scheme="Lie",
    constraint="state projected on S1, affine",
    kernels="cell-constant in y",
    measure="token cells",
    reference="transformers BertModel",
    configurations=(
        {
            "hidden_size": 12,
            "num_hidden_layers": 3,
            "num_attention_heads": 3,
            "intermediate_size": 17,
        },
        {
            "hidden_size": 10,
            "num_hidden_layers": 2,
            "num_attention_heads": 1,
            "intermediate_size": 7,
            "hidden_act": "relu",
        },
        {
            "hidden_size": 12,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 24,
            "layer_norm_eps": 1e-5,
        },
    ),
    build=_build,
    inputs=token_inputs,
    forward=hidden_states,
)

"""RoBERTa."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.architectures.rotary import randomised
from experiments.architectures.row import Inputs, Row
from experiments.architectures.tokens import EAGER, hidden_states, token_inputs


def _build(settings: Mapping[str, Any]) -> Any:
    from transformers import RobertaConfig, RobertaModel

    common = {"vocab_size": 50, "max_position_embeddings": 18, **EAGER}
    config = RobertaConfig(**{**common, **settings})
    return randomised(RobertaModel(config, add_pooling_layer=False))


def _inputs(model: Any, generator: np.random.Generator) -> tuple[Inputs, ...]:
    """Batches padded on the right and on the left with the token that positions leave out."""
    right, single = token_inputs(model, generator)
    ids, mask = right.arguments["input_ids"], right.mask
    assert mask is not None
    padding = model.config.pad_token_id
    return (
        right,
        *(
            Inputs({"input_ids": np.where(valid, ids, padding)}, valid)
            for valid in (mask, mask[:, ::-1].copy())
        ),
        single,
    )


ROW = Row(
    name="RoBERTa",
    scheme="Lie",
    constraint="state projected on S1, affine",
    kernels="cell-constant in y",
    measure="token cells",
    reference="transformers RobertaModel",
    configurations=(
        {
            "hidden_size": 15,
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
            "pad_token_id": 0,
        },
        {
            "hidden_size": 12,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 24,
            "layer_norm_eps": 1e-5,
            "type_vocab_size": 1,
            "pad_token_id": 2,
        },
    ),
    build=_build,
    inputs=_inputs,
    forward=hidden_states,
)

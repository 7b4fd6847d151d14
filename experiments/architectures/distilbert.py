"""DistilBERT."""

from collections.abc import Mapping
from typing import Any

from experiments.architectures.rotary import randomised
from experiments.architectures.row import Row
from experiments.architectures.tokens import EAGER, hidden_states, token_inputs


def _build(settings: Mapping[str, Any]) -> Any:
    from transformers import DistilBertConfig, DistilBertModel

    common = {"vocab_size": 50, "max_position_embeddings": 16, **EAGER}
    return randomised(DistilBertModel(DistilBertConfig(**{**common, **settings})))


ROW = Row(
    name="DistilBERT",
    scheme="Lie",
    constraint="state projected on S1, affine",
    kernels="cell-constant in y",
    measure="token cells",
    reference="transformers DistilBertModel",
    configurations=(
        {"dim": 15, "n_layers": 3, "n_heads": 3, "hidden_dim": 17},
        {"dim": 10, "n_layers": 2, "n_heads": 1, "hidden_dim": 7, "activation": "relu"},
        {"dim": 12, "n_layers": 1, "n_heads": 2, "hidden_dim": 24, "sinusoidal_pos_embds": True},
    ),
    build=_build,
    inputs=token_inputs,
    forward=hidden_states,
)

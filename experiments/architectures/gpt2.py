"""GPT-2."""

from collections.abc import Mapping
from typing import Any

from experiments.architectures.row import Row
from experiments.architectures.tokens import EAGER, hidden_states, token_inputs


def _build(settings: Mapping[str, Any]) -> Any:
    from transformers import GPT2Config, GPT2Model

    common: dict[str, Any] = {
        "vocab_size": 50,
        "n_positions": 16,
        "bos_token_id": 1,
        "eos_token_id": 2,
        **EAGER,
    }
    config = GPT2Config(**common, **settings)
    return GPT2Model(config).double().eval()


ROW = Row(
    name="GPT-2",
    scheme="Lie",
    constraint="normalisation inside",
    kernels="cell-constant in y, causal in x",
    measure="token cells up to the query's",
    reference="transformers GPT2Model",
    configurations=(
        {"n_embd": 12, "n_layer": 3, "n_head": 3},
        {"n_embd": 10, "n_layer": 2, "n_head": 1, "scale_attn_by_inverse_layer_idx": True},
        {"n_embd": 12, "n_layer": 1, "n_head": 2, "n_inner": 7, "scale_attn_weights": False},
    ),
    build=_build,
    inputs=token_inputs,
    forward=hidden_states,
)

"""GPT-J."""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.architectures.rotary import randomised
from experiments.architectures.row import Inputs, Row
from experiments.architectures.tokens import hidden_states, token_inputs


def _build(settings: Mapping[str, Any]) -> Any:
    from transformers import GPTJConfig, GPTJModel

    common = {"vocab_size": 50, "n_positions": 16, "bos_token_id": 1, "eos_token_id": 2}
    # eager attention would form the scores in float32; this one keeps the dtype
    config = GPTJConfig(**{**common, **settings, "attn_implementation": "sdpa"})
    return randomised(GPTJModel(config))


def _forward(model: Any, inputs: Inputs) -> np.ndarray:
    """The model with its table of sines and cosines formed in the dtype of the weights."""
    import torch

    lifted = copy.deepcopy(model)
    table = lifted.rotary_emb.embed_positions
    cells = torch.arange(0, table.shape[1], 2, dtype=torch.float32)
    frequencies = (1.0 / 10000.0 ** (cells / table.shape[1])).to(table.dtype)
    angles = torch.arange(len(table), dtype=table.dtype)[:, None] * frequencies
    lifted.rotary_emb.embed_positions = torch.cat([angles.sin(), angles.cos()], dim=1)
    return hidden_states(lifted, inputs)


ROW = Row(
    name="GPT-J",
    scheme="unsplit Euler, one norm",
    constraint="normalisation inside",
    kernels="cell-constant in y, causal in x, turned by the cell of x",
    measure="token cells up to the query's",
    reference="transformers GPTJModel",
    configurations=(
        {"n_embd": 18, "n_layer": 3, "n_head": 3, "rotary_dim": 4},
        {"n_embd": 10, "n_layer": 2, "n_head": 1, "rotary_dim": 10, "activation_function": "gelu"},
        {"n_embd": 12, "n_layer": 1, "n_head": 2, "rotary_dim": 2, "n_inner": 7},
    ),
    build=_build,
    inputs=token_inputs,
    forward=_forward,
    lifted=(
        "the table of sines and cosines (from the model's float32 frequencies); the scores, by "
        "transformers' sdpa attention"
    ),
)

"""Inputs of sequence models, and how transformers are asked."""

from typing import Any

import numpy as np

from experiments.architectures.row import Inputs

#: The plain implementation of attention, which every mask goes through.
EAGER: dict[str, Any] = {"attn_implementation": "eager"}


def token_inputs(model: Any, generator: np.random.Generator) -> tuple[Inputs, ...]:
    """A padded batch of an odd length, and a single token."""
    vocabulary = model.config.vocab_size
    ids = generator.integers(3, vocabulary, (3, 7))
    mask = np.arange(7) < np.array([7, 4, 1])[:, None]
    single = generator.integers(3, vocabulary, (1, 1))
    return (
        Inputs({"input_ids": ids}, mask),
        Inputs({"input_ids": single}, np.ones((1, 1), bool)),
    )


def hidden_states(model: Any, inputs: Inputs) -> np.ndarray:
    """The last hidden states of a transformers sequence model."""
    import torch

    mask = None if inputs.mask is None else torch.from_numpy(inputs.mask.astype(np.int64))
    ids = torch.from_numpy(inputs.arguments["input_ids"])
    with torch.no_grad():
        return model(ids, attention_mask=mask).last_hidden_state.numpy()

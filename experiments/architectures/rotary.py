"""Rotary models of transformers: random ones, asked without what they compute in float32."""

import copy
from typing import Any

import numpy as np

from experiments.architectures.row import Inputs
from experiments.architectures.tokens import hidden_states


def randomised(model: Any) -> Any:
    """The model in float64 and evaluation mode; no number of it is 0 or 1 by its initialisation."""
    import torch

    model = model.double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, dtype=parameter.dtype))
    return model


def lifted_states(model: Any, inputs: Inputs) -> np.ndarray:
    """The last hidden states of a copy with :func:`lift_rotations`."""
    lifted = copy.deepcopy(model)
    lift_rotations(lifted)
    return hidden_states(lifted, inputs)


def lift_rotations(model: Any) -> None:
    """Form the angles of a model's module ``rotary_emb`` in the dtype of the states.

    The frequencies are the module's own, float32 numbers.
    """
    rotation = model.rotary_emb

    def forward(x: Any, position_ids: Any) -> tuple[Any, Any]:
        angles = position_ids[..., None].to(x.dtype) * rotation.inv_freq.to(x.dtype)
        angles = angles.repeat(1, 1, 2)
        return angles.cos(), angles.sin()

    rotation.forward = forward

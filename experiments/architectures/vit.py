"""ViT."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.architectures.row import Inputs, Row


def _build(settings: Mapping[str, Any]) -> Any:
    from transformers import ViTConfig, ViTModel

    model = ViTModel(ViTConfig(**settings), add_pooling_layer=False).double().eval()
    return model


def _inputs(model: Any, generator: np.random.Generator) -> tuple[Inputs, ...]:
    size = model.config.image_size
    height, width = (size, size) if isinstance(size, int) else size
    images = generator.normal(size=(2, model.config.num_channels, height, width))
    return (Inputs({"pixel_values": images}),)


def _forward(model: Any, inputs: Inputs) -> np.ndarray:
    import torch

    with torch.no_grad():
        return model(torch.from_numpy(inputs.arguments["pixel_values"])).last_hidden_state.numpy()


ROW = Row(
    name="ViT",
    scheme="Lie",
    constraint="normalisation inside",
    kernels="cell-constant in y",
    measure="2-D cells and an atom",
    reference="transformers ViTModel",
    configurations=(
        {
            "hidden_size": 12,
            "num_hidden_layers": 3,
            "num_attention_heads": 3,
            "intermediate_size": 17,
            "image_size": (12, 8),
            "patch_size": 4,
        },
        {
            "hidden_size": 10,
            "num_hidden_layers": 2,
            "num_attention_heads": 1,
            "intermediate_size": 7,
            "image_size": 9,
            "patch_size": 3,
            "num_channels": 1,
            "qkv_bias": False,
        },
        {
            "hidden_size": 12,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 24,
            "image_size": 4,
            "patch_size": 4,
        },
    ),
    build=_build,
    inputs=_inputs,
    forward=_forward,
)

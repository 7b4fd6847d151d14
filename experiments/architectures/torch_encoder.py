"""torch.nn.TransformerEncoder, post-norm and pre-norm."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.architectures.row import Inputs, Row


def _build(settings: Mapping[str, Any]) -> Any:
    import torch

    layers, closing = settings["layers"], settings.get("closing", False)
    arguments = {k: v for k, v in settings.items() if k not in ("layers", "closing")}
    layer = torch.nn.TransformerEncoderLayer(
        **arguments, batch_first=True, dtype=torch.float64, dropout=0.0
    )
    norm = torch.nn.LayerNorm(settings["d_model"], dtype=torch.float64) if closing else None
    encoder = torch.nn.TransformerEncoder(layer, layers, norm, enable_nested_tensor=False)
    with torch.no_grad():
        for weights in encoder.parameters():  # the layers start as copies of one, with norms of 1
            weights.add_(0.2 * torch.randn_like(weights))
    return encoder.eval()


def _inputs(model: Any, generator: np.random.Generator) -> tuple[Inputs, ...]:
    width = model.layers[0].self_attn.embed_dim
    states = generator.normal(size=(3, 7, width))
    mask = np.arange(7) < np.array([7, 4, 1])[:, None]
    single = generator.normal(size=(1, 1, width))
    return Inputs({"states": states}, mask), Inputs({"states": single})


def _forward(model: Any, inputs: Inputs) -> np.ndarray:
    import torch

    states = torch.from_numpy(inputs.arguments["states"])
    padding = None if inputs.mask is None else torch.from_numpy(~inputs.mask)
    # gradients keep torch off its fused path, which knows other activations than its layers
    return model(states, src_key_padding_mask=padding).detach().numpy()


POST_NORM = Row(
    name="Transformer encoder",
    scheme="Lie",
    constraint="state projected on S1, affine",
    kernels="cell-constant in y",
    measure="token cells",
    reference="torch.nn.TransformerEncoder",
    configurations=(
        {"d_model": 12, "nhead": 3, "dim_feedforward": 17, "layers": 3},
        {"d_model": 10, "nhead": 1, "dim_feedforward": 7, "layers": 2, "activation": "gelu"},
        {"d_model": 12, "nhead": 2, "dim_feedforward": 24, "layers": 1, "closing": True},
    ),
    build=_build,
    inputs=_inputs,
    forward=_forward,
)

PRE_NORM = Row(
    name="Transformer encoder, norm first",
    scheme="Lie",
    constraint="normalisation inside",
    kernels="cell-constant in y",
    measure="token cells",
    reference="torch.nn.TransformerEncoder(norm_first=True)",
    configurations=tuple({**settings, "norm_first": True} for settings in POST_NORM.configurations),
    build=_build,
    inputs=_inputs,
    forward=_forward,
)

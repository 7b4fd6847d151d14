"""BLOOM."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any
from unittest import mock

import numpy as np

from experiments.architectures.rotary import randomised
from experiments.architectures.row import Inputs, Row
from experiments.architectures.tokens import EAGER, hidden_states, token_inputs


def _build(settings: Mapping[str, Any]) -> Any:
    from transformers import BloomConfig, BloomModel

    return randomised(BloomModel(BloomConfig(**{"vocab_size": 50, **EAGER, **settings})))


def _inputs(model: Any, generator: np.random.Generator) -> tuple[Inputs, ...]:
    """Batches padded on the right and on the left, and a single token."""
    right, single = token_inputs(model, generator)
    assert right.mask is not None
    return right, Inputs(right.arguments, right.mask[:, ::-1].copy()), single


def _forward(model: Any, inputs: Inputs) -> np.ndarray:
    """The model with what it rounds to float32 in the dtype of the weights."""
    with _lifted():
        return hidden_states(model, inputs)


@contextlib.contextmanager
def _lifted() -> Iterator[None]:
    """Replace, for a while, the functions that BLOOM's code calls and that round to float32."""
    import torch
    from transformers.models.bloom import modeling_bloom

    functional = torch.nn.functional
    softmax, power = functional.softmax, torch.pow

    def own_softmax(scores: Any, dim: int, dtype: Any = None) -> Any:
        del dtype  # float32, whatever the scores are
        return softmax(scores, dim=dim)

    def own_power(base: Any, exponent: Any) -> Any:
        return power(base.double(), exponent)  # the base itself is a float32 number

    def own_gelu(u: Any) -> Any:
        return functional.gelu(u, approximate="tanh")

    with (
        mock.patch.object(functional, "softmax", own_softmax),
        mock.patch.object(torch, "pow", own_power),
        mock.patch.object(modeling_bloom, "bloom_gelu_forward", own_gelu),
    ):
        yield


ROW = Row(
    name="BLOOM",
    scheme="Lie",
    constraint="normalisation inside",
    kernels="cell-constant in y, causal in x, score - slope |cell of x - cell of x~|",
    measure="token cells up to the query's",
    reference="transformers BloomModel",
    configurations=(
        {"hidden_size": 15, "n_layer": 3, "n_head": 3},
        {"hidden_size": 10, "n_layer": 2, "n_head": 1, "layer_norm_epsilon": 1e-6},
        {"hidden_size": 22, "n_layer": 1, "n_head": 11},
        {"hidden_size": 16, "n_layer": 2, "n_head": 16},
    ),
    build=_build,
    inputs=_inputs,
    forward=_forward,
    lifted=(
        "the softmax, the powers of the slopes (of the model's float32 bases) and the constant "
        "sqrt(2 / pi) of the GELU, which the model has to eight digits"
    ),
)

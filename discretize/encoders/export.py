"""The way back: an equation on a grid as a torch encoder."""

from typing import Any

import numpy as np

from discretize.encoders.blocks import Dense, Norm
from discretize.encoders.reading import weights_of
from discretize.encoders.recovered import Recovered
from discretize.encoders.weights import EncoderWeights
from discretize.problem import Problem


def to_torch(problem: Problem | Recovered) -> Any:
    """The ``torch.nn.TransformerEncoder`` whose layers are the problem's time steps.

    Args:
        problem: a recovered encoder, or any problem with the terms of the paper's equation (J = 2),
            of the residual flow or of a pre-norm flow, on a grid with equal weights.

    Returns:
        A module in evaluation mode, dropout 0, ``batch_first=True``, in the problem's dtype; with
        the final normalisation of a ``Recovered``.  From the unit grid the weights are those of
        the equation, bit for bit.

    Raises:
        ValueError: if the problem's step is not a Transformer layer.
        ImportError: if torch is not installed.
    """
    torch = _torch()
    weights = weights_of(problem)
    layers, width, inner = weights.hidden.kernel.shape
    kind = torch.float64 if weights.hidden.kernel.dtype == np.float64 else torch.float32
    bias = any(part.bias is not None for part in vars(weights).values() if isinstance(part, Dense))
    # a flow of affine norms always has shifts: zero ones do not ask for biases
    shifts = [norm.shift for norm in (weights.norm_attention, weights.norm_output)]
    bias = bias or any(shift is not None and shift.any() for shift in shifts)
    layer = torch.nn.TransformerEncoderLayer(
        width,
        weights.heads,
        inner,
        0.0,
        _function(torch, weights.activation),
        batch_first=True,
        norm_first=weights.norm_first,
        bias=bias,
        dtype=kind,
    )
    closing = None
    if weights.closing is not None:
        has_bias = weights.closing.shift is not None
        closing = torch.nn.LayerNorm(width, weights.closing.eps, bias=has_bias, dtype=kind)
    encoder = torch.nn.TransformerEncoder(layer, layers, closing, enable_nested_tensor=False)
    for block in encoder.layers:
        block.norm1.eps, block.norm2.eps = weights.norm_attention.eps, weights.norm_output.eps
    tensors = {
        name: torch.from_numpy(np.array(value))  # a copy that torch may write to
        for name, value in _tensors(weights, bias).items()
    }
    encoder.load_state_dict(tensors)
    return encoder.eval()


def torch_state_dict(problem: Problem | Recovered) -> dict[str, Any]:
    """The ``state_dict`` of :func:`to_torch`: parameter name -> torch tensor."""
    return to_torch(problem).state_dict()


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            "to_torch needs torch; install it with pip install 'transformer-continuum[torch]'"
        ) from error
    return torch


def _function(torch: Any, activation: str) -> Any:
    functional = torch.nn.functional
    return {
        "relu": functional.relu,
        "gelu": functional.gelu,
        "gelu_tanh": torch.nn.GELU("tanh"),
        "silu": functional.silu,
        "tanh": torch.tanh,
    }[activation]


def _tensors(weights: EncoderWeights, bias: bool) -> dict[str, np.ndarray]:
    """Parameter name -> array, in torch's (out, in) convention."""
    found: dict[str, np.ndarray] = {}
    for k in range(weights.layers):
        prefix = f"layers.{k}."
        projections = [_pair(d, k) for d in (weights.query, weights.key, weights.value)]
        found[f"{prefix}self_attn.in_proj_weight"] = np.concatenate([w for w, _ in projections])
        if bias:
            found[f"{prefix}self_attn.in_proj_bias"] = np.concatenate([b for _, b in projections])
        for name, dense in (
            ("self_attn.out_proj", weights.output),
            ("linear1", weights.hidden),
            ("linear2", weights.feedforward),
        ):
            found[f"{prefix}{name}.weight"], shift = _pair(dense, k)
            if bias:
                found[f"{prefix}{name}.bias"] = shift
        for name, norm in (("norm1", weights.norm_attention), ("norm2", weights.norm_output)):
            found |= _norm(f"{prefix}{name}", norm, k, weights, bias)
    if weights.closing is not None:
        found |= _norm("norm", weights.closing, 0, weights, weights.closing.shift is not None)
    return found


def _pair(dense: Dense, k: int) -> tuple[np.ndarray, np.ndarray]:
    kernel = dense.kernel[k].T
    if dense.bias is None:
        return kernel, np.zeros(len(kernel), kernel.dtype)
    return kernel, dense.bias[k]


def _norm(
    name: str, norm: Norm, k: int, weights: EncoderWeights, bias: bool
) -> dict[str, np.ndarray]:
    width, dtype = weights.query.kernel.shape[1], weights.query.kernel.dtype
    scale = np.ones(width, dtype) if norm.scale is None else norm.scale[k]
    found = {f"{name}.weight": scale}
    if bias:
        found[f"{name}.bias"] = np.zeros(width, dtype) if norm.shift is None else norm.shift[k]
    return found

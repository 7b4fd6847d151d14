"""``torch.nn.TransformerEncoder`` and ``TransformerEncoderLayer``."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from discretize.encoders.blocks import Dense, Norm
from discretize.encoders.live import cast, check_unaltered, state_arrays, to_numpy, torch_module
from discretize.encoders.recovered import Recovered
from discretize.encoders.stacking import Tensors
from discretize.encoders.weights import EncoderWeights, assemble


def accepts(model: Any) -> bool:
    """Whether the model is one of the two classes (or a subclass, refused on reading)."""
    torch = torch_module()
    if torch is None:
        return False
    return isinstance(model, torch.nn.TransformerEncoder | torch.nn.TransformerEncoderLayer)


def read(model: Any, equation: str, dtype: str | None) -> Recovered:
    """Recover the encoder; see ``recover``."""
    torch = torch_module()
    single = isinstance(model, torch.nn.TransformerEncoderLayer)
    if not single:
        _check_class(model, torch.nn.TransformerEncoder)
    layers = [model] if single else list(model.layers)
    prefix = "" if single else "layers.{}."
    name = f"torch.nn.{type(model).__name__}"
    if not layers:
        raise ValueError(f"{name}: expected at least one layer, got none")
    for layer in layers:
        _check_layer(layer)
    activation = _shared("activation", [_activation(layer) for layer in layers])
    for layer in layers:
        check_unaltered(layer, _parts_of_a_layer())
    norm_first = _shared("norm_first", [bool(layer.norm_first) for layer in layers])
    heads = _shared("number of heads", [layer.self_attn.num_heads for layer in layers])
    eps = [_shared("norm eps", [getattr(x, n).eps for x in layers]) for n in ("norm1", "norm2")]
    tensors = Tensors(cast(state_arrays(model), dtype), name)
    query, key, value = _projections(tensors, prefix, len(layers), _has_bias(layers))
    dense = {
        part: tensors.dense(f"{prefix}{part}", len(layers), bias=_has_bias(layers, part))
        for part in ("self_attn.out_proj", "linear1", "linear2")
    }
    norms = [
        tensors.norm(f"{prefix}{part}", len(layers), e, bias=_has_bias(layers, part))
        for part, e in zip(("norm1", "norm2"), eps, strict=True)
    ]
    closing = None if single else _final_norm(model.norm, tensors)
    tensors.finish()
    weights = EncoderWeights(
        query,
        key,
        value,
        dense["self_attn.out_proj"],
        dense["linear1"],
        dense["linear2"],
        norms[0],
        norms[1],
        heads,
        activation,
        norm_first,
        closing,
    )
    batch_first = _shared("batch_first", [bool(x.self_attn.batch_first) for x in layers])
    return assemble(weights, equation, States(weights.query.kernel.dtype, batch_first), name)


class States:
    """The embedding of a bare encoder: its inputs are states already.

    A model with ``batch_first=False`` takes (tokens, batch, features); states here are always
    (batch, tokens, features), so such inputs are turned.
    """

    def __init__(self, dtype: np.dtype, batch_first: bool) -> None:
        """Keep the dtype and the layout."""
        self.dtype = np.dtype(dtype)
        self.batch_first = batch_first

    def __call__(self, states: Any) -> Array:
        """The initial state u0 for a torch tensor or an array in the model's own layout."""
        u0 = jnp.asarray(to_numpy(states), self.dtype)
        return jnp.swapaxes(u0, 0, 1) if u0.ndim == 3 and not self.batch_first else u0

    def __eq__(self, other: object) -> bool:
        """Equal by content."""
        return isinstance(other, States) and vars(self) == vars(other)

    def __hash__(self) -> int:
        """Hash by content."""
        return hash((self.dtype, self.batch_first))


def _check_class(module: Any, expected: type) -> None:
    if type(module) is not expected:
        raise TypeError(
            f"recover: expected the class torch.nn.{expected.__name__} itself, got "
            f"{type(module).__module__}.{type(module).__qualname__}, whose forward may differ"
        )


def _check_layer(layer: Any) -> None:
    _check_class(layer, torch_module().nn.TransformerEncoderLayer)
    attention = layer.self_attn
    for name, odd in (
        ("bias_k", attention.bias_k is not None),
        ("add_zero_attn", attention.add_zero_attn),
        ("kdim or vdim", not attention._qkv_same_embed_dim),
    ):
        if odd:
            raise TypeError(f"recover: self_attn with {name} set is not covered")
    for name in ("norm1", "norm2"):
        _check_norm(name, getattr(layer, name))


def _parts_of_a_layer() -> tuple[type, ...]:
    modules = torch_module().nn
    linear = modules.modules.linear.NonDynamicallyQuantizableLinear
    layer = (modules.TransformerEncoderLayer, modules.MultiheadAttention, linear, modules.Linear)
    activations = (modules.GELU, modules.ReLU, modules.SiLU, modules.Tanh)
    return (*layer, modules.LayerNorm, modules.Dropout, *activations)


def _check_norm(name: str, norm: Any) -> None:
    if type(norm) is not torch_module().nn.LayerNorm or len(norm.normalized_shape) != 1:
        raise TypeError(f"recover: expected {name} to be a LayerNorm over the features, got {norm}")
    if norm.weight is None:
        raise TypeError(f"recover: {name} without elementwise_affine is not covered")


def _activation(layer: Any) -> str:
    torch = torch_module()
    functional, modules = torch.nn.functional, torch.nn
    found = layer.activation
    named = {
        functional.relu: "relu",
        functional.gelu: "gelu",
        functional.silu: "silu",
        functional.tanh: "tanh",
    }
    if found in (torch.relu, torch.tanh):
        return found.__name__
    if type(found) is modules.GELU:
        return "gelu" if found.approximate == "none" else "gelu_tanh"
    classes = {modules.ReLU: "relu", modules.SiLU: "silu", modules.Tanh: "tanh"}
    name = named.get(found) or classes.get(type(found))
    if name is None:
        raise TypeError(
            f"recover: unknown activation {found}; expected relu, gelu, silu or tanh (as functions "
            "of torch.nn.functional or modules)"
        )
    return name


def _has_bias(layers: list[Any], part: str | None = None) -> bool:
    def one(layer: Any) -> bool:
        if part is None:
            return layer.self_attn.in_proj_bias is not None
        module = layer
        for step in part.split("."):
            module = getattr(module, step)
        return module.bias is not None

    return _shared(f"bias of {part or 'self_attn'}", [one(layer) for layer in layers])


def _projections(tensors: Tensors, prefix: str, layers: int, bias: bool) -> list[Dense]:
    stacked = tensors.stack(f"{prefix}self_attn.in_proj_weight", layers)
    kernels = np.split(np.swapaxes(stacked, 1, 2), 3, axis=2)
    if not bias:
        return [Dense(np.ascontiguousarray(kernel)) for kernel in kernels]
    biases = np.split(tensors.stack(f"{prefix}self_attn.in_proj_bias", layers), 3, axis=1)
    return [
        Dense(np.ascontiguousarray(kernel), np.ascontiguousarray(b))
        for kernel, b in zip(kernels, biases, strict=True)
    ]


def _final_norm(norm: Any, tensors: Tensors) -> Norm | None:
    if norm is None:
        return None
    _check_norm("the final norm", norm)
    return tensors.norm("norm", 1, norm.eps, bias=norm.bias is not None)


def _shared(what: str, values: list[Any]) -> Any:
    if any(value != values[0] for value in values):
        raise TypeError(f"recover: expected one {what} in all layers, got {values}")
    return values[0]

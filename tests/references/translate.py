"""One set of weights, as each independent encoder wants them."""

import jax.numpy as jnp
import numpy as np
import torch

from experiments.reference import EncoderParameters, LayerParameters


def to_jax(parameters: EncoderParameters) -> tuple[list[dict], dict]:
    """Layers and keyword options for ``jax_encoder.encoder``."""
    final = parameters.final_gamma, parameters.final_beta
    options = {
        "heads": parameters.heads,
        "norm": parameters.norm,
        "activation": parameters.activation,
        "eps": parameters.eps,
        "final_norm": None if final[0] is None else tuple(jnp.asarray(a) for a in final),
    }
    return [_jax_layer(layer) for layer in parameters.layers], options


def to_torch(
    parameters: EncoderParameters, *, bias: bool = True, batch_first: bool = True
) -> torch.nn.TransformerEncoder:
    """A ``torch.nn.TransformerEncoder`` in eval mode, dropout 0, without the nested-tensor path."""
    first = parameters.layers[0]
    d_model, d_ff = first.first_weight.shape
    dtype = torch.from_numpy(first.first_weight).dtype
    layer = torch.nn.TransformerEncoderLayer(
        d_model,
        parameters.heads,
        d_ff,
        dropout=0.0,
        activation=parameters.activation,
        layer_norm_eps=parameters.eps,
        batch_first=batch_first,
        norm_first=parameters.norm == "pre",
        bias=bias,
        dtype=dtype,
    )
    final = None
    state = {}
    for i, weights in enumerate(parameters.layers):
        state |= {f"layers.{i}.{name}": value for name, value in _torch_layer(weights).items()}
    if parameters.final_gamma is not None:
        final = torch.nn.LayerNorm(d_model, eps=parameters.eps, bias=bias, dtype=dtype)
        state |= {"norm.weight": parameters.final_gamma, "norm.bias": parameters.final_beta}
    model = torch.nn.TransformerEncoder(
        layer, len(parameters.layers), norm=final, enable_nested_tensor=False
    )
    if not bias:
        state = {name: value for name, value in state.items() if not name.endswith("bias")}
    model.load_state_dict({name: torch.from_numpy(np.array(a)) for name, a in state.items()})
    return model.eval()


def _jax_layer(layer: LayerParameters) -> dict:
    names = {
        "wq": "query_weight", "bq": "query_bias", "wk": "key_weight", "bk": "key_bias",
        "wv": "value_weight", "bv": "value_bias", "wo": "output_weight", "bo": "output_bias",
        "w1": "first_weight", "b1": "first_bias", "w2": "second_weight", "b2": "second_bias",
        "g1": "attention_gamma", "be1": "attention_beta",
        "g2": "feedforward_gamma", "be2": "feedforward_beta",
    }  # fmt: skip
    return {short: jnp.asarray(getattr(layer, name)) for short, name in names.items()}


def _torch_layer(layer: LayerParameters) -> dict[str, np.ndarray]:
    """Torch stores matrices (out, in) and stacks query, key and value."""
    weights = (layer.query_weight, layer.key_weight, layer.value_weight)
    biases = (layer.query_bias, layer.key_bias, layer.value_bias)
    return {
        "self_attn.in_proj_weight": np.concatenate([weight.T for weight in weights]),
        "self_attn.in_proj_bias": np.concatenate(biases),
        "self_attn.out_proj.weight": layer.output_weight.T,
        "self_attn.out_proj.bias": layer.output_bias,
        "linear1.weight": layer.first_weight.T,
        "linear1.bias": layer.first_bias,
        "linear2.weight": layer.second_weight.T,
        "linear2.bias": layer.second_bias,
        "norm1.weight": layer.attention_gamma,
        "norm1.bias": layer.attention_beta,
        "norm2.weight": layer.feedforward_gamma,
        "norm2.bias": layer.feedforward_beta,
    }

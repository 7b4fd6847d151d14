"""The textbook Transformer encoder in plain NumPy: an independent judge.

Written from Vaswani et al., "Attention Is All You Need" (arXiv 1706.03762), sections 3.1 to 3.3. It
shares no code with the rest of this project and imports nothing of it; readability comes before
speed.

Conventions:

* A token sequence is an array (tokens, features) or (batch, tokens, features).
* Every matrix is stored (in, out): a linear layer is ``x @ weight + bias``.
* Head h owns the columns ``h * d_k`` to ``(h + 1) * d_k`` of the query, key and value matrices, and
  the rows of the same numbers of the output matrix; d_k = d_model / heads.
* A mask is True on valid tokens. Queries attend to valid tokens only. Rows of padded tokens are
  computed like any other and mean nothing: compare valid ones.
* Everything is computed in the dtype of the input sequence, float64 or float32.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.special import erf

NORMS = ("post", "pre")
ACTIVATIONS = ("relu", "gelu")


@dataclass(frozen=True)
class LayerParameters:
    """Weights of one encoder layer; matrices are (in, out), absent biases are zeros.

    Attributes:
        query_weight, key_weight, value_weight: (d_model, d_model), heads side by side in columns.
        query_bias, key_bias, value_bias: (d_model,).
        output_weight: (d_model, d_model), heads stacked in the rows.
        output_bias: (d_model,).
        first_weight: (d_model, d_ff), the widening layer of the feedforward network.
        first_bias: (d_ff,).
        second_weight: (d_ff, d_model).
        second_bias: (d_model,).
        attention_gamma, attention_beta: (d_model,), the norm that belongs to the attention.
        feedforward_gamma, feedforward_beta: (d_model,), the norm of the feedforward network.
    """

    query_weight: NDArray
    query_bias: NDArray
    key_weight: NDArray
    key_bias: NDArray
    value_weight: NDArray
    value_bias: NDArray
    output_weight: NDArray
    output_bias: NDArray
    first_weight: NDArray
    first_bias: NDArray
    second_weight: NDArray
    second_bias: NDArray
    attention_gamma: NDArray
    attention_beta: NDArray
    feedforward_gamma: NDArray
    feedforward_beta: NDArray

    def astype(self, dtype: DTypeLike) -> LayerParameters:
        """The same weights in another dtype."""
        return LayerParameters(
            **{field.name: np.asarray(getattr(self, field.name), dtype) for field in fields(self)}
        )


@dataclass(frozen=True)
class EncoderParameters:
    """A stack of encoder layers and what they share.

    Attributes:
        layers: the layers, first to last.
        heads: number of attention heads; divides d_model.
        norm: "post", LN(u + f(u)), or "pre", u + f(LN(u)).
        activation: "relu" or "gelu" (the exact form with erf).
        eps: added to the variance in every norm.
        final_gamma, final_beta: (d_model,), a norm after the last layer; both None without one.
    """

    layers: tuple[LayerParameters, ...]
    heads: int
    norm: str = "post"
    activation: str = "relu"
    eps: float = 1e-5
    final_gamma: NDArray | None = None
    final_beta: NDArray | None = None

    def __post_init__(self) -> None:
        """Refuse options this encoder does not know."""
        _require_choice("norm", self.norm, NORMS)
        _require_choice("activation", self.activation, ACTIVATIONS)
        if (self.final_gamma is None) != (self.final_beta is None):
            raise ValueError("expected final_gamma and final_beta both given or both None")
        for layer in self.layers:
            d_model = layer.query_weight.shape[0]
            if d_model % self.heads:
                raise ValueError(f"expected heads to divide d_model = {d_model}, got {self.heads}")


@dataclass(frozen=True)
class Encoding:
    """What the encoder computed.

    Attributes:
        output: the encoder's output, of the input's shape, final norm included.
        layers: per layer, the intermediate values by name, in the order of computation. All have
            the input's shape except "hidden", whose features are d_ff. With u the layer's input:

            ==================  =========================  ==============================
            name                post-norm                  pre-norm
            ==================  =========================  ==============================
            normalised_input    (absent)                   LN_1(u)
            attention           u + Attn(u)                u + Attn(normalised_input)
            normalised          LN_1(attention)            LN_2(attention)
            hidden              act(normalised W_1 + b_1)  act(normalised W_1 + b_1)
            feedforward         hidden W_2 + b_2           hidden W_2 + b_2
            sum                 normalised + feedforward   attention + feedforward
            output              LN_2(sum)                  sum
            ==================  =========================  ==============================
    """

    output: NDArray
    layers: tuple[dict[str, NDArray], ...]


def encode(parameters: EncoderParameters, u: NDArray, mask: NDArray | None = None) -> Encoding:
    """Run the encoder.

    Args:
        parameters: the weights; converted to the dtype of u.
        u: (tokens, features) or (batch, tokens, features), float64 or float32.
        mask: bool, u's shape without the features, True on valid tokens; None when all are.

    Raises:
        ValueError: on a wrong shape or dtype, or a sequence whose every token is masked.
    """
    u = np.asarray(u)
    mask = np.ones(u.shape[:-1], dtype=bool) if mask is None else np.asarray(mask)
    _check_input(parameters, u, mask)

    if u.ndim == 3:
        samples = [encode(parameters, u[i], mask[i]) for i in range(len(u))]
        return _stack(samples)

    layers = []
    for layer in parameters.layers:
        states = _encoder_layer(parameters, layer.astype(u.dtype), u, mask)
        layers.append(states)
        u = states["output"]
    if parameters.final_gamma is not None and parameters.final_beta is not None:
        gamma, beta = parameters.final_gamma.astype(u.dtype), parameters.final_beta.astype(u.dtype)
        u = layer_norm(u, gamma, beta, parameters.eps)
    return Encoding(output=u, layers=tuple(layers))


def random_encoder(
    seed: int,
    layers: int = 2,
    d_model: int = 16,
    heads: int = 4,
    d_ff: int = 32,
    norm: str = "post",
    activation: str = "relu",
    *,
    bias: bool = True,
    eps: float = 1e-5,
    final_norm: bool = False,
    dtype: DTypeLike = np.float64,
) -> EncoderParameters:
    """A random encoder with no special values in it: varying gammas, betas and biases.

    Matrices are normal with variance 1/in, biases and betas normal with deviation 0.1, gammas
    normal around 1 with deviation 0.2. Without ``bias`` all biases *and* betas are zero, as in
    torch. The numbers are drawn in float64 and then rounded: every dtype gets the same encoder.
    """
    rng = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> NDArray:
        return (rng.standard_normal((rows, columns)) / np.sqrt(rows)).astype(dtype)

    def offset(size: int) -> NDArray:
        return (0.1 * rng.standard_normal(size) * bias).astype(dtype)

    def gain(size: int) -> NDArray:
        return (1.0 + 0.2 * rng.standard_normal(size)).astype(dtype)

    def layer() -> LayerParameters:
        return LayerParameters(
            query_weight=matrix(d_model, d_model),
            query_bias=offset(d_model),
            key_weight=matrix(d_model, d_model),
            key_bias=offset(d_model),
            value_weight=matrix(d_model, d_model),
            value_bias=offset(d_model),
            output_weight=matrix(d_model, d_model),
            output_bias=offset(d_model),
            first_weight=matrix(d_model, d_ff),
            first_bias=offset(d_ff),
            second_weight=matrix(d_ff, d_model),
            second_bias=offset(d_model),
            attention_gamma=gain(d_model),
            attention_beta=offset(d_model),
            feedforward_gamma=gain(d_model),
            feedforward_beta=offset(d_model),
        )

    return EncoderParameters(
        layers=tuple(layer() for _ in range(layers)),
        heads=heads,
        norm=norm,
        activation=activation,
        eps=eps,
        final_gamma=gain(d_model) if final_norm else None,
        final_beta=offset(d_model) if final_norm else None,
    )


def attention(layer: LayerParameters, heads: int, u: NDArray, valid: NDArray) -> NDArray:
    """Multi-head self-attention of one sequence (section 3.2.2).

    Head h is softmax(Q_h K_h^T / sqrt(d_k)) V_h over the valid tokens; the heads side by side are
    multiplied by the output matrix. u is (tokens, d_model), valid is (tokens,).
    """
    query = u @ layer.query_weight + layer.query_bias
    key = u[valid] @ layer.key_weight + layer.key_bias
    value = u[valid] @ layer.value_weight + layer.value_bias

    d_k = u.shape[-1] // heads
    concatenated = np.empty_like(query)
    for head in range(heads):
        columns = slice(head * d_k, (head + 1) * d_k)
        for token in range(len(u)):
            scores = key[:, columns] @ query[token, columns] / np.sqrt(u.dtype.type(d_k))
            concatenated[token, columns] = softmax(scores) @ value[:, columns]
    return concatenated @ layer.output_weight + layer.output_bias


def softmax(scores: NDArray) -> NDArray:
    """exp(s) / sum exp(s) of a vector, shifted by its maximum so that nothing overflows."""
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()


def layer_norm(u: NDArray, gamma: NDArray, beta: NDArray, eps: float) -> NDArray:
    """Normalise every token over its features to mean 0 and variance 1, then scale and shift.

    The variance is the mean squared deviation (no Bessel correction), and eps is added to it.
    """
    mean = u.mean(axis=-1, keepdims=True)
    variance = ((u - mean) ** 2).mean(axis=-1, keepdims=True)
    return gamma * (u - mean) / np.sqrt(variance + eps) + beta


def activate(x: NDArray, activation: str) -> NDArray:
    """max(x, 0), or the exact Gaussian error linear unit x Phi(x)."""
    if activation == "relu":
        return np.maximum(x, 0)
    return x * (1 + erf(x / np.sqrt(x.dtype.type(2)))) / 2


def _encoder_layer(
    parameters: EncoderParameters, layer: LayerParameters, u: NDArray, valid: NDArray
) -> dict[str, NDArray]:
    """One layer on one sequence: the intermediate values by name."""

    def norm_1(v: NDArray) -> NDArray:
        return layer_norm(v, layer.attention_gamma, layer.attention_beta, parameters.eps)

    def norm_2(v: NDArray) -> NDArray:
        return layer_norm(v, layer.feedforward_gamma, layer.feedforward_beta, parameters.eps)

    pre = parameters.norm == "pre"
    states: dict[str, NDArray] = {}
    if pre:
        states["normalised_input"] = norm_1(u)
        states["attention"] = u + attention(
            layer, parameters.heads, states["normalised_input"], valid
        )
        states["normalised"] = norm_2(states["attention"])
    else:
        states["attention"] = u + attention(layer, parameters.heads, u, valid)
        states["normalised"] = norm_1(states["attention"])

    widened = states["normalised"] @ layer.first_weight + layer.first_bias
    states["hidden"] = activate(widened, parameters.activation)
    states["feedforward"] = states["hidden"] @ layer.second_weight + layer.second_bias

    skip = states["attention"] if pre else states["normalised"]
    states["sum"] = skip + states["feedforward"]
    states["output"] = states["sum"] if pre else norm_2(states["sum"])
    return states


def _stack(samples: list[Encoding]) -> Encoding:
    """Put the encodings of several sequences into one, batch axis first."""
    layers = tuple(
        {name: np.stack([states[name] for states in same_layer]) for name in same_layer[0]}
        for same_layer in zip(*(sample.layers for sample in samples), strict=True)
    )
    return Encoding(output=np.stack([sample.output for sample in samples]), layers=layers)


def _require_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"expected {name} to be one of {', '.join(choices)}, got {value!r}")


def _check_input(parameters: EncoderParameters, u: NDArray, mask: NDArray) -> None:
    if u.dtype not in (np.float32, np.float64):
        raise ValueError(f"expected u in float64 or float32, got {u.dtype}")
    if u.ndim not in (2, 3) or 0 in u.shape:
        raise ValueError(
            f"expected u (tokens, features) or (batch, tokens, features), got {u.shape}"
        )
    for layer in parameters.layers:
        d_model = layer.query_weight.shape[0]
        if u.shape[-1] != d_model:
            raise ValueError(f"expected {d_model} features per token, got u of shape {u.shape}")
    if mask.dtype != np.bool_ or mask.shape != u.shape[:-1]:
        raise ValueError(
            f"expected a bool mask of shape {u.shape[:-1]}, got {mask.dtype} of shape {mask.shape}"
        )
    if not mask.any(axis=-1).all():
        raise ValueError("expected at least one valid token in every sequence, got one with none")

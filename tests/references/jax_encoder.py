"""The textbook Transformer encoder in plain ``jax.numpy``, from Vaswani et al. (arXiv 1706.03762).

Made for bit-for-bit comparison outside jit: every operation is the obvious one, in the obvious
order.
Weights are (in, out) and live in one dict per layer::

    wq wk wv wo (d, d)   bq bk bv bo (d,)         attention, heads side by side in wq, wk, wv
    w1 (d, d_ff)  b1 (d_ff,)  w2 (d_ff, d)  b2 (d,)           feedforward network
    g1 be1 g2 be2 (d,)                            gamma and beta of the first and second norm

Sequences are (*batch, tokens, d), masks (*batch, tokens) with True on valid tokens.
"""

import math

import jax
import jax.numpy as jnp


def layer_norm(x, gamma, beta, eps):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    var = jnp.mean((x - mean) ** 2, axis=-1, keepdims=True)
    return (x - mean) / jnp.sqrt(var + eps) * gamma + beta


def softmax(s):
    e = jnp.exp(s - jnp.max(s, axis=-1, keepdims=True))
    return e / jnp.sum(e, axis=-1, keepdims=True)


def split_heads(x, heads):
    """(*batch, tokens, d) -> (*batch, heads, tokens, d_k)."""
    *batch, tokens, d = x.shape
    return jnp.swapaxes(x.reshape(*batch, tokens, heads, d // heads), -3, -2)


def merge_heads(x):
    """(*batch, heads, tokens, d_k) -> (*batch, tokens, d)."""
    *batch, heads, tokens, d_k = x.shape
    return jnp.swapaxes(x, -3, -2).reshape(*batch, tokens, heads * d_k)


def self_attention(p, x, heads, mask=None):
    q = split_heads(x @ p["wq"] + p["bq"], heads)
    k = split_heads(x @ p["wk"] + p["bk"], heads)
    v = split_heads(x @ p["wv"] + p["bv"], heads)
    scores = q @ jnp.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = jnp.where(mask[..., None, None, :], scores, -jnp.inf)
    return merge_heads(softmax(scores) @ v) @ p["wo"] + p["bo"]


def feedforward(p, x, activation):
    act = {"relu": lambda z: jnp.maximum(z, 0), "gelu": exact_gelu}[activation]
    return act(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]


def exact_gelu(z):
    return 0.5 * z * (1 + jax.lax.erf(z / math.sqrt(2)))


def encoder_layer(p, u, *, heads, norm="post", activation="relu", eps=1e-5, mask=None):
    """One layer; norm is "post" (the paper's) or "pre"."""
    if norm == "post":
        u = layer_norm(u + self_attention(p, u, heads, mask), p["g1"], p["be1"], eps)
        return layer_norm(u + feedforward(p, u, activation), p["g2"], p["be2"], eps)
    if norm == "pre":
        u = u + self_attention(p, layer_norm(u, p["g1"], p["be1"], eps), heads, mask)
        return u + feedforward(p, layer_norm(u, p["g2"], p["be2"], eps), activation)
    raise ValueError(f"expected norm 'post' or 'pre', got {norm!r}")


def encoder(
    layers, u, *, heads, norm="post", activation="relu", eps=1e-5, final_norm=None, mask=None
):
    """A stack of layers; ``final_norm`` is None or a pair (gamma, beta)."""
    for p in layers:
        u = encoder_layer(p, u, heads=heads, norm=norm, activation=activation, eps=eps, mask=mask)
    if final_norm is not None:
        u = layer_norm(u, *final_norm, eps)
    return u

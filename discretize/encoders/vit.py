"""Hugging Face ViT: pre-norm on a two-dimensional Omega_x with an atom for the class token."""

import jax.numpy as jnp
import numpy as np

from discretize.encoders.blocks import Blocks, Dense, Positions
from discretize.encoders.config import Config
from discretize.encoders.images import PatchEmbedding, pair, patch_grid
from discretize.encoders.opening import Family, Opened, finish
from discretize.encoders.recovered import Recovered
from discretize.encoders.sequences import prenorm
from discretize.encoders.stacking import Tensors
from discretize.grids import Grid, UniformGrid
from discretize.problem import discretize


def read(opened: Opened, equation: str) -> Recovered:
    """Recover the model; see ``recover``."""
    config, tensors = opened.config, opened.tensors
    width, heads = config.count("hidden_size"), config.count("num_attention_heads")
    count, eps = config.count("num_hidden_layers"), config.number("layer_norm_eps", 1e-12)
    biased = bool(config.get("qkv_bias", True))

    def dense(name: str, bias: bool = True) -> Dense:
        return tensors.dense(f"layers.{{}}.{name}", count, bias=bias)

    query, key, value = (dense(f"attention.{part}_proj", biased) for part in "qkv")
    output = dense("attention.o_proj")
    first, second = dense("mlp.fc1"), dense("mlp.fc2")
    norms = [
        tensors.norm(f"layers.{{}}.layernorm_{place}", count, eps) for place in ("before", "after")
    ]
    closing = tensors.norm("layernorm", 1, eps)
    tensors.require()
    blocks = Blocks(width)
    embedding = _embedding(tensors, config, width)
    tensors.check_finite()
    config.check_sizes({"hidden_size": query.kernel.shape[1], "intermediate_size": first.width})
    attention = blocks.attention(query, key, value, output, heads, Positions())
    feedforward = blocks.feedforward(first, config.activation("hidden_act", "gelu"), second)
    tokens = patch_grid(embedding.shape, 1)
    found = prenorm(
        attention @ blocks.norm(norms[0]),
        feedforward @ blocks.norm(norms[1]),
        count,
        equation,
        tokens.domain,
    )
    outside = finish(opened, FAMILY)
    grid = Grid(tokens, UniformGrid(blocks.features, (width,)))
    return Recovered(discretize(found, grid), embedding, blocks.norm(closing), opened.name, outside)


def _embedding(tensors: Tensors, config: Config, width: int) -> PatchEmbedding:
    image, patch = pair(config.get("image_size", 224)), pair(config.get("patch_size", 16))
    shape = (image[0] // patch[0], image[1] // patch[1])
    if shape[0] * patch[0] != image[0] or shape[1] * patch[1] != image[1]:
        raise TypeError(
            f"{config.model}: an image of {image} is no whole number of patches of {patch}, so a "
            "margin would be left out; expected image_size to be a multiple of patch_size"
        )
    name = "embeddings.patch_embeddings.projection"
    kernel, bias = tensors.get(f"{name}.weight"), tensors.get(f"{name}.bias")
    positions = tensors.get("embeddings.position_embeddings")
    token = tensors.get("embeddings.cls_token")
    tensors.require()
    expected = {
        "kernel": (kernel.shape, (width, config.count("num_channels", 3), *patch)),
        "positions": (positions.shape, (1, 1 + shape[0] * shape[1], width)),
        "class token": (token.shape, (1, 1, width)),
    }
    for part, (found, wanted) in expected.items():
        if found != wanted:
            raise ValueError(
                f"{config.model}: the config contradicts the weights: expected the {part} of the "
                f"embeddings to have the shape {wanted}, got {found}"
            )
    return PatchEmbedding(
        jnp.asarray(np.moveaxis(kernel, 0, -1)),
        jnp.asarray(bias),
        jnp.asarray(positions[0]),
        jnp.asarray(token[0, 0]),
        shape,
    )


FAMILY = Family(
    "vit",
    read,
    "vit.",
    {
        "pooler.": "the pooler (a dense layer and tanh on the class token)",
        "classifier.": "a classification head",
        "embeddings.mask_token": "the token that stands for masked patches in training",
        "decoder.": "the decoder of masked image modelling",
    },
    renamed=(
        ("encoder.layer.", "layers."),
        ("attention.attention.query.", "attention.q_proj."),
        ("attention.attention.key.", "attention.k_proj."),
        ("attention.attention.value.", "attention.v_proj."),
        ("attention.output.dense.", "attention.o_proj."),
        ("intermediate.dense.", "mlp.fc1."),
        ("output.dense.", "mlp.fc2."),
    ),
)

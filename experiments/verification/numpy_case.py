"""A random encoder, judged by the plain NumPy reference; needs no torch."""

import numpy as np

from discretize.encoders.blocks import Dense, Norm
from discretize.encoders.torch_encoder import States
from discretize.encoders.weights import EncoderWeights, assemble
from experiments import request as requests
from experiments.reference import EncoderParameters, encode, random_encoder
from experiments.request import Request
from experiments.verification.batches import lengths_mask, random_states
from experiments.verification.case import Case


def numpy_case(request: Request) -> Case:
    """The encoder of the request and what the NumPy reference computes with it."""
    options, dtype = request.encoder, request.dtype.value
    parameters = random_encoder(
        request.batch.seed,
        options.layers,
        options.d_model,
        options.heads,
        options.d_ff,
        options.norm.value,
        options.activation.value,
        eps=options.eps,
        final_norm=options.norm is requests.Norm.PRE,
        dtype=dtype,
    )
    u0 = random_states(request.batch, options.d_model, dtype)
    valid = lengths_mask(request.batch)
    encoding = encode(parameters, u0, valid)
    weights = encoder_weights(parameters)
    embed = States(np.dtype(dtype), batch_first=True)
    return Case(
        reference="the plain NumPy encoder (experiments.reference)",
        recovered=assemble(weights, request.equation.value, embed, "experiments.reference"),
        u0=u0,
        valid=valid,
        layers=encoding.layers,
        output=encoding.output,
        norm=options.norm,
        attention_norms=tuple(
            (layer.attention_gamma, layer.attention_beta) for layer in parameters.layers
        ),
    )


def encoder_weights(parameters: EncoderParameters) -> EncoderWeights:
    """The reference's parameters in the neutral form that equations are assembled from."""

    def stack(name: str) -> np.ndarray:
        return np.stack([getattr(layer, name) for layer in parameters.layers])

    def dense(name: str) -> Dense:
        return Dense(stack(f"{name}_weight"), stack(f"{name}_bias"))

    def norm(name: str) -> Norm:
        return Norm(stack(f"{name}_gamma"), stack(f"{name}_beta"), parameters.eps)

    closing = None
    if parameters.final_gamma is not None and parameters.final_beta is not None:
        closing = Norm(parameters.final_gamma[None], parameters.final_beta[None], parameters.eps)
    return EncoderWeights(
        query=dense("query"),
        key=dense("key"),
        value=dense("value"),
        output=dense("output"),
        hidden=dense("first"),
        feedforward=dense("second"),
        norm_attention=norm("attention"),
        norm_output=norm("feedforward"),
        heads=parameters.heads,
        activation=parameters.activation,
        norm_first=parameters.norm == "pre",
        closing=closing,
    )

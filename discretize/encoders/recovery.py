"""The one entry point from a discrete encoder to its equation."""

from pathlib import Path
from typing import Any

from discretize.encoders import torch_encoder
from discretize.encoders.opening import model_type_of, open_model
from discretize.encoders.recovered import Recovered
from discretize.encoders.registry import FAMILIES
from discretize.encoders.uncovered import what_is_missing
from discretize.tensors import refuse_pickle


def recover(model: Any, *, equation: str = "split", dtype: str | None = None) -> Recovered:
    """Read the equation that a Transformer encoder discretises off the encoder.

    Args:
        model: a live module (``torch.nn.TransformerEncoder``, ``TransformerEncoderLayer``, a
            Hugging Face model of one of ``discretize.encoders.registry.FAMILIES``), or a local
            directory with such a model's ``config.json`` and ``model.safetensors``.  Dropout is
            ignored: the model in evaluation mode is meant.
        equation: ``"split"``, the paper's equation with its M = 4 + J substeps, or ``"residual"``,
            the residual flow.  For pre-norm encoders both have the same right-hand side
            u_t = A(N u) + F(N u); ``"split"`` writes the second substep as a relaxation at rate 2.
        dtype: ``"float32"`` or ``"float64"`` to convert the weights; by default as stored.

    Returns:
        The problem on the unit grid, with what stands around it.  One time step of
        ``solvers.solve`` with the default settings is one layer.

    Raises:
        ValueError: for a model whose weights are damaged, incomplete, not finite or not in accord
            with its configuration, for a float64 model with x64 off, or for another equation.
        TypeError: for a model that is not covered; the message says what is missing.
        FileNotFoundError: for a directory without the two files.
    """
    if isinstance(model, str | Path):
        refuse_pickle(Path(model))
    if torch_encoder.accepts(model):
        return torch_encoder.read(model, equation, dtype)
    kind = model_type_of(model)
    if kind in FAMILIES:
        family = FAMILIES[kind]
        return family.read(open_model(model, family, dtype), equation)
    if isinstance(model, str | Path):
        raise TypeError(
            f"{model}: model_type {kind!r} is not covered{what_is_missing(kind)}; expected one of "
            f"{', '.join(map(repr, FAMILIES))}"
        )
    raise TypeError(
        f"recover: {_describe(model)} is not covered{what_is_missing(kind)}; expected a "
        "torch.nn.TransformerEncoder, a torch.nn.TransformerEncoderLayer, a transformers model or "
        "a directory with the config.json and model.safetensors of one, of the type "
        f"{', '.join(FAMILIES)}"
    )


def _describe(model: Any) -> str:
    return f"a {type(model).__module__}.{type(model).__qualname__}"

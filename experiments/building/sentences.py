"""Sentences as the states that a BERT's first layer reads."""

from pathlib import Path

import numpy as np

from discretize.encoders import Recovered, recover
from experiments.packages import require_extra
from experiments.request import Request
from experiments.verification.bert_case import model_folder
from experiments.verification.sentences import TokenIds, read_sentences


def embedded(model: str, texts: tuple[str, ...], dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """The embeddings of sentences.

    Args:
        model: a directory, or "minilm".
        texts: the sentences.
        dtype: float32 or float64.

    Returns:
        States (sentences, tokens, features), and True on tokens that are not padding.

    Raises:
        ImportError: without transformers, or without the packaged model.
        ValueError: for a directory without a tokenizer, or one that is no BERT.
    """
    recovered = recover(model_folder(model), equation="residual", dtype=dtype.name)
    return states_of(recovered, model, texts)


def states_of(
    recovered: Recovered, model: str, texts: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """The same, of a model that was recovered before."""
    batch = _token_ids(model_folder(model), model, texts)
    return np.asarray(recovered.embed(batch.ids, batch.kinds)), batch.valid


def _token_ids(folder: Path, model: str, texts: tuple[str, ...]) -> TokenIds:
    transformers = require_extra("transformers", "torch")
    config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
    return read_sentences(transformers, folder, Request(model=model, texts=texts), config)

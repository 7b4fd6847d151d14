"""Sentences as token ids, or random ids where a model has no tokenizer."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.request import Batch, Request
from experiments.verification.batches import lengths_mask, random_ids

#: Of different lengths, so that there is padding.
SENTENCES = (
    "A Transformer encoder is one time step after another.",
    "Padding is the part of the interval over which nobody integrates.",
    "Heat spreads.",
    "Whether a difference of one part in ten thousand million million is small depends on what "
    "the numbers were rounded to, and on how often; here, on some hundred thousand products.",
)

#: A directory with one of these has a tokenizer.
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt")


@dataclass(frozen=True)
class TokenIds:
    """A padded batch.

    Args:
        ids: (batch, tokens).
        kinds: (batch, tokens), the segment of each token.
        valid: (batch, tokens), True on tokens that are not padding.
        notes: remarks for the reader of the report.
    """

    ids: NDArray
    kinds: NDArray
    valid: NDArray[np.bool_]
    notes: tuple[str, ...]


def read_sentences(transformers: Any, folder: Path, request: Request, config: Any) -> TokenIds:
    """The request's sentences, or the default ones; random ids if there is no tokenizer.

    Raises:
        ValueError: for options that would be ignored, or sentences without a tokenizer.
    """
    if not any((folder / name).is_file() for name in TOKENIZER_FILES):
        if request.texts:
            raise ValueError(
                f"--text: {folder} has no tokenizer (expected {' or '.join(TOKENIZER_FILES)}); "
                "leave out --text to use random token ids"
            )
        return _random(request.batch, config)
    request.refuse(Batch.__dataclass_fields__, "the sentences decide (see --text)")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    texts, longest = list(request.texts or SENTENCES), config.max_position_embeddings
    found = tokenizer(
        texts,
        padding=True,
        truncation=True,
        max_length=longest,
        return_tensors="np",
        return_token_type_ids=True,
    )
    valid = np.asarray(found["attention_mask"]) == 1
    notes = [f"{len(texts)} sentence{'s' if len(texts) > 1 else ''}"]
    if valid.shape[1] == longest:
        notes.append(f"sentences are cut at the model's {longest} positions")
    return TokenIds(
        np.asarray(found["input_ids"]), np.asarray(found["token_type_ids"]), valid, tuple(notes)
    )


def _random(options: Batch, config: Any) -> TokenIds:
    if options.tokens > config.max_position_embeddings:
        raise ValueError(
            f"--tokens: expected at most {config.max_position_embeddings}, the model's positions, "
            f"got {options.tokens}"
        )
    ids = random_ids(options, config.vocab_size)
    note = f"no tokenizer in the directory: random token ids, seed {options.seed}"
    return TokenIds(ids, np.zeros_like(ids), lengths_mask(options), (note,))

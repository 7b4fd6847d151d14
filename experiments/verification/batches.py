"""Random batches, the same for every judge."""

import numpy as np
from numpy.typing import NDArray

from experiments.request import Batch


def lengths_mask(options: Batch) -> NDArray[np.bool_]:
    """(batch, tokens), True on valid tokens.

    With ``options.mask`` sequences end early at random, except the first one of several; a
    sequence of one token cannot.
    """
    rng = np.random.default_rng([options.seed, 1])
    lengths = np.full(options.batch, options.tokens)
    if options.mask and options.tokens > 1:
        lengths = rng.integers(1, options.tokens, size=options.batch)
        if options.batch > 1:
            lengths[0] = options.tokens
    return np.arange(options.tokens) < lengths[:, None]


def random_states(options: Batch, features: int, dtype: str) -> NDArray:
    """(batch, tokens, features), normal; padding is filled with numbers too."""
    rng = np.random.default_rng([options.seed, 2])
    return rng.standard_normal((options.batch, options.tokens, features)).astype(dtype)


def random_ids(options: Batch, vocabulary: int) -> NDArray[np.int64]:
    """(batch, tokens) of token ids."""
    rng = np.random.default_rng([options.seed, 3])
    return rng.integers(vocabulary, size=(options.batch, options.tokens))

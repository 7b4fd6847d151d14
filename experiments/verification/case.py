"""An encoder's own computation beside the equation it was read as."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jax.typing import ArrayLike
from numpy.typing import NDArray

from discretize.encoders import Recovered
from experiments.request import Norm

#: One layer's intermediate values by name, as documented at ``experiments.reference.Encoding``:
#: attention, normalised, hidden, feedforward, sum, output.
States = dict[str, NDArray]


@dataclass(frozen=True)
class Case:
    """Two sides of a comparison that start from the same numbers.

    Args:
        reference: the judge, in words.
        recovered: the equation, on the unit grid.
        u0: the state that enters, (batch, tokens, features).
        valid: (batch, tokens), True on tokens that are not padding.
        layers: what the encoder computed, layer by layer.
        output: what the encoder returned, final norm included.
        norm: post or pre.
        attention_norms: (gamma, beta) of the norm that belongs to the attention, per layer.
        embedding: what the encoder computed in front of its layers, or None.
        notes: remarks for the reader of the report.
    """

    reference: str
    recovered: Recovered
    u0: ArrayLike
    valid: NDArray[np.bool_]
    layers: tuple[States, ...]
    output: NDArray
    norm: Norm
    attention_norms: tuple[tuple[NDArray, NDArray], ...]
    embedding: NDArray | None = None
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Counterpart:
    """What of the encoder a substep's state equals.

    Args:
        words: a short name.
        expected: the encoder's value, from the states of one layer.
        observe: (state, gamma, beta) -> what is compared: the state itself, unless the equation
            advances another variable.
    """

    words: str
    expected: Callable[[States], NDArray]
    observe: Callable[[NDArray, NDArray, NDArray], NDArray] = lambda state, gamma, beta: state

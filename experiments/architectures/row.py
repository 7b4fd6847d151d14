"""What one row of the table of architectures holds."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from discretize.encoders import recover
from discretize.encoders.recovered import Recovered


@dataclasses.dataclass(frozen=True)
class Inputs:
    """What a model is asked.

    Args:
        arguments: those of the recovered model's ``embed``: token ids, say, or images.
        mask: True on valid tokens (batch, tokens), or None for all.
    """

    arguments: Mapping[str, np.ndarray]
    mask: np.ndarray | None = None


@dataclasses.dataclass(frozen=True)
class Row:
    """One architecture: how the equation reads it, and an implementation nobody here wrote.

    Args:
        name: the word for the row.
        scheme: the splitting whose step at dt = 1 is a layer.
        constraint: what stands for the projection onto S1.
        kernels: the class of the kernels in x and y.
        measure: the measure on Omega_x.
        reference: the implementation that judges.
        configurations: settings of small random models: odd sizes, one head, one layer.
        build: settings -> the reference in evaluation mode and float64, weights from torch's
            current random state.
        inputs: the reference and a generator -> what to ask; called for every configuration.
        forward: the reference and inputs -> its states (batch, tokens, features).  Parts that it
            computes in float32 whatever its dtype are lifted to the dtype of its weights.
        lifted: which parts are lifted, in words; empty for none.
        read: the reference -> the recovered model.
        refinable: whether kernels are constant on cells, so that refining changes nothing.
    """

    name: str
    scheme: str
    constraint: str
    kernels: str
    measure: str
    reference: str
    configurations: tuple[Mapping[str, Any], ...]
    build: Callable[[Mapping[str, Any]], Any]
    inputs: Callable[[Any, np.random.Generator], tuple[Inputs, ...]]
    forward: Callable[[Any, Inputs], np.ndarray]
    lifted: str = ""
    read: Callable[[Any], Recovered] = recover
    refinable: bool = True

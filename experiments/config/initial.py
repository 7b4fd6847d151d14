"""[initial]: the state at t = 0."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from experiments.config.base import (
    PACKAGED,
    Count,
    File,
    ModelFolder,
    Part,
    Seed,
    Text,
    key_of,
)
from experiments.config.kernels import Numbers

#: Keys that stand for a kind of initial state; one state has one of them.
_ONE_KIND = {
    key: "an initial state is of one kind: leave out one of the two keys, or set the whole table, "
    "initial = { ... }"
    for key in ("expression", "basis", "coefficients", "cells", "random", "embeddings", "minilm")
}


class ExpressionInitial(Part):
    """u0 = an expression in x (or x1, x2) and y."""

    elsewhere: ClassVar[Mapping[str, str]] = _ONE_KIND

    expression: Text
    project: bool | None = None


class RandomBasisInitial(Part):
    """u0 = sum_kl c_kl phi_k(x) psi_l(y), c_kl = N(0, 1) * scale * ((1 + k) (1 + l))^-decay.

    Args:
        basis: the name of a basis.
        size: functions of y.
        token_size: functions of x, along each coordinate; by default as many.
        decay: the exponent of the coefficients' decay.
        scale: a factor on all of them.
        seed: of the random numbers, together with the config's.
        project: project onto S1 first.
    """

    elsewhere: ClassVar[Mapping[str, str]] = _ONE_KIND

    basis: Text
    size: Count
    token_size: Count | None = None
    decay: float = 2.0
    scale: float = 1.0
    seed: Seed = 0
    project: bool | None = None


class GivenBasisInitial(Part):
    """u0 = sum_kl c_kl phi_k(x) psi_l(y) with rows c_k; products of functions of x in C order.

    Args:
        basis: the name of a basis.
        coefficients: the rows c_k, one for each function of x.
        project: project onto S1 first.
    """

    elsewhere: ClassVar[Mapping[str, str]] = _ONE_KIND

    basis: Text
    coefficients: Numbers
    project: bool | None = None


class CellsInitial(Part):
    """Constant on cells: a table from a file.

    Args:
        cells: a .npy or .npz file that holds (x cells, y cells) numbers, in two dimensions
            (x1 cells, x2 cells, y cells).
        key: which array of a .npz file; not needed when it holds one.
        project: project onto S1 first.
    """

    elsewhere: ClassVar[Mapping[str, str]] = _ONE_KIND

    cells: File
    key: Text | None = None
    project: bool | None = None


class RandomInitial(Part):
    """Independent random numbers, constant on cells.

    Args:
        random: "normal", N(mean, scale^2), or "uniform" on [mean - scale, mean + scale].
        seed: of the random numbers, together with the config's.
        mean: the mean.
        scale: the standard deviation, or the half width.
        cells: cells along each coordinate of x, then along y; by default those of [grid].
        project: project onto S1 first.
    """

    elsewhere: ClassVar[Mapping[str, str]] = _ONE_KIND

    random: Literal["normal", "uniform"]
    seed: Seed = 0
    mean: float = 0.0
    scale: float = 1.0
    cells: Annotated[tuple[Count, ...], Field(min_length=2, max_length=3)] | None = None
    project: bool | None = None


class EmbeddingsInitial(Part):
    """A sequence of token embeddings from a file, each token a cell of Omega_x.

    Args:
        embeddings: a .npy or .npz file that holds (tokens, features) numbers.
        key: which array of a .npz file; not needed when it holds one.
        project: project onto S1 first.
    """

    elsewhere: ClassVar[Mapping[str, str]] = _ONE_KIND

    embeddings: File
    key: Text | None = None
    project: bool | None = None


class MinilmInitial(Part):
    """The embedding that a BERT's first layer reads, each token a cell of Omega_x.

    Args:
        minilm: a text.
        path: the directory of the model; "minilm" is the packaged all-MiniLM-L6-v2.
        project: project onto S1 first.
    """

    elsewhere: ClassVar[Mapping[str, str]] = _ONE_KIND

    minilm: Text
    path: ModelFolder = PACKAGED
    project: bool | None = None


_KEYS = (
    ("expression", "<expression>"),
    ("coefficients", "<given>"),
    ("basis", "<basis>"),
    ("random", "<random>"),
    ("cells", "<cells>"),
    ("embeddings", "<embeddings>"),
    ("minilm", "<minilm>"),
)


def _kind(value: Any) -> str | None:
    return key_of(_KEYS, value)


Initial = Annotated[
    Annotated[ExpressionInitial, Tag("<expression>")]
    | Annotated[GivenBasisInitial, Tag("<given>")]
    | Annotated[RandomBasisInitial, Tag("<basis>")]
    | Annotated[RandomInitial, Tag("<random>")]
    | Annotated[CellsInitial, Tag("<cells>")]
    | Annotated[EmbeddingsInitial, Tag("<embeddings>")]
    | Annotated[MinilmInitial, Tag("<minilm>")],
    Discriminator(
        _kind,
        custom_error_type="kind",
        custom_error_message="expected a table with one of the keys expression, basis, cells, "
        "random, embeddings, minilm",
    ),
]

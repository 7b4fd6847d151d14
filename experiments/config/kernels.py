"""Kernels k(xi, y, t) and fields b(y, t), in the words of a config."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from experiments.config.base import Count, File, Part, Seed, Text, key_of

InTime: TypeAlias = Literal["constant", "linear"]


def _numbers(value: Any) -> tuple:
    """Nested lists of finite numbers, all rows of one length, as tuples of floats."""
    found, shape = _nested(value)
    if not shape or 0 in shape or len(shape) > 3:
        raise _not_numbers()
    return found


def _nested(value: Any) -> tuple[Any, tuple[int, ...]]:
    if isinstance(value, list | tuple):
        rows = [_nested(row) for row in value]
        shapes = {shape for _, shape in rows}
        if len(shapes) > 1:
            raise _not_numbers()
        return tuple(row for row, _ in rows), (len(rows), *(shapes.pop() if shapes else ()))
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        raise _not_numbers()
    return float(value), ()


def _not_numbers() -> PydanticCustomError:
    return PydanticCustomError(
        "numbers", "expected a list, or rows of equal length, of finite numbers"
    )


#: A list, a list of rows or a list of tables of numbers.
Numbers = Annotated[tuple[Any, ...], BeforeValidator(_numbers)]


#: Keys that stand for a kind of kernel or field; each is of one kind.
_ONE_KIND = {
    key: "a kernel is of one kind: leave out one of the two keys, or set the whole table"
    for key in ("separable", "basis", "coefficients", "cells", "identity", "layers")
}


class Separable(Part):
    """k = sum_r a_r(source, t) c_r(target, t): pairs of expressions."""

    elsewhere: ClassVar[Mapping[str, str]] = _ONE_KIND

    separable: Annotated[tuple[tuple[Text, Text], ...], Field(min_length=1)]


class RandomBasis(Part):
    """Coefficients N(0, 1) * scale * (1 + |k|)^-decay, for each coordinate, in a basis.

    Args:
        basis: the name of a basis.
        size: functions along every coordinate but the head's.
        head_size: functions along the head coordinate; one is constant.
        decay: the exponent of the coefficients' decay.
        scale: a factor on all of them.
        seed: of the random numbers, together with the config's; by default every kernel of a
            config has its own.
        depth: cells in t, of equal length.
        in_time: constant on the cells in t, or linear between their lower ends.
    """

    elsewhere: ClassVar[Mapping[str, str]] = _ONE_KIND

    basis: Text
    size: Count
    head_size: Count = 1
    decay: float = 2.0
    scale: float = 1.0
    seed: Seed | None = None
    depth: Count = 1
    in_time: InTime = "constant"


class GivenBasis(Part):
    """Given coefficients in a basis.

    Args:
        basis: the name of a basis.
        coefficients: one number for each pair of functions, [source][target] (of a field: for
            each function), or one such table for each cell in t; products of functions on
            Omega_h x Omega_eta in C order.
        head_size: functions along the head coordinate.
        in_time: constant on the cells in t, or linear between their lower ends.
    """

    elsewhere: ClassVar[Mapping[str, str]] = _ONE_KIND

    basis: Text
    coefficients: Numbers
    head_size: Count = 1
    in_time: InTime = "constant"


class Cells(Part):
    """Constant on cells: a table from a file.

    Args:
        cells: a .npy or .npz file that holds (depth, source, target) or (source, target) numbers;
            of a field (depth, cells) or (cells).
        key: which array of a .npz file; not needed when it holds one.
        head_cells: cells along the head coordinate.
        in_time: constant on the cells in t, or linear between their lower ends.
    """

    elsewhere: ClassVar[Mapping[str, str]] = _ONE_KIND

    cells: File
    key: Text | None = None
    head_cells: Count = 1
    in_time: InTime = "constant"


class Identity(Part):
    """The identity on functions that are constant on cells, times a number.

    Args:
        identity: the factor.
        cells: the number of cells; a grid with as many sees the identity matrix, a finer one the
            mean over each cell.
    """

    elsewhere: ClassVar[Mapping[str, str]] = _ONE_KIND

    identity: float
    cells: Count


class Layers(Part):
    """One expression for each of several cells in t, of equal length."""

    elsewhere: ClassVar[Mapping[str, str]] = _ONE_KIND

    layers: Annotated[tuple[Text, ...], Field(min_length=1)]
    in_time: InTime = "constant"


#: Which key makes a table which kind of kernel; the first one found decides.
_KERNEL_KEYS = (
    ("separable", "<separable>"),
    ("layers", "<layers>"),
    ("identity", "<identity>"),
    ("coefficients", "<given>"),
    ("basis", "<basis>"),
    ("cells", "<cells>"),
)
_FIELD_KEYS = tuple(row for row in _KERNEL_KEYS if row[0] not in ("separable", "identity"))


def _kernel_kind(value: Any) -> str | None:
    return "<expression>" if isinstance(value, str) else key_of(_KERNEL_KEYS, value)


def _field_kind(value: Any) -> str | None:
    return "<expression>" if isinstance(value, str) else key_of(_FIELD_KEYS, value)


Kernel = Annotated[
    Annotated[Text, Tag("<expression>")]
    | Annotated[Separable, Tag("<separable>")]
    | Annotated[Layers, Tag("<layers>")]
    | Annotated[Identity, Tag("<identity>")]
    | Annotated[GivenBasis, Tag("<given>")]
    | Annotated[RandomBasis, Tag("<basis>")]
    | Annotated[Cells, Tag("<cells>")],
    Discriminator(
        _kernel_kind,
        custom_error_type="kind",
        custom_error_message="expected an expression in quotes, or a table with one of the keys "
        "separable, basis, cells, identity, layers",
    ),
]

FieldFunction = Annotated[
    Annotated[Text, Tag("<expression>")]
    | Annotated[Layers, Tag("<layers>")]
    | Annotated[GivenBasis, Tag("<given>")]
    | Annotated[RandomBasis, Tag("<basis>")]
    | Annotated[Cells, Tag("<cells>")],
    Discriminator(
        _field_kind,
        custom_error_type="kind",
        custom_error_message="expected an expression in quotes, or a table with one of the keys "
        "basis, cells, layers",
    ),
]

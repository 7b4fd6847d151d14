"""What a verification found, as plain data."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: What stands inside a layer passes at this multiple of the tolerance.  A sum that no norm has yet
#: brought back to size 1 may cancel, and then two libraries' orders of summation differ by more:
#: in float32 XLA adds up long rows one by one, others in blocks.
INNER = 10.0


@dataclass(frozen=True)
class Row:
    """The difference of one quantity, over valid tokens.

    Args:
        name: the substep.
        counterpart: what of the encoder it is compared with, in words.
        max_abs: max|a - b|.
        max_rel: max|a - b| / max|b|, b being the encoder's; NaN if either side has a NaN.
    """

    name: str
    counterpart: str
    max_abs: float
    max_rel: float


@dataclass(frozen=True)
class Layer:
    """The rows of one layer, in order of computation; the last one is the layer's output.

    Args:
        number: 1 for the first layer.
        substeps: the rows.
    """

    number: int
    substeps: tuple[Row, ...]

    @property
    def output(self) -> Row:
        """The row of the layer's output."""
        return self.substeps[-1]


@dataclass(frozen=True)
class Report:
    """A verification's result.

    Args:
        reference: the judge, in words.
        dtype: the precision of both sides.
        equation: "split" or "residual".
        tolerance: the largest relative difference of a state that passes.
        layers: layer by layer.
        final: what the encoder returns, its final norm included.
        embedding: the state that enters, where the model computes it.
        valid_tokens: number of tokens compared.
        tokens: number of tokens with padding.
        notes: remarks on the setting.
        description: the equation in readable mathematics.
        versions: package -> version.
        options: what was asked for.
    """

    reference: str
    dtype: str
    equation: str
    tolerance: float
    layers: tuple[Layer, ...]
    final: Row
    embedding: Row | None
    valid_tokens: int
    tokens: int
    notes: tuple[str, ...]
    description: str
    versions: dict[str, str]
    options: dict[str, Any]

    @property
    def states(self) -> tuple[tuple[str, Row], ...]:
        """What the encoder hands on, each with its place: judged at the tolerance."""
        before = [] if self.embedding is None else [("embedding", self.embedding)]
        outputs = [(f"layer {layer.number}", layer.output) for layer in self.layers]
        return (*before, *outputs, ("encoder output", self.final))

    @property
    def inner(self) -> tuple[tuple[str, Row], ...]:
        """What stands inside the layers, each with its place: judged at INNER times that."""
        return tuple(
            (f"layer {layer.number}, {row.name}", row)
            for layer in self.layers
            for row in layer.substeps[:-1]
        )

    @property
    def max_abs(self) -> float:
        """The largest difference of the states; NaN if one is."""
        return float(np.max([row.max_abs for _, row in self.states]))

    @property
    def max_rel(self) -> float:
        """The largest relative difference of the states; NaN if one is."""
        return worst(self.states)[1]

    @property
    def passed(self) -> bool:
        """Whether every row is within its tolerance; never with a NaN."""
        within = worst(self.inner)[1] <= self.inner_tolerance
        return within and self.max_rel <= self.tolerance

    @property
    def inner_tolerance(self) -> float:
        """What rows inside the layers may differ by."""
        return INNER * self.tolerance

    def as_data(self) -> dict[str, Any]:
        """The report for JSON; numbers that are not finite become null."""
        return {
            "reference": self.reference,
            "dtype": self.dtype,
            "equation": self.equation,
            "max_abs": _finite(self.max_abs),
            "max_rel": _finite(self.max_rel),
            "worst": worst(self.states)[0],
            "substeps_max_rel": _finite(worst(self.inner)[1]),
            "substeps_tolerance": self.inner_tolerance,
            "substeps_worst": worst(self.inner)[0],
            "tolerance": self.tolerance,
            "passed": self.passed,
            "valid_tokens": self.valid_tokens,
            "tokens": self.tokens,
            "embedding": None if self.embedding is None else _row_data(self.embedding),
            "layers": [_layer_data(layer) for layer in self.layers],
            "final": _row_data(self.final),
            "notes": list(self.notes),
            "versions": self.versions,
            "options": self.options,
        }


def worst(places: tuple[tuple[str, Row], ...]) -> tuple[str, float]:
    """Place and size of the largest relative difference; a NaN counts as the largest."""
    sizes = [row.max_rel for _, row in places]
    largest = int(np.argmax(sizes))
    return places[largest][0], float(sizes[largest])


def difference(
    name: str, counterpart: str, found: ArrayLike, expected: ArrayLike, valid: NDArray[np.bool_]
) -> Row:
    """The row that compares two arrays.

    Args:
        name: the substep.
        counterpart: what ``expected`` is, in words.
        found: (batch, tokens, features), ours.
        expected: the same shape and dtype, the encoder's.
        valid: (batch, tokens), True where tokens count.

    Raises:
        ValueError: if shapes or dtypes differ: then one side computed something else.
    """
    ours, theirs = np.asarray(found), np.asarray(expected)
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        raise ValueError(
            f"{name}: expected {theirs.dtype} of shape {theirs.shape} as in the encoder, got "
            f"{ours.dtype} of shape {ours.shape}"
        )
    ours, theirs = ours[valid].astype(np.float64), theirs[valid].astype(np.float64)
    gap, size = float(np.max(np.abs(ours - theirs))), float(np.max(np.abs(theirs)))
    if gap == 0.0:
        return Row(name, counterpart, 0.0, 0.0)
    return Row(name, counterpart, gap, gap / size if size > 0 else math.inf)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _row_data(row: Row) -> dict[str, Any]:
    data = dataclasses.asdict(row)
    return data | {"max_abs": _finite(row.max_abs), "max_rel": _finite(row.max_rel)}


def _layer_data(layer: Layer) -> dict[str, Any]:
    worst_abs = float(np.max([row.max_abs for row in layer.substeps]))
    worst_rel = float(np.max([row.max_rel for row in layer.substeps]))
    return {
        "layer": layer.number,
        "max_abs": _finite(worst_abs),
        "max_rel": _finite(worst_rel),
        "output": _row_data(layer.output),
        "substeps": [_row_data(row) for row in layer.substeps],
    }

"""A trajectory as a Zarr group: its variables, chunks, codecs and CF attributes."""

import itertools
import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import zarr
from zarr.codecs import BloscCodec, Crc32cCodec
from zarr.core.buffer import Buffer, default_buffer_prototype
from zarr.storage import MemoryStore

from experiments import DISTRIBUTION
from experiments.results.layout import Layout
from experiments.results.manifest import Identity

#: The directory of the group, inside that of the result.
NAME = "trajectory.zarr"

#: No chunk is larger, so that none needs much memory; Blosc ends at 2 GiB.
LARGEST_CHUNK = 2**26

#: Observables are small: this many bytes of one go into a file.
OBSERVABLE_CHUNK = 2**16


@dataclass(frozen=True)
class Variable:
    """One array of the group.

    Args:
        dimensions: names of its axes.
        shape: their lengths.
        chunks: the shape of a chunk.
        dtype: of its values.
        attributes: CF attributes.
        values: its first entries along the first axis; the rest reads as NaN.
    """

    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dtype: np.dtype
    attributes: Mapping[str, str]
    values: np.ndarray = field(repr=False)


def variables(layout: Layout) -> dict[str, Variable]:
    """All arrays of a trajectory, by name; the entries known before the first step filled in."""
    placed = "" if layout.tokens.ndim == 1 else "x1 x2"
    shape = (len(layout.times), *layout.initial.shape)
    rows = min(layout.chunk, len(layout.times))
    found = dict(_coordinates(layout))
    found["u"] = Variable(
        ("t", *layout.state_dimensions),
        shape,
        _chunks((rows, *layout.initial.shape), layout.initial.dtype.itemsize),
        layout.initial.dtype,
        _attributes("state", "1", coordinates=placed),
        layout.initial[None],
    )
    for name, entry in layout.observables.items():
        inner = layout.shape_of(entry.dimensions)
        rows = OBSERVABLE_CHUNK // (8 * math.prod(inner)) or 1
        first = np.nan if entry.initial is None else entry.initial
        located = "step_time " + placed if "token" in entry.dimensions else "step_time"
        found[name] = Variable(
            ("step", *entry.dimensions),
            (layout.steps + 1, *inner),
            (min(rows, layout.steps + 1), *inner),
            np.dtype(float),
            _attributes(entry.long_name, entry.units, coordinates=located),
            np.broadcast_to(np.asarray(first, float), inner)[None],
        )
    for name, entry in layout.constants.items():
        located = placed if "token" in entry.dimensions else ""
        attributes = _attributes(entry.long_name, entry.units, coordinates=located)
        found[name] = _whole(entry.dimensions, np.asarray(entry.values), attributes)
        if found[name].shape != layout.shape_of(entry.dimensions):
            raise ValueError(
                f"{name}: expected shape {layout.shape_of(entry.dimensions)} for "
                f"{', '.join(entry.dimensions)}, got {found[name].shape}"
            )
    return found


def _coordinates(layout: Layout) -> Iterator[tuple[str, Variable]]:
    """The axes t, x and y, the count of steps and, where there are several samples, theirs."""
    yield "t", _whole(("t",), layout.times, _attributes("depth t", "1", axis="T"))
    if layout.tokens.ndim == 1:
        yield "x", _whole(("x",), layout.tokens, _attributes("token coordinate x", "1", axis="X"))
    else:
        for index in (0, 1):
            words = _attributes(f"token coordinate x{index + 1}", "1")
            yield f"x{index + 1}", _whole(("token",), layout.tokens[:, index], words)
    yield "y", _whole(("y",), layout.features, _attributes("feature coordinate y", "1", axis="Y"))
    steps = np.arange(layout.steps + 1)
    yield "step", _whole(("step",), steps, _attributes("number of steps done", "1"))
    words = _attributes("depth t after the step", "1")
    yield "step_time", _whole(("step",), layout.step_times, words)
    if layout.initial.ndim == 3:
        words = _attributes("sample of the batch", "1", standard_name="realization")
        yield "sample", _whole(("sample",), np.arange(len(layout.initial)), words)


def _whole(dimensions: tuple[str, ...], values: np.ndarray, attributes: dict[str, str]) -> Variable:
    """An array whose values are all known."""
    values = np.ascontiguousarray(values)
    chunks = _chunks(values.shape, values.itemsize)
    return Variable(dimensions, values.shape, chunks, values.dtype, attributes, values)


def _attributes(long_name: str, units: str, **more: str) -> dict[str, str]:
    """CF attributes, without the empty ones."""
    return {"long_name": long_name, "units": units} | {k: v for k, v in more.items() if v}


def _chunks(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """``shape``, its longest axis but the first halved until a chunk is no larger than allowed."""
    chunks = list(shape)
    while math.prod(chunks) * itemsize > LARGEST_CHUNK:
        axis = max(range(len(chunks)), key=lambda i: (i > 0 and chunks[i] > 1, chunks[i]))
        chunks[axis] = -(-chunks[axis] // 2)
    return tuple(chunks)


class Encoder:
    """The group in memory: it turns values into the bytes of chunk files, and forgets them.

    Zarr computes every byte; whoever calls puts them on the disk.

    Args:
        layout: what there is.
        identity: what it is a result of, for the attributes.
    """

    def __init__(self, layout: Layout, identity: Identity) -> None:
        """Create the group."""
        self._memory: dict[str, Buffer] = {}
        attributes = _dataset_attributes(layout, identity)
        store = MemoryStore(self._memory)
        group = zarr.create_group(store=store, zarr_format=3, attributes=attributes)
        self._arrays: dict[str, zarr.Array] = {}
        for name, variable in variables(layout).items():
            self._arrays[name] = _create(group, name, variable)
        with warnings.catch_warnings():
            # Zarr warns that consolidated metadata is younger than the format; who does not know it
            # ignores it, and xarray would warn if it were missing.
            warnings.simplefilter("ignore")
            zarr.consolidate_metadata(store)
        #: The files of the group before the first step, by their names in it.
        self.files = {key: value.to_bytes() for key, value in self._memory.items()}
        self._forget()

    def keys(self, name: str, row: int) -> list[str]:
        """Names of the files that hold a row, an entry along the first axis, of a variable."""
        array = self._arrays[name]
        inner = zip(array.shape[1:], array.chunks[1:], strict=True)
        grid = itertools.product(*(range(-(-size // chunk)) for size, chunk in inner))
        metadata: Any = array.metadata
        place = row // array.chunks[0]
        return [f"{name}/{metadata.encode_chunk_key((place, *rest))}" for rest in grid]

    def begins_inside(self, name: str, row: int) -> bool:
        """Whether rows before this one share its files."""
        return row % self._arrays[name].chunks[0] != 0

    def encode(
        self, name: str, row: int, values: np.ndarray, known: Mapping[str, bytes]
    ) -> dict[str, bytes]:
        """The files of a variable that change when values are put in from a row on.

        Args:
            name: of the variable.
            row: the first.
            values: for this row and those after it.
            known: what the files of this row hold, if it ``begins_inside``.

        Raises:
            ValueError: for values of another shape.
        """
        array = self._arrays[name]
        end = row + len(values)
        if end > array.shape[0] or values.shape[1:] != array.shape[1:]:
            raise ValueError(
                f"{name}: expected at most {array.shape[0] - row} values of shape "
                f"{array.shape[1:]}, got {len(values)} of shape {values.shape[1:]}"
            )
        self._remember(known)
        array[row:end] = values
        chunks = {key: buffer.to_bytes() for key, buffer in self._memory.items() if _is_chunk(key)}
        self._forget()
        return chunks

    def decode(self, name: str, row: int, known: Mapping[str, bytes]) -> np.ndarray:
        """The values of one row, from the files that hold it."""
        self._remember(known)
        values = np.asarray(self._arrays[name][row])
        self._forget()
        return values

    def _remember(self, files: Mapping[str, bytes]) -> None:
        make = default_buffer_prototype().buffer.from_bytes
        self._memory.update({key: make(content) for key, content in files.items()})

    def _forget(self) -> None:
        for key in [key for key in self._memory if _is_chunk(key)]:
            del self._memory[key]


def _is_chunk(key: str) -> bool:
    return not key.endswith("zarr.json")


def _create(group: zarr.Group, name: str, variable: Variable) -> zarr.Array:
    floating = variable.dtype.kind == "f"
    array = group.create_array(
        name,
        shape=variable.shape,
        chunks=variable.chunks,
        dtype=variable.dtype,
        fill_value=np.nan if floating else variable.dtype.type(0),
        # Bits of floats repeat more than bytes do, and LZ4 is faster than the disk; the checksum
        # turns a damaged file into an error.
        compressors=[BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle"), Crc32cCodec()],
        dimension_names=variable.dimensions,
        attributes=dict(variable.attributes),
        # A chunk of NaN is a result, too, and must be told from one that was never written.
        config={"write_empty_chunks": True},
    )
    array[: len(variable.values)] = variable.values
    return array


def _dataset_attributes(layout: Layout, identity: Identity) -> dict[str, Any]:
    versions = ", ".join(f"{name} {number}" for name, number in identity.versions.items())
    found = {
        "title": layout.title,
        "Conventions": "CF-1.11",
        "source": f"{DISTRIBUTION} ({versions})",
        "precision": identity.precision,
        "seed": identity.seed,
        "ill_posed": "; ".join(identity.ill_posed),
        **layout.attributes,
    }
    return {name: value for name, value in found.items() if value not in (None, "")}

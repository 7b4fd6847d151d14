"""Checks of the files that a config names: they hold arrays of the right shape."""

from collections.abc import Iterator

from experiments.config.errors import Finding
from experiments.config.files import read_array
from experiments.config.initial import CellsInitial, EmbeddingsInitial
from experiments.config.kernels import Cells
from experiments.config.locate import KeyPath
from experiments.config.root import Config
from experiments.config.slots import HEAD, field_slots, kernel_slots


def file_findings(config: Config) -> Iterator[Finding]:
    """Files that are missing, damaged, or hold another shape than their place asks for."""
    if config.equation is None or config.domains is None:
        return
    for slot in kernel_slots(config.equation):
        if isinstance(slot.kernel, Cells):
            axes = [names == HEAD for names in (slot.source, slot.target)]
            yield from _table(slot.path, slot.kernel, (2, 3), axes)
    for slot in field_slots(config.equation):
        if isinstance(slot.field, Cells):
            yield from _table(slot.path, slot.field, (1, 2), [slot.variables == HEAD])
    initial = config.initial
    if isinstance(initial, CellsInitial):
        yield from _state(initial.cells, initial.key, "cells", config.domains.dimension + 1)
    if isinstance(initial, EmbeddingsInitial):
        yield from _state(initial.embeddings, initial.key, "embeddings", 2)


def _table(path: KeyPath, cells: Cells, ranks: tuple, heads: list[bool]) -> Iterator[Finding]:
    where = (*path, "cells")
    try:
        shape = read_array(cells.cells, cells.key).shape
    except ValueError as error:
        yield Finding(where, str(error))
        return
    if len(shape) not in ranks:
        yield Finding(
            where,
            f"expected an array of {ranks[0]} dimensions, or {ranks[1]} with depth first, found "
            f"the shape {shape} in {cells.cells}",
        )
        return
    for size, head in zip(shape[-ranks[0] :], heads, strict=True):
        if head and size % cells.head_cells:
            yield Finding(
                where,
                f"expected a multiple of head_cells = {cells.head_cells} cells on Omega_h x "
                f"Omega_eta, found {size} in {cells.cells}",
            )


def _state(name: str, key: str | None, entry: str, rank: int) -> Iterator[Finding]:
    try:
        shape = read_array(name, key).shape
    except ValueError as error:
        yield Finding(("initial", entry), str(error))
        return
    if len(shape) != rank:
        yield Finding(
            ("initial", entry),
            f"expected an array of {rank} dimensions, found the shape {shape} in {name}",
        )

"""From a request to what every rank costs and spoils."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import solvers
from discretize.compression import Compressed, Decomposition, decompose
from discretize.encoders import recover
from discretize.encoders.embedding import TokenEmbedding
from discretize.encoders.recovered import Recovered
from experiments.compressing.request import CompressRequest
from experiments.packages import require_extra, versions
from experiments.request import Request
from experiments.verification.bert_case import model_folder
from experiments.verification.sentences import TokenIds, read_sentences

#: How many ranks are compared unasked.
_DEFAULT = 6


@dataclass(frozen=True)
class Level:
    """One rank or tolerance.

    Args:
        rank: what was asked for, or None.
        tolerance: what was asked for, or None.
        kept: the smallest and the largest rank kept, of kernels that became smaller; None if none.
        stored: bytes of all kernels.
        share: ``stored`` as a part of what the full kernels need.
        operator_error: the largest error of an operator over its norm.
        bound: the largest Hilbert-Schmidt error over its norm.
        output_error: max|a - b| / max|b| of the model's output over valid tokens.
        output_rms: the same in the root mean square.
        kept_full: the kernels that stayed full, two factors being no smaller.
        report: every kernel and layer, as data.
    """

    rank: int | None
    tolerance: float | None
    kept: tuple[int, int] | None
    stored: int
    share: float
    operator_error: float
    bound: float
    output_error: float
    output_rms: float
    kept_full: tuple[str, ...]
    report: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Sweep:
    """All ranks of one model.

    Args:
        model: what was compressed, in words.
        dtype: of every array.
        full: bytes of the full kernels.
        kernels: how many kernels, each over all layers.
        layers: the depth cells of the kernel with most.
        tokens: valid tokens that outputs were compared on.
        levels: rank by rank.
        notes: remarks on the sentences.
        versions: package -> version.
    """

    model: str
    dtype: str
    full: int
    kernels: int
    layers: int
    tokens: int
    levels: tuple[Level, ...]
    notes: tuple[str, ...]
    versions: dict[str, str]

    def as_data(self) -> dict[str, Any]:
        """The sweep as plain data for JSON."""
        return dataclasses.asdict(self)


def sweep(request: CompressRequest) -> Sweep:
    """Compress a model to several ranks and run each on sentences.

    Raises:
        ImportError: without transformers, or the packaged model.
        ValueError, TypeError, FileNotFoundError: for a directory that is no such model.
    """
    folder = model_folder(request.model)
    full = recover(folder, dtype=request.precision.value)
    batch = _sentences(folder, request)
    decomposition = decompose(full)
    u0 = _initial_state(full, batch)
    expected = _output(full, u0, batch.valid)
    levels = []
    for rank, tolerance in _wanted(request, decomposition):
        compressed = decomposition.compress(rank, tolerance)
        found = _output(compressed.model, u0, batch.valid)
        levels.append(_level(rank, tolerance, compressed, found, expected))
    expansions = decomposition.expansions.values()
    size = sum(expansion.kernel.values.nbytes for expansion in expansions)
    return Sweep(
        model=request.model,
        dtype=request.precision.value,
        full=size,
        kernels=len(expansions),
        layers=max(len(expansion.values) for expansion in expansions),
        tokens=int(batch.valid.sum()),
        levels=tuple(levels),
        notes=batch.notes,
        versions=versions(),
    )


def _wanted(
    request: CompressRequest, decomposition: Decomposition
) -> list[tuple[int | None, float | None]]:
    """What to compare: as asked for, or the last powers of two that save anything."""
    if request.tolerances:
        return [(None, tolerance) for tolerance in request.tolerances]
    if request.ranks:
        return [(rank, None) for rank in request.ranks]
    shapes = [e.kernel.values.shape for e in decomposition.expansions.values()]
    largest = max(1, *((n * m - 1) // (n + m) for _, n, m in shapes))
    powers = [2**k for k in range(largest.bit_length())]
    return [(rank, None) for rank in powers[-_DEFAULT:]]


def _sentences(folder: Path, request: CompressRequest) -> TokenIds:
    transformers = require_extra("transformers", "torch")
    transformers.logging.set_verbosity_error()
    config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
    wanted = Request(model=request.model, texts=request.texts)
    return read_sentences(transformers, folder, wanted, config)


def _initial_state(recovered: Recovered, batch: TokenIds) -> Any:
    embed = recovered.embed
    if isinstance(embed, TokenEmbedding) and embed.segments is None:
        return embed(batch.ids)
    return embed(batch.ids, batch.kinds)


def _output(model: Any, u0: Any, valid: NDArray[np.bool_]) -> NDArray:
    """What the model returns on valid tokens, (tokens, features) in float64."""
    return np.asarray(solvers.solve(model, u0, mask=valid).final, np.float64)[valid]


def _level(
    rank: int | None,
    tolerance: float | None,
    compressed: Compressed,
    found: NDArray,
    expected: NDArray,
) -> Level:
    rows, gap = compressed.report, found - expected
    small = [row.rank for row in rows if not row.kept_full]
    return Level(
        rank=rank,
        tolerance=tolerance,
        kept=(min(small), max(small)) if small else None,
        stored=compressed.stored_after * compressed.problem.dtype.itemsize,
        share=compressed.stored_after / compressed.stored_before,
        operator_error=max(_ratio(row.operator_error, row.operator_norm) for row in rows),
        bound=max(_ratio(row.bound, row.hs_norm) for row in rows),
        output_error=_ratio(float(np.abs(gap).max()), float(np.abs(expected).max())),
        output_rms=_ratio(float(np.linalg.norm(gap)), float(np.linalg.norm(expected))),
        kept_full=tuple(dict.fromkeys(row.name for row in rows if row.kept_full)),
        report=tuple(dataclasses.asdict(row) for row in rows),
    )


def _ratio(part: float, whole: float) -> float:
    """The quotient; a kernel of zeros has no error."""
    return part / whole if part else 0.0

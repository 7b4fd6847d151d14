"""``convergence.json`` and ``convergence.csv``."""

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from experiments.files import write_atomically

#: The two files in the directory of a convergence study.
JSON, CSV = "convergence.json", "convergence.csv"


def write_convergence(
    path: str | os.PathLike[str], data: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]
) -> None:
    """Write the two files of a convergence study, each whole or not at all.

    JSON knows no other numbers than finite ones: NaN becomes null, infinities become the strings
    "Infinity" and "-Infinity", which ``float`` reads.  In the table NaN is ``nan``, infinity
    ``inf``, None empty.  Finite floats are written with all their digits.

    Args:
        path: the directory.
        data: for JSON; numpy arrays and scalars are welcome.
        rows: of the table; its columns are their keys, in the order of their first appearance.
    """
    folder = Path(path)
    write_atomically(folder / JSON, as_json(data).encode())
    write_atomically(folder / CSV, _table(list(rows)).encode())


def as_json(data: Mapping[str, Any]) -> str:
    """JSON text as :func:`write_convergence` writes it."""
    return json.dumps(_plain(data), indent=2, allow_nan=False) + "\n"


def read_convergence(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The content of ``convergence.json``.

    Raises:
        FileNotFoundError: if there is none.
    """
    return json.loads((Path(path) / JSON).read_bytes())


def _table(rows: list[Mapping[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _scalar(value) for name, value in row.items()} for row in rows)
    return stream.getvalue()


def _scalar(value: Any) -> Any:
    """A numpy scalar as Python's."""
    return value.item() if callable(getattr(value, "item", None)) else value


def _plain(value: Any) -> Any:
    """``value`` as JSON can have it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if callable(getattr(value, "tolist", None)):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value

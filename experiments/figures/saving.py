"""Figures as files."""

import io
from pathlib import Path

from matplotlib.figure import Figure

from experiments.figures.style import styled
from experiments.files import write_atomically

KINDS = ("png", "svg")
DPI = 200


@styled
def encode(figure: Figure, kind: str) -> bytes:
    """The figure as the bytes of a file: the same figure gives the same bytes.

    Args:
        figure: what to draw.
        kind: "png", "svg" or "pdf".
    """
    buffer = io.BytesIO()
    metadata = {"png": None, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    figure.savefig(buffer, format=kind, dpi=DPI, metadata=metadata)
    return buffer.getvalue()


def save(figure: Figure, stem: Path) -> tuple[Path, ...]:
    """Write ``stem``.png (200 dots per inch) and ``stem``.svg, each whole or not at all.

    Args:
        figure: what to draw.
        stem: path without a suffix; a dot in its name is kept.

    Returns:
        The paths written.
    """
    paths = tuple(stem.with_name(f"{stem.name}.{kind}") for kind in KINDS)
    for path, kind in zip(paths, KINDS, strict=True):
        write_atomically(path, encode(figure, kind))
    return paths

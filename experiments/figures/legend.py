"""A legend below the axes, where it covers nothing."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.figures.style import SMALL
from experiments.figures.words import clean, lines, width, wrapped

_HANDLE = 0.5  # inches: the sign, its padding and the space between columns
_SIZE = 8.0


def legend_below(figure: Figure, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Put a legend at the bottom and make the figure higher by what it takes.

    Args:
        figure: without its header yet.
        handles: matplotlib's artists.
        labels: one per handle, any text; long ones are broken into lines.
    """
    if not labels:
        return
    inches, height = figure.get_size_inches()
    columns = _columns(labels, inches)
    room = inches / columns - _HANDLE - 0.2
    counts = [len(lines(label, room, _SIZE)) for label in labels] if columns == 1 else [1]
    rows = -(-len(labels) // columns)
    tallest = sum(counts) if columns == 1 else rows
    figure.set_size_inches(inches, height + tallest * _SIZE * 1.3 / 72 + rows * 0.045 + 0.1)
    figure.legend(
        handles,
        [_entry(label, room if columns == 1 else inches, _SIZE) for label in labels],
        loc="outside lower center",
        ncols=columns,
        fontsize=_SIZE,
        handlelength=1.8,
        handletextpad=0.4,
        columnspacing=1.2,
        labelspacing=0.35,
    )


def _columns(labels: Sequence[str], inches: float) -> int:
    """As many columns as the labels fit in without being broken."""
    widths = np.array([width(clean(label), _SIZE) for label in labels])
    for columns in (3, 2):
        if len(labels) >= columns:
            taken = sum(part.max() + _HANDLE for part in np.array_split(widths, columns))
            if taken <= inches - 0.2:
                return columns
    return 1


def legend_beside(axes: Any, inches: float) -> None:
    """Put the legend of one panel to its right, in lines of at most ``inches``."""
    handles, labels = axes.get_legend_handles_labels()
    texts = [_entry(label, inches, SMALL) for label in labels]
    axes.legend(
        handles,
        texts,
        loc="upper left",
        bbox_to_anchor=(1.01, 1.03),
        fontsize=SMALL,
        handlelength=1.8,
        handletextpad=0.4,
        labelspacing=0.35,
        borderaxespad=0.0,
    )


def _entry(label: str, inches: float, size: float) -> str:
    """The label in lines; the spaces keep an underscore from coming first, which would hide it."""
    return " " + wrapped(label, inches, size).replace("\n", "\n ")

"""Errors of kernels of low rank, and of a model that has them, over their stored size."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.header import header
from experiments.figures.legend import legend_below
from experiments.figures.marks import draw_lost, draw_zeros, explain
from experiments.figures.style import COLOURS, MARKERS, SMALL, WIDTH, canvas, freeze, styled
from experiments.figures.ticks import log_limits, log_ticks, set_log
from experiments.figures.words import clean, wrapped

_HEIGHT = 3.6
_SIZE = 5.0


@styled
def render(
    shares: Sequence[float],
    errors: Mapping[str, Sequence[float]],
    names: Sequence[str],
    *,
    title: str = "",
) -> Figure:
    """Draw relative errors over the stored size on logarithmic axes.

    Args:
        shares: the stored size of the kernels as a part of that of the full ones, > 0.
        errors: name -> one relative error >= 0 for each size.
        names: what stands above each size: its rank or tolerance.
        title: of the figure.

    Raises:
        ValueError: if there is nothing to draw, lengths differ, or a number is out of range.
    """
    x = 100.0 * np.array(shares, dtype=float)
    curves = {name: np.array(values, dtype=float) for name, values in errors.items()}
    _check(x, curves, names)
    figure = canvas(WIDTH, _HEIGHT)
    axes = figure.add_subplot()
    axes.set_xscale("log")
    axes.set_yscale("log")
    handles = [_curve(axes, x, values, k) for k, values in enumerate(curves.values())]
    everything = np.concatenate(list(curves.values()))
    low, high = log_limits(everything[np.isfinite(everything)], least=12.0, margin=0.1)
    axes.set_ylim(low, high)
    set_log(axes.yaxis, log_ticks(low, high))
    left, right = log_limits(x, least=4.0)
    axes.set_xlim(left, right)
    set_log(axes.xaxis, log_ticks(left, right))
    axes.set_xlabel("stored size of the kernels (% of the full ones)")
    axes.set_ylabel(wrapped("relative error", 2.6, 9))
    axes.grid(True, which="major", color="0.92", linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    _name(axes, x, names)
    marks = explain(everything)
    legend_below(figure, [*handles, *marks[0]], [*curves, *marks[1]])
    header(figure, title)
    return freeze(figure)


def _check(x: np.ndarray, curves: Mapping[str, np.ndarray], names: Sequence[str]) -> None:
    lengths = {len(x), len(names), *(len(values) for values in curves.values())}
    if not curves or lengths != {len(x)} or not len(x):
        raise ValueError(
            f"expected at least one size and one curve, and for each size one name and one error "
            f"of every curve, got lengths {sorted(lengths)} and {len(curves)} curves"
        )
    if not np.all(x > 0) or any(np.any(values < 0) for values in curves.values()):
        raise ValueError("expected sizes > 0 and errors >= 0 on logarithmic axes; pass norms")


def _curve(axes: Axes, x: np.ndarray, values: np.ndarray, k: int) -> Any:
    """One curve; exact zeros and lost values get marks of their own."""
    colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
    shown = np.isfinite(values) & (values > 0)
    order = np.argsort(x, kind="stable")
    (line,) = axes.plot(
        x[order],
        np.where(shown, values, np.nan)[order],
        color=colour,
        marker=marker,
        markersize=_SIZE,
        linewidth=1.2,
        linestyle=("-", "--", "-.", ":")[k % 4],
    )
    draw_zeros(axes, x, values, colour, marker, _SIZE)
    draw_lost(axes, x, values, colour, _SIZE)
    return line


def _name(axes: Axes, x: np.ndarray, names: Sequence[str]) -> None:
    """Write the rank or tolerance of each size above the axes; equal sizes share a place."""
    for place in np.unique(x):
        words = ", ".join(name for name, at in zip(names, x, strict=True) if at == place)
        axes.annotate(
            clean(words),
            (place, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=SMALL,
            color="0.25",
        )

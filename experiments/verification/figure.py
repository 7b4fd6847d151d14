"""The figure of a report: relative difference, layer by layer, on a logarithmic axis."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from experiments.figures.saving import encode
from experiments.figures.style import COLOURS, MARKERS, canvas, styled
from experiments.verification.report import Report


@styled
def render(report: Report, kind: str) -> bytes:
    """The figure as the bytes of a file.

    Args:
        report: what to draw.
        kind: "png", "svg" or "pdf".
    """
    figure = canvas(6.0, 3.9)
    draw(report, figure.add_subplot())
    return encode(figure, kind)


def draw(report: Report, axes: Axes) -> None:
    """Draw the report into the axes.

    The substeps of a layer stand in order of computation within its unit of depth, its output at
    the whole number; a line joins the outputs.  Differences of exactly zero stand, hollow, at the
    bottom.
    """
    floor = _floor(report)
    names = [row.name for row in report.layers[0].substeps]
    _states(axes, report, floor, names[-1])
    for k, name in enumerate(names[:-1]):
        depths = np.arange(len(report.layers)) + (k + 1) / len(names)
        values = np.array([layer.substeps[k].max_rel for layer in report.layers])
        _points(axes, depths, values, floor, COLOURS[k], MARKERS[k + 1], name)
    _levels(axes, report)
    _label(axes, report, floor)


def _states(axes: Axes, report: Report, floor: float, name: str) -> None:
    """The embedding, if there is one, and the layers' outputs, joined by a line."""
    rows = [layer.output for layer in report.layers]
    depths = np.arange(1.0, len(rows) + 1)
    if report.embedding is not None:
        rows, depths = [report.embedding, *rows], np.arange(len(rows) + 1.0)
    values = np.array([row.max_rel for row in rows])
    axes.plot(depths, np.maximum(values, floor), color="black", linewidth=1, zorder=2)
    _points(axes, depths, values, floor, "black", MARKERS[0], f"{name}: layer output", size=4.5)


def _points(
    axes: Axes,
    x: np.ndarray,
    values: np.ndarray,
    floor: float,
    colour: str,
    marker: str,
    label: str,
    size: float = 3.8,
) -> None:
    style: dict[str, Any] = {
        "linestyle": "none",
        "marker": marker,
        "markersize": size,
        "markeredgewidth": 0.8,
        "color": colour,
        "clip_on": False,
        "zorder": 3,
    }
    zero = values == 0
    axes.plot(x[~zero], values[~zero], **style)
    axes.plot(x[zero], np.full(zero.sum(), floor), **style, markerfacecolor="white")
    axes.plot([], [], **style, label=label)


def _floor(report: Report) -> float:
    """The bottom of the axis: below machine epsilon and every difference that is not zero."""
    rows = [row.max_rel for _, row in (*report.states, *report.inner) if row.max_rel > 0]
    return max(min([_epsilon(report), *rows]) / 4, 1e-300)


def _epsilon(report: Report) -> float:
    return float(np.finfo(report.dtype).eps)


def _levels(axes: Axes, report: Report) -> None:
    """Lines at machine epsilon and at the tolerance, named in the right margin."""
    levels = [(_epsilon(report), f"machine epsilon\n{report.dtype}", ":")]
    levels.append((report.tolerance, f"tolerance {report.tolerance:g}\nof layer outputs", "--"))
    bottom = _floor(report)
    for value, words, style in levels:
        if value < bottom:
            continue
        axes.axhline(value, color="0.35", linewidth=0.8, linestyle=style, zorder=1)
        axes.annotate(
            words,
            (1.0, value),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            color="0.25",
        )


def _label(axes: Axes, report: Report, floor: float) -> None:
    rows = [row.max_rel for _, row in (*report.states, *report.inner)]
    tops = [value for value in rows if np.isfinite(value)]
    axes.set_yscale("log")
    axes.set_ylim(floor, 4 * max([*tops, report.tolerance, _epsilon(report)]))
    axes.set_xlim(0 if report.embedding is None else -0.15, len(report.layers) + 0.15)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    axes.yaxis.set_major_locator(LogLocator(numticks=8))
    axes.yaxis.set_minor_formatter(NullFormatter())
    start = "0: embedding, " if report.embedding is not None else ""
    axes.set_xlabel(f"depth t ({start}n: after layer n)")
    axes.set_ylabel(r"relative difference  $\max|a-b|\,/\,\max|b|$")
    if 0.0 in rows:
        axes.annotate(
            "hollow, at the bottom: equal bits",
            (1.0, 0.0),
            xycoords="axes fraction",
            xytext=(-3, 3),
            textcoords="offset points",
            ha="right",
            fontsize=7.5,
            color="0.25",
        )
    axes.set_title(f"{report.equation} equation against {report.reference}", fontsize=8, loc="left")
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.2),
        ncols=3,
        fontsize=8,
        handlelength=1.2,
        columnspacing=1.6,
    )

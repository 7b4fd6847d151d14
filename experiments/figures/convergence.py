"""Errors over step sizes: curves, fitted lines, slope triangles, measured and declared orders."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.figures.header import header
from experiments.figures.legend import legend_below
from experiments.figures.marks import draw_lost, draw_zeros, explain
from experiments.figures.style import COLOURS, MARKERS, WIDTH, canvas, freeze, styled
from experiments.figures.ticks import log_limits, log_ticks, set_log, step_ticks
from experiments.figures.triangles import Frame, draw, frame_of, place
from experiments.figures.words import wrapped

_HEIGHT = 3.7
_UNUSED = "hollow: not used in the fit"


@dataclass(frozen=True)
class Curve:
    """One study.

    Attributes:
        name: any text.
        steps: the step sizes, positive.
        errors: one per step; zero and values that are not finite are allowed.
        declared_order: None if no order is declared; ``math.inf`` means faster than any power.
        fitted_order: the measured slope, or None.
        used: which points the fit used, by default all that are positive.
        note: what else the legend says, e.g. why no order is declared.
    """

    name: str
    steps: Sequence[float]
    errors: Sequence[float]
    declared_order: float | None = None
    fitted_order: float | None = None
    used: Sequence[bool] | None = None
    note: str | None = None

    def __post_init__(self) -> None:
        """Check the lengths and the steps.

        Raises:
            ValueError: if the lengths differ or a step is not positive.
        """
        lengths = {len(self.steps), len(self.errors)} | ({len(self.used)} if self.used else set())
        if len(lengths) != 1:
            raise ValueError(
                f"curve {self.name!r}: expected one error (and one 'used') per step, got lengths "
                f"{sorted(lengths)}"
            )
        if not all(0 < step < math.inf for step in self.steps):
            raise ValueError(
                f"curve {self.name!r}: expected positive step sizes, got {list(self.steps)}; pass "
                "dt or h, not counts of zero"
            )
        if any(error < 0 for error in self.errors):
            raise ValueError(
                f"curve {self.name!r}: expected errors >= 0, got {min(self.errors)}; pass a norm"
            )


@dataclass(frozen=True)
class _Points:
    """A curve's points in the order of increasing steps."""

    x: np.ndarray
    y: np.ndarray
    used: np.ndarray

    @property
    def shown(self) -> np.ndarray:
        return np.isfinite(self.y) & (self.y > 0)

    @property
    def logs(self) -> np.ndarray:
        """Logarithms of the points that a logarithmic axis shows, (n, 2)."""
        return np.log10(np.stack([self.x, self.y], -1)[self.shown])


@styled
def render(
    curves: Sequence[Curve],
    *,
    axis: str = "time step dt",
    norm: str = "error",
    title: str = "",
    round_off: float | None = None,
    ill_posed: Sequence[str] = (),
) -> Figure:
    """Draw errors over step sizes on logarithmic axes.

    Filled markers and the line through them are what a fit used; a triangle shows each distinct
    declared order that is finite and positive.

    Args:
        curves: at least one.
        axis: the label of the step sizes, with its unit if there is one.
        norm: the label of the errors.
        title: of the figure.
        round_off: the level below which errors are round-off, drawn if it is near the data.
        ill_posed: reasons why no limit exists; they are written above the figure.

    Raises:
        ValueError: if there is no curve.
    """
    if not curves:
        raise ValueError("expected at least one curve to draw, got none")
    points = [_sorted(curve) for curve in curves]
    figure = canvas(WIDTH, _HEIGHT)
    axes = figure.add_subplot()
    axes.set_xscale("log")
    axes.set_yscale("log")
    handles = [_draw(axes, curve, points[k], k, len(curves)) for k, curve in enumerate(curves)]
    labels = [legend_text(curve) for curve in curves]
    axes.set_xlabel(wrapped(axis, 5.0, 9))
    axes.set_ylabel(wrapped(norm, 2.6, 9))
    axes.grid(True, which="major", color="0.92", linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    low, high = _limits(points, round_off)
    if round_off is not None and low <= round_off <= high:
        line = axes.axhline(round_off, color="0.35", linewidth=0.9, linestyle=":", zorder=1)
        handles.append(line)
        labels.append(f"round-off level {round_off:.1e}")
    extra = explain(np.concatenate([p.y for p in points]))
    legend_below(figure, [*handles, *_unused(points), *extra[0]],
                 [*labels, *[_UNUSED] * len(_unused(points)), *extra[1]])  # fmt: skip
    header(figure, title, ill_posed)
    _arrange(figure, axes, curves, points, (low, high), round_off)
    return freeze(figure)


def legend_text(curve: Curve) -> str:
    """The name, the measured order beside the declared one, and the note."""
    declared = {
        None: "no order declared",
        math.inf: "declared faster than any power",
    }.get(curve.declared_order, f"declared {curve.declared_order or 0:.3g}")
    if curve.fitted_order is None:
        text = f"{curve.name}: {declared}"
        if curve.declared_order is not None:
            text = f"{curve.name}: no order measured ({declared})"
    else:
        text = f"{curve.name}: {curve.fitted_order:.2f} ({declared})"
    return "; ".join([text, *_odd(curve.errors), *([curve.note] if curve.note else [])])


def _odd(errors: Sequence[float]) -> list[str]:
    """How many errors a logarithmic axis has no place for."""
    zeros = sum(error == 0 for error in errors)
    lost = sum(not math.isfinite(error) for error in errors)
    return [
        f"{count} of {len(errors)} {what}"
        for count, what in ((zeros, "exactly zero"), (lost, "not finite"))
        if count
    ]


def _sorted(curve: Curve) -> _Points:
    x, y = np.array(curve.steps, dtype=float), np.array(curve.errors, dtype=float)
    order = np.argsort(x, kind="stable")
    used = np.ones(len(x), dtype=bool) if curve.used is None else np.array(curve.used, dtype=bool)
    return _Points(x[order], y[order], (used & np.isfinite(y) & (y > 0))[order])


def _draw(axes: Axes, curve: Curve, points: _Points, k: int, count: int) -> Line2D:
    """Draw one curve; later ones are smaller, so that equal curves are all seen."""
    colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
    size = 4.0 + 3.0 * (count - 1 - k) / max(count - 1, 4)
    style: dict[str, Any] = {
        "color": colour,
        "marker": marker,
        "markersize": size,
        "markeredgewidth": 1.0,
        "zorder": 3 + k / 100,
    }
    shown = points.shown
    here = points.used
    axes.plot(points.x[here], points.y[here], linestyle="none", **style, gid=f"used-{k}")
    off = shown & ~here
    axes.plot(points.x[off], points.y[off], linestyle="none", **style, markerfacecolor="white")
    fit = _fit(curve, points)
    for i in range(len(points.x) - 1):
        fitted = len(fit) and curve.declared_order is not None and here[i : i + 2].all()
        if shown[i : i + 2].all() and not fitted:
            axes.plot(points.x[i : i + 2], points.y[i : i + 2], color=colour, linewidth=0.9,
                      linestyle=":", zorder=2.5)  # fmt: skip
    if len(fit):
        axes.plot(*(10.0**fit.T), color=colour, linewidth=1.2 + min(0.3 * (count - 1 - k), 1.5),
                  alpha=0.75, zorder=2.6, gid=f"fit-{k}")  # fmt: skip
    draw_zeros(axes, points.x, points.y, colour, marker, size)
    draw_lost(axes, points.x, points.y, colour, size)
    return Line2D([], [], linestyle="-" if len(fit) else ":", linewidth=1.2, **style)


def _fit(curve: Curve, points: _Points) -> np.ndarray:
    """The ends of the fitted line in logarithms: through the mean of the points, (2, 2) or empty.

    A least-squares line goes through the mean.
    """
    logs = np.log10(np.stack([points.x, points.y], -1)[points.used])
    if curve.fitted_order is None or not math.isfinite(curve.fitted_order) or len(logs) < 2:
        return np.empty((0, 2))
    x = logs[[0, -1], 0]
    mean = logs.mean(axis=0)
    return np.stack([x, mean[1] + curve.fitted_order * (x - mean[0])], -1)


def _limits(points: Sequence[_Points], round_off: float | None) -> tuple[float, float]:
    """Limits of the errors: at least a decade; round-off counts if it is near."""
    values = np.concatenate([p.y[p.shown] for p in points])
    if round_off is not None and values.size and values.min() / 100 < round_off < values.max():
        values = np.append(values, round_off)
    return log_limits(values, least=12.0, margin=0.07)


def _unused(points: Sequence[_Points]) -> list[Line2D]:
    """The legend's sign for points that no fit used, if there are any."""
    if not any(np.any(p.shown & ~p.used) for p in points):
        return []
    return [Line2D([], [], linestyle="none", marker="o", color="0.3", markerfacecolor="white",
                   markersize=5)]  # fmt: skip


def _arrange(
    figure: Figure,
    axes: Axes,
    curves: Sequence[Curve],
    points: Sequence[_Points],
    limits: tuple[float, float],
    round_off: float | None,
) -> None:
    """Limits, ticks and triangles; where triangles find no room, it is made at the bottom."""
    steps = np.concatenate([p.x for p in points])
    least = 2.0 if np.unique(steps).size > 1 else 4.0
    left, right = log_limits(steps, least=least, margin=0.05)
    axes.set_xlim(left, right)
    # The axes are a little longer than this: labels along x have the room that they ask for.
    set_log(axes.xaxis, step_ticks([float(s) for s in steps], left, right, WIDTH - 1.4))
    low, high = limits
    for _ in range(6):
        axes.set_ylim(low, high)
        set_log(axes.yaxis, log_ticks(low, high))
        figure.draw_without_rendering()
        frame = frame_of(axes)
        triangles = place(frame, _declared(curves, points), _obstacles(frame, curves, points,
                                                                       round_off))  # fmt: skip
        if triangles is not None:
            for triangle in triangles:
                draw(axes, triangle, frame)
            return
        low = max(low * (low / high) ** 0.25, 1e-307)


def _declared(curves: Sequence[Curve], points: Sequence[_Points]) -> dict[float, list[np.ndarray]]:
    """The curves of each order that a triangle can show."""
    found: dict[float, list[np.ndarray]] = {}
    for curve, p in zip(curves, points, strict=True):
        order = curve.declared_order
        if order is not None and 0 < order < math.inf and len(p.logs):
            found.setdefault(float(order), []).append(p.logs)
    return found


def _obstacles(
    frame: Frame,
    curves: Sequence[Curve],
    points: Sequence[_Points],
    round_off: float | None,
) -> list[np.ndarray]:
    """Everything drawn inside the axes, as polylines in points."""
    lines = [frame.points(p.logs) for p in points if len(p.logs)]
    fits = [_fit(curve, p) for curve, p in zip(curves, points, strict=True)]
    lines += [frame.points(fit) for fit in fits if len(fit)]
    for p in points:
        for here, height in ((p.y == 0, 0.0), (~np.isfinite(p.y), frame.size[1])):
            at = (np.log10(p.x[here]) - frame.low[0]) * frame.scale[0]
            lines += [np.array([[x, height]]) for x in at]
    if round_off is not None and round_off > 0:
        y = (math.log10(round_off) - frame.low[1]) * frame.scale[1]
        lines.append(np.array([[0.0, y], [frame.size[0], y]]))
    return lines

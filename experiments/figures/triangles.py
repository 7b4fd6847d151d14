"""Slope triangles: what a declared order looks like, beside the curves and not over them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon
from scipy.spatial import KDTree

from experiments.figures.style import SMALL
from experiments.figures.words import width

#: Clear space around a triangle and its label, and the thickness allowed for curves, in points.
_CLEAR = 7.0
_GAPS = (8.5, 14.0, 24.0, 40.0)


@dataclass(frozen=True)
class Frame:
    """The axes: logarithms of the data <-> points (1/72 inch) from the lower left corner."""

    low: np.ndarray
    scale: np.ndarray
    size: np.ndarray

    def points(self, logs: np.ndarray) -> np.ndarray:
        """Points from logarithms of shape (n, 2)."""
        return (logs - self.low) * self.scale

    def logs(self, points: np.ndarray) -> np.ndarray:
        """Logarithms from points of shape (n, 2)."""
        return points / self.scale + self.low


@dataclass(frozen=True)
class Triangle:
    """A placed triangle, in points.

    Attributes:
        order: the slope of its hypotenuse in the data's logarithms.
        corners: (3, 2); the right angle is the middle one.
        label: the lower left corner of the label's box.
    """

    order: float
    corners: np.ndarray
    label: np.ndarray


def frame_of(axes: Axes) -> Frame:
    """The frame of axes that are laid out; both scales logarithmic."""
    box = axes.get_window_extent()
    size = np.array([box.width, box.height]) * 72 / axes.figure.dpi
    limits = np.log10(np.array([axes.get_xlim(), axes.get_ylim()]))
    return Frame(limits[:, 0], size / (limits[:, 1] - limits[:, 0]), size)


def order_text(order: float) -> str:
    """The label of a triangle."""
    return f"order {order:.3g}"


def place(
    frame: Frame, curves: Mapping[float, Sequence[np.ndarray]], obstacles: Sequence[np.ndarray]
) -> list[Triangle] | None:
    """Find a place for one triangle per order.

    Args:
        frame: of the axes.
        curves: for each order the curves that declare it, logarithms of shape (n, 2), x increasing.
        obstacles: polylines in points, of shape (n, 2), that no triangle may touch.

    Returns:
        The triangles, or None if there is no room.
    """
    taken = [_dense(line) for line in obstacles]
    found: list[Triangle] = []
    for order in sorted(curves):
        tree = KDTree(np.concatenate(taken)) if taken else None
        fitting = (t for t in _candidates(frame, order, curves[order]) if _clear(frame, t, tree))
        triangle = next(fitting, None)
        if triangle is None:
            return None
        found.append(triangle)
        taken.append(_body(triangle))
    return found


def draw(axes: Axes, triangle: Triangle, frame: Frame) -> None:
    """Draw a triangle: the corners in data coordinates, so that its slope is the order exactly."""
    start, _, end = frame.logs(triangle.corners)
    x0, y0, x1 = 10.0 ** start[0], 10.0 ** start[1], 10.0 ** end[0]
    y1 = y0 * (x1 / x0) ** triangle.order
    below = triangle.corners[1][1] < triangle.corners[2][1]
    corner = (x1, y0) if below else (x0, y1)
    patch = Polygon(
        [(x0, y0), corner, (x1, y1)],
        closed=True,
        facecolor="0.93",
        edgecolor="0.25",
        linewidth=0.8,
        zorder=2,
        gid=f"slope-triangle-{triangle.order:g}",
    )
    axes.add_patch(patch)
    axes.annotate(
        order_text(triangle.order),
        (0, 0),
        xycoords="axes fraction",
        xytext=tuple(triangle.label),
        textcoords="offset points",
        fontsize=SMALL,
        color="0.2",
        va="bottom",
        gid="slope-label",
    )


def _candidates(frame: Frame, order: float, curves: Sequence[np.ndarray]) -> Iterator[Triangle]:
    """Triangles near the curves, close ones and those below first; then anywhere."""
    for shrink in (1.0, 0.7):
        run = shrink * min(0.15 * frame.size[0], 0.24 * frame.size[1] * _flatness(frame, order))
        for gap in _GAPS:
            for below in (True, False):
                for curve in curves:
                    for start in _starts(frame, curve, run):
                        yield from _beside(frame, order, curve, start, run, gap, below)
    run = 0.7 * min(0.15 * frame.size[0], 0.24 * frame.size[1] * _flatness(frame, order))
    rise = run / _flatness(frame, order)
    for y in np.linspace(_CLEAR + 12, frame.size[1] - rise - _CLEAR, 12):
        for x in np.linspace(frame.size[0] - run - 50, _CLEAR, 14):
            yield from _labelled(order, np.array([x, y]), run, rise, True)


def _flatness(frame: Frame, order: float) -> float:
    """Points along x per point along y, on a line of this order."""
    return frame.scale[0] / (frame.scale[1] * order)


def _starts(frame: Frame, curve: np.ndarray, run: float) -> list[float]:
    """Where a triangle may start beneath a curve, the middle first; in points."""
    x = frame.points(curve)[:, 0]
    middle = (x[0] + x[-1] - run) / 2
    return sorted(np.linspace(x[0] - run / 2, x[-1] - run / 2, 13), key=lambda s: abs(s - middle))


def _beside(
    frame: Frame,
    order: float,
    curve: np.ndarray,
    start: float,
    run: float,
    gap: float,
    below: bool,
) -> Iterator[Triangle]:
    """The triangle whose hypotenuse keeps ``gap`` from the curve over its run."""
    points = frame.points(curve)
    rise = run / _flatness(frame, order)
    x = np.linspace(0.0, run, 9)
    y = np.interp(start + x, points[:, 0], points[:, 1]) - x * rise / run
    away = gap * math.hypot(run, rise) / run
    level = y.min() - away if below else y.max() + away
    yield from _labelled(order, np.array([start, level]), run, rise, below)


def _labelled(
    order: float, start: np.ndarray, run: float, rise: float, below: bool
) -> Iterator[Triangle]:
    """The triangle with its label beside the vertical leg, or along the horizontal one."""
    end = start + (run, rise)
    corner = np.array([end[0], start[1]] if below else [start[0], end[1]])
    corners = np.array([start, corner, end])
    wide, high = _label_size(order)
    middle = (start + end) / 2
    if below:
        places = [(end[0] + 3, middle[1] - high / 2), (middle[0] - wide / 2, start[1] - high - 2)]
    else:
        places = [(start[0] - wide - 3, middle[1] - high / 2), (middle[0] - wide / 2, end[1] + 2)]
    for label in places:
        yield Triangle(order, corners, np.array(label))


def _label_size(order: float) -> tuple[float, float]:
    return 72 * width(order_text(order), SMALL), 1.2 * SMALL


def _body(triangle: Triangle) -> np.ndarray:
    """Points that fill the triangle and its label."""
    a, b = np.meshgrid(np.linspace(0, 1, 14), np.linspace(0, 1, 14))
    inside = (a + b <= 1 + 1e-9).ravel()
    a, b = a.ravel()[inside, None], b.ravel()[inside, None]
    first, corner, last = triangle.corners
    body = corner + a * (first - corner) + b * (last - corner)
    u, v = np.meshgrid(np.linspace(0, 1, 8), np.linspace(0, 1, 4))
    size = np.array(_label_size(triangle.order))
    label = triangle.label + np.stack([u.ravel(), v.ravel()], -1) * size
    return np.concatenate([body, label])


def _clear(frame: Frame, triangle: Triangle, tree: KDTree | None) -> bool:
    """Whether all of it is inside the axes and away from everything else."""
    body = _body(triangle)
    if np.any(body < 3) or np.any(body > frame.size - 3):
        return False
    return tree is None or tree.query(body)[0].min() >= _CLEAR


def _dense(line: np.ndarray) -> np.ndarray:
    """The polyline as points at most three points apart."""
    pieces = [line[:1]]
    for first, last in zip(line[:-1], line[1:], strict=True):
        count = max(2, math.ceil(math.dist(first, last) / 3))
        pieces.append(first + np.linspace(0, 1, count)[:, None] * (last - first))
    return np.concatenate(pieces)

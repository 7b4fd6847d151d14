"""What the literal scheme tends to when its constraints are disjoint: one spike per token."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from experiments.figures.coordinate import Coordinate
from experiments.figures.header import header
from experiments.figures.legend import legend_beside
from experiments.figures.style import COLOURS, MARKERS, WIDTH, canvas, freeze, styled
from experiments.figures.ticks import log_limits
from experiments.figures.words import plain, wrapped

_HIGH = 2.0


@dataclass(frozen=True)
class Profile:
    """u(x0, .) at the last time.

    Attributes:
        name: what differs, e.g. "dt = 1/512" or "16 cells in y".
        y: the feature nodes with their interval.
        values: one per node.
    """

    name: str
    y: Coordinate
    values: Sequence[float] | np.ndarray

    def __post_init__(self) -> None:
        """Check the shape.

        Raises:
            ValueError: if it is not that of the nodes.
        """
        if np.shape(self.values) != np.shape(self.y.nodes):
            raise ValueError(
                f"profile {self.name!r}: expected {len(self.y.nodes)} values, one per node, got "
                f"shape {np.shape(self.values)}"
            )


@styled
def render(
    by_step: Sequence[Profile],
    by_grid: Sequence[Profile] = (),
    *,
    token: str = "x0",
    mean: float = 0.0,
    deviation: float = 1.0,
    title: str = "",
    ill_posed: Sequence[str] = (),
) -> Figure:
    """Draw profiles for several time steps, for several grids, and the height over the grid.

    A function of the given mean and deviation on N equal cells is at most
    mean + deviation sqrt(N - 1), and then it is one spike: dashed in the last panel.

    Args:
        by_step: profiles on one grid, for several steps.
        by_grid: profiles for several grids, or none.
        token: where, e.g. "x0 = 0.5".
        mean: sigma1.
        deviation: sigma2.
        title: of the figure.
        ill_posed: reasons why the problem is ill-posed; they are written above the figure.

    Raises:
        ValueError: if there is no profile.
    """
    groups = [
        (words, group)
        for words, group in (("the time step refined", by_step), ("the grid refined", by_grid))
        if group
    ]
    if not groups:
        raise ValueError("expected at least one profile to draw, got none")
    heights = len({len(profile.y.nodes) for profile in by_grid}) > 1
    rows = len(groups) + heights
    figure = canvas(WIDTH, rows * _HIGH + 0.3)
    for k, (words, group) in enumerate(groups):
        axes = figure.add_subplot(rows, 1, k + 1)
        _profiles(axes, group, token)
        axes.set_title(words, fontsize=9, loc="left")
        axes.set_xlabel(wrapped(group[0].y.title, 4.0, 9))
    if heights:
        _heights(figure.add_subplot(rows, 1, rows), by_grid, mean, deviation)
    figure.align_ylabels()
    header(figure, title, ill_posed)
    return freeze(figure)


def _profiles(axes: Axes, profiles: Sequence[Profile], token: str) -> None:
    """Step functions, constant on the cells; the first ones wide, so that equal ones are seen."""
    for k, profile in enumerate(profiles):
        values = np.asarray(profile.values, dtype=float)
        axes.stairs(
            values,
            profile.y.edges,
            baseline=None,
            color=COLOURS[k % len(COLOURS)],
            linewidth=1.0 + min(0.8 * (len(profiles) - 1 - k), 3.2),
            label=" " + profile.name,
        )
    axes.axhline(0.0, color="0.35", linewidth=0.8, linestyle=":", zorder=1, label=" u = 0")
    axes.set_xlim(*profiles[0].y.interval)
    axes.set_ylabel(wrapped(f"u({token}, y)", _HIGH - 0.5, 9))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6))
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    axes.yaxis.set_major_formatter(FuncFormatter(plain))
    legend_beside(axes, 1.3)


def _heights(axes: Axes, profiles: Sequence[Profile], mean: float, deviation: float) -> None:
    """The largest value over the number of cells, and the largest possible one."""
    sizes = np.array([len(profile.y.nodes) for profile in profiles])
    order = np.argsort(sizes, kind="stable")
    tops = np.array([np.nanmax(np.append(profile.values, -np.inf)) for profile in profiles])
    tops = np.where(np.isfinite(tops), tops, np.nan)
    axes.plot(sizes[order], tops[order], color=COLOURS[0], marker=MARKERS[0], markersize=5,
              linestyle="none", label=" measured")  # fmt: skip
    low, high = log_limits(sizes.astype(float), least=4.0, margin=0.08)
    cells = np.geomspace(max(low, 1.0), high, 100)
    axes.plot(cells, mean + deviation * np.sqrt(cells - 1), color="0.3", linestyle="--",
              linewidth=1.0, label=f" one spike: {_bound(mean, deviation)}")  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.xaxis.set_minor_locator(NullLocator())
    shown = sorted(set(sizes.tolist()))
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_major_formatter(FixedFormatter([f"{size}" for size in shown]))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(plain))
    axes.set_xlabel("number N of cells in y")
    axes.set_ylabel("largest value of u")
    axes.set_title("grid dependence of the height", fontsize=9, loc="left")
    axes.grid(True, color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    legend_beside(axes, 1.3)


def _bound(mean: float, deviation: float) -> str:
    factor = "" if math.isclose(deviation, 1.0) else f"{deviation:g} "
    start = "" if mean == 0 else f"{mean:g} + "
    return f"{start}{factor}sqrt(N \N{MINUS SIGN} 1)"

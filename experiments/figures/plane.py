"""The state over a two-dimensional Omega_x: maps over (x1, x2) of a few features at several t."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from experiments.figures.coordinate import Coordinate
from experiments.figures.header import header
from experiments.figures.legend import legend_below
from experiments.figures.maps import draw_bar, draw_map, explain, panel, spread
from experiments.figures.scales import state_scale
from experiments.figures.state import check_times
from experiments.figures.style import canvas, freeze, styled
from experiments.figures.words import distinct, wrapped

MOST_TIMES = 4
MOST_FEATURES = 3


@styled
def render(
    states: np.ndarray,
    times: Sequence[float],
    x: tuple[Coordinate, Coordinate],
    y: Coordinate,
    *,
    title: str = "",
    label: str = "u",
    ill_posed: Sequence[str] = (),
) -> Figure:
    """Draw up to four times (columns) of up to three features (rows) with one colour scale.

    Args:
        states: (time, x1, x2, y).
        times: one per state.
        x: the two coordinates of Omega_x; x1 is drawn to the right, x2 upwards, both to
            the same measure unless one is more than 2.5 times longer.
        y: the feature coordinates, of which a few are chosen evenly.
        title: of the figure.
        label: of the colour bar, with a unit if there is one.
        ill_posed: reasons why the problem is ill-posed; they are written above the figure.

    Raises:
        ValueError: if shapes do not fit, or there is no state.
    """
    states = check_times(states, times, 4)
    if states.shape[3] != len(y.nodes):
        raise ValueError(f"expected {len(y.nodes)} features (last axis), got {states.shape[3]}")
    columns, rows = spread(len(times), MOST_TIMES), spread(len(y.nodes), MOST_FEATURES)
    shown = states[columns][..., rows]
    scale = state_scale(shown)
    ratio = float(np.clip(np.ptp(x[1].interval) / np.ptp(x[0].interval), 0.4, 2.5))
    across, high = panel(len(columns), len(rows), ratio)
    figure = canvas(max(len(columns) * across + 1.6, 4.0), len(rows) * high + 0.7, compressed=True)
    names = distinct([float(times[k]) for k in columns])
    levels = distinct([float(y.nodes[k]) for k in rows])
    drawn = []
    for i in range(len(rows)):
        for j in range(len(columns)):
            axes = figure.add_subplot(len(rows), len(columns), i * len(columns) + j + 1)
            drawn.append((axes, draw_map(axes, shown[j, :, :, i], *x, scale, across)))
            axes.set_box_aspect(ratio)
            if i == 0:
                axes.set_title(f"t = {names[j]}", fontsize=9)
            axes.tick_params(labelbottom=i == len(rows) - 1, labelleft=j == 0)
            if i == len(rows) - 1:
                axes.set_xlabel(wrapped(x[0].title, across, 9))
            if j == 0:
                words = wrapped(x[1].title, high, 9)
                axes.set_ylabel(f"y = {levels[i]}\n{words}")
    draw_bar(figure, drawn[0][1], [axes for axes, _ in drawn], wrapped(label, 3.0, 9), scale)
    legend_below(figure, *explain(shown, scale))
    header(figure, title, ill_posed)
    return freeze(figure)

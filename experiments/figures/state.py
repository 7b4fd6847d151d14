"""The state u(x, y) at several t as heat maps over (x, y)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from experiments.figures.coordinate import Coordinate
from experiments.figures.header import header
from experiments.figures.legend import legend_below
from experiments.figures.maps import draw_bar, draw_map, explain, spread
from experiments.figures.scales import state_scale
from experiments.figures.style import WIDTH, canvas, freeze, styled
from experiments.figures.words import distinct, wrapped

MOST = 6


@styled
def render(
    states: np.ndarray,
    times: Sequence[float],
    x: Coordinate,
    y: Coordinate,
    *,
    title: str = "",
    label: str = "u",
    ill_posed: Sequence[str] = (),
) -> Figure:
    """Draw up to six states with one colour scale.

    Args:
        states: (time, x, y); of more than six, six are drawn, the first and the last among them.
        times: one per state.
        x: the token positions, drawn to the right.
        y: the feature coordinates, drawn upwards.
        title: of the figure.
        label: of the colour bar, with a unit if there is one.
        ill_posed: reasons why the problem is ill-posed; they are written above the figure.

    Raises:
        ValueError: if shapes do not fit, or there is no state.
    """
    states = check_times(states, times, 3)
    chosen = spread(len(times), MOST)
    scale = state_scale(states[chosen])
    columns = {1: 1, 2: 2, 4: 2}.get(len(chosen), 3)
    rows = -(-len(chosen) // columns)
    figure = canvas(WIDTH, {1: 3.2, 2: 4.2}[rows])
    names = distinct([float(times[k]) for k in chosen])
    drawn = []
    for place, k in enumerate(chosen):
        axes = figure.add_subplot(rows, columns, place + 1)
        drawn.append((axes, draw_map(axes, states[k], x, y, scale, 5.0 / columns - 0.3)))
        axes.set_title(f"t = {names[place]}", fontsize=9)
        if place + columns < len(chosen):
            axes.tick_params(labelbottom=False)
        else:
            axes.set_xlabel(wrapped(x.title, WIDTH / columns - 0.6, 9))
        if place % columns:
            axes.tick_params(labelleft=False)
        else:
            axes.set_ylabel(wrapped(y.title, 1.7, 9))
    for axes, _ in drawn[len(drawn) - columns : (rows - 1) * columns]:
        axes.xaxis.set_in_layout(False)  # Nothing is below: its labels need no room of their own.
    draw_bar(figure, drawn[0][1], [axes for axes, _ in drawn], wrapped(label, 3.0, 9), scale)
    legend_below(figure, *explain(states[chosen], scale))
    header(figure, title, ill_posed)
    return freeze(figure)


def check_times(values: np.ndarray, times: Sequence[float], dimensions: int) -> np.ndarray:
    """The values as an array with ``times`` along its first axis.

    Raises:
        ValueError: if there are none, or the shape is another one.
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != dimensions or len(values) != len(times) or not values.size:
        raise ValueError(
            f"expected an array of {dimensions} axes whose first has one entry for each of "
            f"{len(times)} times, got shape {values.shape}"
        )
    return values

"""The attention kernel gamma(x, x~) of several heads at several t."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from experiments.figures.coordinate import Coordinate
from experiments.figures.header import header
from experiments.figures.legend import legend_below
from experiments.figures.maps import draw_bar, draw_map, explain, panel, spread
from experiments.figures.scales import kernel_scale
from experiments.figures.state import check_times
from experiments.figures.style import canvas, freeze, styled
from experiments.figures.words import distinct, with_unit, wrapped

MOST_TIMES = 4
MOST_HEADS = 4


@styled
def render(
    kernels: np.ndarray,
    times: Sequence[float],
    heads: Sequence[str],
    query: Coordinate,
    key: Coordinate,
    *,
    title: str = "",
    unit: str = "1/|x|",
    ill_posed: Sequence[str] = (),
) -> Figure:
    """Draw gamma, a density over the keys, at up to four times (rows) of up to four heads.

    The colours are linear from zero, or logarithmic where the kernel is strongly peaked.

    Args:
        kernels: (time, head, query, key), not negative.
        times: one per kernel.
        heads: one name per head.
        query: x, drawn to the right.
        key: x~, drawn upwards.
        title: of the figure.
        unit: of gamma, which is one over that of x.
        ill_posed: reasons why the problem is ill-posed; they are written above the figure.

    Raises:
        ValueError: if shapes do not fit, or a value is negative.
    """
    kernels = check_times(kernels, times, 4)
    if kernels.shape[1] != len(heads):
        raise ValueError(f"expected {len(heads)} heads (second axis), got {kernels.shape[1]}")
    if np.any(kernels < 0):
        raise ValueError(f"expected gamma >= 0, got {np.nanmin(kernels)}; pass gamma, not scores")
    rows, columns = spread(len(times), MOST_TIMES), spread(len(heads), MOST_HEADS)
    shown = kernels[rows][:, columns]
    scale = kernel_scale(shown)
    across, high = panel(len(columns), len(rows), 1.0)
    figure = canvas(max(len(columns) * across + 1.6, 4.0), len(rows) * high + 0.7, compressed=True)
    names = distinct([float(times[k]) for k in rows])
    drawn = []
    for i in range(len(rows)):
        for j in range(len(columns)):
            axes = figure.add_subplot(len(rows), len(columns), i * len(columns) + j + 1)
            drawn.append((axes, draw_map(axes, shown[i, j], query, key, scale, across)))
            axes.set_box_aspect(1)
            if i == 0:
                axes.set_title(wrapped(heads[columns[j]], across - 0.1, 9), fontsize=9)
            axes.tick_params(labelbottom=i == len(rows) - 1, labelleft=j == 0)
            if i == len(rows) - 1:
                axes.set_xlabel(with_unit("query $x$", query.unit))
            if j == 0:
                axes.set_ylabel(f"t = {names[i]}\n" + with_unit(r"key $\tilde{x}$", key.unit))
    label = rf"attention kernel $\gamma(x, \tilde{{x}})$ ({wrapped(unit, 2.0, 9)})"
    draw_bar(figure, drawn[0][1], [axes for axes, _ in drawn], label, scale)
    legend_below(figure, *explain(shown, scale))
    header(figure, title, ill_posed)
    return freeze(figure)

"""How many clusters the tokens form, over the depth t and the inverse temperature beta."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from experiments.figures.header import header
from experiments.figures.legend import legend_below
from experiments.figures.scales import SEQUENTIAL
from experiments.figures.style import COLOURS, MARKERS, WIDTH, canvas, freeze, styled
from experiments.figures.words import distinct, plain, wrapped

#: Up to so many betas are drawn as curves, more as a map.
MOST_CURVES = 7
ANGLE = "final angle of each token (rad)"


@styled
def render(
    times: Sequence[float],
    betas: Sequence[float],
    counts: np.ndarray,
    angles: np.ndarray | None = None,
    *,
    title: str = "",
    time_label: str = "depth t",
    angle_label: str = ANGLE,
    ill_posed: Sequence[str] = (),
) -> Figure:
    """Draw the cluster count over t for every beta, and where the tokens end.

    Args:
        times: increasing.
        betas: the inverse temperatures, increasing.
        counts: (beta, time), whole numbers; NaN where there is none.
        angles: (beta, token) in (-pi, pi], at the last time; a dot per token.
        title: of the figure.
        time_label: with a unit if there is one.
        angle_label: with its unit.
        ill_posed: reasons why the problem is ill-posed; they are written above the figure.

    Raises:
        ValueError: if the shapes do not fit.
    """
    counts = np.asarray(counts, dtype=float)
    if counts.shape != (len(betas), len(times)) or not counts.size:
        raise ValueError(
            f"expected counts of shape (beta, time) = ({len(betas)}, {len(times)}), got "
            f"{counts.shape}"
        )
    if angles is not None and (np.ndim(angles) != 2 or len(angles) != len(betas)):
        raise ValueError(
            f"expected angles of shape (beta, token) with {len(betas)} betas, got "
            f"{np.shape(angles)}"
        )
    panels = 1 if angles is None else 2
    figure = canvas(WIDTH, max(3.0, 0.17 * len(betas) + 1.2))
    left = figure.add_subplot(1, panels, 1)
    names = distinct([float(beta) for beta in betas])
    t = np.array(times, dtype=float)
    if len(betas) <= MOST_CURVES:
        handles = _curves(left, t, counts)
        labels = [f"beta = {name}" for name in names]
    else:
        _map(figure, left, t, names, counts)
        lost = not np.all(np.isfinite(counts))
        handles = [Patch(facecolor="0.55", edgecolor="0.3")] if lost else []
        labels = ["grey: no count"] if lost else []
    left.set_xlabel(wrapped(time_label, 2.6, 9))
    if angles is not None:
        right = figure.add_subplot(1, panels, 2)
        _angles(right, names, np.asarray(angles, float), len(betas) <= MOST_CURVES)
        right.set_xlabel(wrapped(angle_label, 2.6, 9))
    left.xaxis.set_major_formatter(FuncFormatter(plain))
    legend_below(figure, handles, labels)
    header(figure, title, ill_posed)
    return freeze(figure)


def _curves(axes: Axes, t: np.ndarray, counts: np.ndarray) -> list:
    """Steps; the first are wide and the last narrow, so that equal counts are all seen."""
    handles = []
    every = max(1, len(t) // 12)
    for k, row in enumerate(counts):
        handles += axes.plot(
            t,
            row,
            drawstyle="steps-post",
            color=COLOURS[k % len(COLOURS)],
            linewidth=1.0 + 0.5 * (len(counts) - 1 - k),
            marker=MARKERS[k % len(MARKERS)],
            markersize=3.5 + 0.5 * (len(counts) - 1 - k),
            markevery=slice((k * every) // len(counts), None, every),
        )
    finite = counts[np.isfinite(counts)]
    top = finite.max() if finite.size else 1.0
    if top > 20:
        axes.set_yscale("log", base=2)
        axes.set_ylim(0.9, 1.15 * top)
        ticks = [2.0**k for k in range(int(np.log2(top)) + 1)]
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_locator(FixedLocator(ticks))
        axes.yaxis.set_major_formatter(FixedFormatter([f"{tick:g}" for tick in ticks]))
    else:
        axes.set_ylim(min(0.5, finite.min(initial=1) - 0.5), top + 0.5)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    axes.set_ylabel("number of clusters")
    axes.grid(True, which="major", color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    return handles


def _map(
    figure: Figure, axes: Axes, t: np.ndarray, names: Sequence[str], counts: np.ndarray
) -> None:
    """One row per beta, colours for counts."""
    step = float(np.median(np.diff(t))) if len(t) > 1 else 1.0
    edges = np.concatenate([t, [t[-1] + step]])
    finite = counts[np.isfinite(counts)]
    low, top = (finite.min(), finite.max()) if finite.size else (1.0, 2.0)
    top = max(top, low + 1)
    norm = LogNorm(low, top) if low > 0 and top > 20 else Normalize(low, top)
    mesh = axes.pcolormesh(
        edges,
        np.arange(len(names) + 1) - 0.5,
        np.ma.masked_invalid(counts),
        cmap=SEQUENTIAL,
        norm=norm,
        rasterized=True,
    )
    axes.set_facecolor("0.55")
    _rows(axes, names)
    bar = figure.colorbar(mesh, ax=axes, label="number of clusters", aspect=28, pad=0.02)
    if isinstance(norm, LogNorm):
        ticks = [2.0**k for k in range(12) if low <= 2.0**k <= top]
    else:
        ticks = [v for v in MaxNLocator(integer=True, nbins=8).tick_values(low, top)
                 if low <= v <= top]  # fmt: skip
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.ax.yaxis.set_major_locator(FixedLocator(ticks))
    bar.ax.yaxis.set_major_formatter(FixedFormatter([f"{tick:g}" for tick in ticks]))


def _angles(axes: Axes, names: Sequence[str], angles: np.ndarray, coloured: bool) -> None:
    """A row of dots per beta; where tokens meet, the dot is dark."""
    for k, row in enumerate(angles):
        here = row[np.isfinite(row)]
        colour = COLOURS[k % len(COLOURS)] if coloured else COLOURS[0]
        axes.plot(here, np.full(len(here), k), linestyle="none", marker="|", markersize=9,
                  markeredgewidth=1.2, color=colour, alpha=0.6)  # fmt: skip
    _rows(axes, names)
    axes.set_xlim(-np.pi - 0.15, np.pi + 0.15)
    axes.xaxis.set_major_locator(FixedLocator([-np.pi, -np.pi / 2, 0, np.pi / 2, np.pi]))
    axes.xaxis.set_major_formatter(FixedFormatter(["−π", "−π/2", "0", "π/2", "π"]))
    axes.grid(True, axis="x", color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """Betas upwards, of many not each one labelled."""
    axes.set_ylim(-0.5, len(names) - 0.5)
    shown = range(0, len(names), max(1, -(-len(names) // 14)))
    axes.yaxis.set_major_locator(FixedLocator([float(k) for k in shown]))
    axes.yaxis.set_major_formatter(FixedFormatter([names[k] for k in shown]))
    axes.set_ylabel("inverse temperature beta")

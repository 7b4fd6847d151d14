"""Heat maps with one scale, one colour bar and labels at the outer axes only."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colorbar import Colorbar
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator

from experiments.figures.coordinate import Coordinate
from experiments.figures.scales import Scale
from experiments.figures.style import WIDTH
from experiments.figures.ticks import log_ticks
from experiments.figures.words import distinct, plain, width

_LOST = "0.55"
_MOST = 2048
_STEPS = [1, 2, 2.5, 5, 10]


def draw_map(
    axes: Axes,
    values: np.ndarray,
    across: Coordinate,
    up: Coordinate,
    scale: Scale,
    inches: float = 2.0,
) -> AxesImage:
    """Draw values of shape (across, up); every node's colour reaches half way to its neighbours.

    Values that are not finite are grey.  ``inches`` is about the width, so that ticks fit.

    Raises:
        ValueError: if the shape is not that of the coordinates.
    """
    expected = (len(across.nodes), len(up.nodes))
    if values.shape != expected:
        raise ValueError(
            f"expected values of shape {expected} over ({across.label}, {up.label}), got "
            f"{values.shape}"
        )
    pixels = values[np.ix_(_nearest(across), _nearest(up))].T
    lost = ~np.isfinite(pixels)
    hidden = lost | (pixels == 0) if scale.blank_zeros else lost
    extent = (*across.interval, *up.interval)
    shared = {"origin": "lower", "extent": extent, "aspect": "auto"}
    image = axes.imshow(
        np.ma.masked_array(pixels, hidden), cmap=scale.cmap, norm=scale.norm, **shared
    )
    if lost.any():
        axes.imshow(np.ma.masked_array(lost, ~lost), cmap=ListedColormap([_LOST]), **shared)
    for spine in axes.spines.values():
        spine.set_visible(True)
    widest = max(width(f"{end:g}", 9.0) for end in (*across.interval, across.interval[1] / 4))
    bins = int(np.clip(inches / (widest + 0.15), 1, 4))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=bins, steps=_STEPS))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=_STEPS))
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    axes.yaxis.set_major_formatter(FuncFormatter(plain))
    return image


def _nearest(coordinate: Coordinate) -> np.ndarray:
    """For each pixel along the coordinate the index of the node whose cell it lies in."""
    edges = coordinate.edges
    sizes = np.diff(edges)
    count = len(sizes)
    if sizes.max() - sizes.min() <= 1e-6 * sizes.max():
        return np.arange(count)
    # Cells of different sizes: nodes at the ends, for instance, have half a cell.
    fine = min(max(round(float(np.ptp(edges) / sizes.min())), count) * 2, max(_MOST, count))
    middles = edges[0] + np.ptp(edges) * (np.arange(fine) + 0.5) / fine
    return np.clip(np.searchsorted(edges, middles) - 1, 0, count - 1)


def draw_bar(figure: Figure, image: AxesImage, axes: Sequence[Axes], label: str, scale: Scale):
    """The colour bar beside all axes, its ticks as long as it takes to tell them apart."""
    bar: Colorbar = figure.colorbar(
        image,
        ax=list(axes),
        label=label,
        extend="min" if scale.clipped else "neither",
        aspect=28,
        pad=0.015,
    )
    low, high = scale.norm.vmin or 0.0, 1.0 if scale.norm.vmax is None else scale.norm.vmax
    if isinstance(scale.norm, LogNorm):
        major, texts, minor = log_ticks(low, high)
        bar.ax.yaxis.set_minor_locator(FixedLocator(minor))
    else:
        found = MaxNLocator(nbins=7, steps=[1, 2, 5, 10]).tick_values(low, high)
        major = [float(v) for v in found if low <= v <= high]
        texts = [text.replace("-", "\N{MINUS SIGN}") for text in distinct(major)]
    bar.ax.yaxis.set_major_locator(FixedLocator(major))
    bar.ax.yaxis.set_major_formatter(FixedFormatter(texts))
    if len(label) <= 3:
        bar.ax.yaxis.label.set(rotation=0, va="center")
    bar.outline.set_linewidth(0.6)  # pyright: ignore
    return bar


def explain(values: np.ndarray, scale: Scale) -> tuple[list[Patch], list[str]]:
    """Legend entries for colours that no colour bar explains."""
    found = []
    if scale.blank_zeros:
        found.append((Patch(facecolor="white", edgecolor="0.3"), "white: exactly zero"))
    if not np.all(np.isfinite(values)):
        found.append((Patch(facecolor=_LOST, edgecolor="0.3"), "grey: not finite"))
    return [patch for patch, _ in found], [text for _, text in found]


def panel(columns: int, rows: int, ratio: float) -> tuple[float, float]:
    """Width and height in inches of panels of a given ratio (height / width) that fit a page."""
    across = min((WIDTH - 1.6) / columns, 3.0, 6.0 / rows / ratio)
    return across, across * ratio


def spread(count: int, most: int) -> list[int]:
    """At most ``most`` of ``count`` indices, evenly, the first and the last among them."""
    return sorted({round(k) for k in np.linspace(0, count - 1, min(count, most))})

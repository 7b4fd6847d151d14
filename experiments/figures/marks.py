"""Values on a logarithmic axis that has no place for zero, infinity and NaN.

Exact zeros stand, hollow, at the bottom; values that are not finite are crosses at the top.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

ZERO = "hollow, on the bottom line: exactly zero"
LOST = "cross, at the top: not finite"


def draw_zeros(
    axes: Axes, x: np.ndarray, values: np.ndarray, colour: str, marker: str, size: float = 5.0
) -> None:
    """A hollow marker at the bottom for every exact zero."""
    here = x[values == 0]
    if here.size:
        axes.plot(
            here,
            np.zeros(here.size),
            transform=axes.get_xaxis_transform(),
            **_style(colour, marker, size),
            markerfacecolor="none",
            gid="zeros",
        )


def draw_lost(
    axes: Axes, x: np.ndarray, values: np.ndarray, colour: str, size: float = 5.0
) -> None:
    """A cross at the top for every value that is not finite."""
    here = x[~np.isfinite(values)]
    if here.size:
        axes.plot(
            here,
            np.ones(here.size),
            transform=axes.get_xaxis_transform(),
            **_style(colour, "x", size),
            gid="not-finite",
        )


def explain(values: np.ndarray, log: bool = True) -> tuple[list[Line2D], list[str]]:
    """Legend entries for those of the special marks that occur among the values."""
    found = []
    if log and np.any(values == 0):
        found.append((Line2D([], [], **_style("0.3", "o"), markerfacecolor="none"), ZERO))
    if not np.all(np.isfinite(values)):
        found.append((Line2D([], [], **_style("0.3", "x")), LOST))
    return [handle for handle, _ in found], [label for _, label in found]


def _style(colour: str, marker: str, size: float = 5.0) -> dict[str, Any]:
    return {
        "linestyle": "none",
        "marker": marker,
        "markersize": size,
        "markeredgewidth": 1.0,
        "color": colour,
        "clip_on": False,
        "zorder": 4,
    }

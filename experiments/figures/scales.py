"""Which colours mean which values.

Both maps are read by colour-blind people too: viridis rises evenly in lightness; the red and the
blue of RdBu are told apart in every common form of colour blindness and are equally light on both
sides of white.
"""

from dataclasses import dataclass

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import Colormap, LogNorm, Normalize

SEQUENTIAL = "viridis"
DIVERGING = "RdBu_r"
#: How far below the largest value a logarithmic scale reaches.
_RANGE = 1e-4
#: A kernel whose largest value is so many times its median is drawn on a logarithmic scale.
_PEAKED = 20.0


@dataclass(frozen=True)
class Scale:
    """Colours for values, one for several pictures.

    Attributes:
        cmap: transparent where there is no value.
        norm: values -> [0, 1].
        clipped: whether there are positive values below the scale.
        blank_zeros: whether exact zeros are left white.
    """

    cmap: Colormap
    norm: Normalize
    clipped: bool = False
    blank_zeros: bool = False


def state_scale(values: np.ndarray) -> Scale:
    """The scale of states: centred at zero if they change sign, else from least to largest."""
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    size = max(abs(low), abs(high))
    if low < -1e-9 * size and high > 1e-9 * size:
        return Scale(_map(DIVERGING), Normalize(-size, size))
    if high - low <= 1e-15 * size:
        half = 0.5 * size or 0.5
        low, high = low - half, high + half
    return Scale(_map(SEQUENTIAL), Normalize(low, high))


def kernel_scale(values: np.ndarray) -> Scale:
    """The scale of kernels >= 0: logarithmic over four decades if they are strongly peaked.

    Exact zeros, which a mask or an underflow leaves, are white.
    """
    positive = values[np.isfinite(values) & (values > 0)]
    zeros = bool(np.any(values == 0))
    top = positive.max() if positive.size else 1.0
    if positive.size and top > _PEAKED * np.median(positive):
        low = max(positive.min(), _RANGE * top)
        return Scale(_map(SEQUENTIAL), LogNorm(low, top), bool(positive.min() < low), zeros)
    return Scale(_map(SEQUENTIAL), Normalize(0.0, top), False, zeros)


def _map(name: str) -> Colormap:
    return colormaps[name].with_extremes(bad=(0, 0, 0, 0))

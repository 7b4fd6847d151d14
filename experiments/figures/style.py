"""The look that all figures share."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

#: Okabe and Ito's palette: told apart by colour-blind readers too.  Their yellow is left out, being
#: hard to see on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: A second sign beside the colour; as 7 and 8 have no common factor, 56 curves differ.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")

STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.frameon": False,
    "svg.hashsalt": "transformer-continuum",
}

#: Inches.
WIDTH = 6.5
SMALL = 7.5

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def styled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Run ``function`` under matplotlib's defaults and ``STYLE``, whatever the user has set."""

    @functools.wraps(function)
    def wrapper(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with style.context(["default", STYLE]):
            return function(*args, **kwargs)

    return wrapper


def canvas(width: float, height: float, compressed: bool = False) -> Figure:
    """An empty figure, drawn by Agg; pyplot and its state stay out of it.

    Args:
        width: in inches.
        height: in inches.
        compressed: axes of a fixed shape move together, instead of standing far apart.
    """
    figure = Figure(figsize=(width, height), layout="compressed" if compressed else "constrained")
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.09, h_pad=0.06)  # pyright: ignore
    return figure


def freeze(figure: Figure) -> Figure:
    """Lay the figure out once and for all, so that every file shows the same arrangement."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure

"""Observables over the depth t: violations on a logarithmic scale, energy and others below."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from experiments.figures.header import header
from experiments.figures.legend import legend_below, legend_beside
from experiments.figures.marks import draw_lost, draw_zeros, explain
from experiments.figures.style import COLOURS, MARKERS, WIDTH, canvas, freeze, styled
from experiments.figures.ticks import log_limits, log_ticks, set_log
from experiments.figures.words import plain, wrapped

VIOLATIONS = "constraint violation"
_HIGH = 1.45
_FEW = 40
#: A linear panel whose values differ by less than this, relatively, shows the change instead.
_STEADY = 1e-4

#: A change that is this small, relatively, is round-off and not worth a scale of its own.
_ROUND_OFF = 1e-13


@dataclass(frozen=True)
class Panel:
    """Curves that share an axis.

    Attributes:
        label: of the axis, with a unit if there is one.
        values: name -> one value per time.
        log: logarithmic; then the values are not negative, and exact zeros stand at the bottom.
    """

    label: str
    values: Mapping[str, Sequence[float] | np.ndarray]
    log: bool = False


def violations(values: Mapping[str, Sequence[float] | np.ndarray]) -> Panel:
    """The panel of the constraints' violations, one curve per constraint."""
    return Panel(VIOLATIONS, values, log=True)


@styled
def render(
    times: Sequence[float],
    panels: Sequence[Panel],
    *,
    title: str = "",
    time_label: str = "depth t",
    ill_posed: Sequence[str] = (),
) -> Figure:
    """Draw the panels above each other over one time axis.

    A linear panel whose values hardly change shows the change since the first time, in its label.

    Args:
        times: increasing.
        panels: at least one, from top to bottom; those without curves are left out.
        title: of the figure.
        time_label: with a unit if there is one.
        ill_posed: reasons why the problem is ill-posed; they are written above the figure.

    Raises:
        ValueError: if there is nothing to draw, lengths differ, or a logarithmic value is negative.
    """
    shown = [(panel, _arrays(panel, times)) for panel in panels if panel.values]
    if not shown:
        raise ValueError("expected at least one panel with a curve, got none")
    t = np.array(times, dtype=float)
    figure = canvas(WIDTH, len(shown) * _HIGH + (0.9 if len(shown) == 1 else 0.4))
    first = None
    for k, (panel, curves) in enumerate(shown):
        axes = figure.add_subplot(len(shown), 1, k + 1, sharex=first)
        first = first or axes
        _panel(axes, panel, t, curves)
        axes.tick_params(labelbottom=k == len(shown) - 1)
        if k == len(shown) - 1:
            axes.set_xlabel(wrapped(time_label, 5.0, 9))
            axes.xaxis.set_major_formatter(FuncFormatter(plain))
    figure.align_ylabels()
    logs = [v for panel, curves in shown if panel.log for v in curves.values()]
    everything = np.concatenate([v for _, curves in shown for v in curves.values()])
    zero = explain(np.concatenate(logs)) if logs else ([], [])
    lost = explain(everything, log=False)
    entries = dict(zip(zero[1] + lost[1], zero[0] + lost[0], strict=True))
    legend_below(figure, list(entries.values()), list(entries))
    header(figure, title, ill_posed)
    return freeze(figure)


def _arrays(panel: Panel, times: Sequence[float]) -> dict[str, np.ndarray]:
    found = {name: np.array(values, dtype=float) for name, values in panel.values.items()}
    for name, values in found.items():
        if values.shape != (len(times),) or not len(times):
            raise ValueError(
                f"{name!r} in {panel.label!r}: expected {len(times)} values, one per time and at "
                f"least one, got shape {values.shape}"
            )
        if panel.log and np.any(values < 0):
            raise ValueError(
                f"{name!r} in {panel.label!r}: expected values >= 0 on a logarithmic axis, got "
                f"{np.nanmin(values)}; use log=False"
            )
    return found


def _panel(axes: Axes, panel: Panel, t: np.ndarray, curves: dict[str, np.ndarray]) -> None:
    label, names = panel.label, list(curves)
    if not panel.log and _steady(curves):
        starts = {name: _start(values) for name, values in curves.items()}
        names = [f"{name} (starts at {starts[name]:.6g})" for name in curves]
        if len(names) == 1:
            label, names = f"{label} \N{MINUS SIGN} {starts[next(iter(curves))]:.6g}", [""]
        else:
            label = f"change of {label}"
        curves = {name: values - starts[name] for name, values in curves.items()}
    for k, values in enumerate(curves.values()):
        _curve(axes, t, values, k, names[k], panel.log)
    if panel.log:
        _log_axis(axes, np.concatenate(list(curves.values())))
    else:
        _linear_axis(axes, np.concatenate(list(curves.values())))
    axes.set_ylabel(wrapped(label, _HIGH - 0.25, 9))
    axes.set_xlim(*_time_limits(t))
    axes.grid(True, which="major", color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    if len(names) > 1 or names[0] not in ("", panel.label):
        legend_beside(axes, 1.3)


def _start(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return float(finite[0]) if finite.size else 0.0


def _steady(curves: Mapping[str, np.ndarray]) -> bool:
    """Whether every curve changes, but by so little that an axis could not say it."""
    values = [v[np.isfinite(v)] for v in curves.values()]
    ranges = [(np.ptp(v), np.abs(v).max()) for v in values if v.size]
    return any(change > _ROUND_OFF * size for change, size in ranges) and all(
        change < _STEADY * size or size == 0 for change, size in ranges
    )


def _curve(axes: Axes, t: np.ndarray, values: np.ndarray, k: int, name: str, log: bool) -> None:
    """One curve: a line, and markers where they are few; later ones thinner, to show both."""
    colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
    shown = np.isfinite(values) & (values > 0 if log else True)
    alone = shown & ~np.roll(shown, 1) & ~np.roll(shown, -1)
    style: dict[str, Any] = {"color": colour, "marker": marker, "markersize": max(5.0 - 0.7 * k, 3)}
    every = max(1, -(-len(t) // (_FEW // 2)))
    axes.plot(
        t,
        np.where(shown, values, np.nan),
        linewidth=max(2.2 - 0.35 * k, 0.9),
        linestyle=("-", "--", "-.", ":")[k % 4],
        markevery=slice((k * every) // 4, None, every),
        label=" " + name,
        **style,
    )
    if alone.any():
        axes.plot(t[alone], values[alone], linestyle="none", **style)
    some = _thin(t, values == 0)
    if log:
        draw_zeros(axes, t[some], values[some], colour, marker, max(6.5 - 1.0 * k, 3.5))
    some = _thin(t, ~np.isfinite(values))
    draw_lost(axes, t[some], values[some], colour, max(6.5 - 1.0 * k, 3.5))


def _thin(t: np.ndarray, here: np.ndarray) -> np.ndarray:
    """Indices of some of the places: so many that their signs do not run into each other."""
    found = np.flatnonzero(here)
    slots = np.floor(_FEW * (t[found] - t[0]) / (t[-1] - t[0] or 1.0))
    return found[np.unique(slots, return_index=True)[1]]


def _time_limits(t: np.ndarray) -> tuple[float, float]:
    low, high = float(np.nanmin(t)), float(np.nanmax(t))
    pad = 0.015 * (high - low) or 0.5 * abs(low) or 0.5
    return low - pad, high + pad


def _log_axis(axes: Axes, values: np.ndarray) -> None:
    axes.set_yscale("log")
    low, high = log_limits(values[np.isfinite(values)], least=12.0, margin=0.1)
    axes.set_ylim(low, high)
    set_log(axes.yaxis, log_ticks(low, high, count=5))


def _linear_axis(axes: Axes, values: np.ndarray) -> None:
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    pad = 0.08 * (high - low) or 0.1 * abs(low) or 1.0
    axes.set_ylim(low - pad, high + pad)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
    axes.yaxis.set_major_formatter(FuncFormatter(plain))

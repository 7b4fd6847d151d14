"""Ticks of logarithmic axes that can be read over any range."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.axis import Axis
from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter

from experiments.figures.words import numbers, scientific, width

Ticks = tuple[list[float], list[str], list[float]]


def log_limits(values: np.ndarray, least: float, margin: float = 0.06) -> tuple[float, float]:
    """Limits around positive values.

    Args:
        values: finite; those that are not positive do not count.
        least: the smallest ratio of the limits.
        margin: on each side, as a fraction of the logarithmic range.
    """
    positive = values[values > 0]
    if positive.size == 0:
        return 1.0 / least, 1.0
    low, high = math.log10(positive.min()), math.log10(positive.max())
    pad = max(margin * (high - low), (math.log10(least) - (high - low)) / 2, 0.0)
    return 10.0 ** max(low - pad, -307.0), 10.0 ** min(high + pad, 307.0)


def log_ticks(low: float, high: float, count: int = 7) -> Ticks:
    """Major ticks, their labels, and minor ticks between two positive limits.

    Over two decades and more the powers of ten are labelled, below 1, 2, 5 or finer.
    """
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if math.log10(high) - math.log10(low) >= 2:
        stride = max(1, math.ceil((last - first + 1) / count))
        exponents = range(first + (-first) % stride, last + 1, stride)
        minor = [10.0**k for k in range(first, last + 1)]
        if stride == 1:
            minor = _multiples(low, high, range(2, 10))
        return [10.0**k for k in exponents], [scientific("1", k) for k in exponents], minor
    for steps in ((1, 2, 5), (1, 2, 3, 4, 5, 6, 8), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)):
        major = _multiples(low, high, steps)
        if len(major) >= 3:
            break
    minor = sorted(set(_multiples(low, high, range(1, 10))) - set(major))
    return major, numbers(major), minor


def _multiples(low: float, high: float, steps: Sequence[float]) -> list[float]:
    exponents = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    values = [float(f"{step}e{k}") for k in exponents for step in steps]
    return [value for value in values if low <= value <= high]


def step_ticks(steps: Sequence[float], low: float, high: float, inches: float) -> Ticks:
    """Ticks at the step sizes themselves if they are 1/n or whole, like 1, 1/2, 1/4.

    Args:
        steps: positive.
        low: of the axis.
        high: of the axis.
        inches: the length of the axis; labels that would touch are left out.
    """
    values = sorted(set(steps))
    fractions = [Fraction(value).limit_denominator(99_999) for value in values]
    simple = all(
        f > 0 and 1 in (f.numerator, f.denominator) and math.isclose(f, v, rel_tol=1e-9)
        for f, v in zip(fractions, values, strict=True)
    )
    if not simple or len(set(fractions)) < len(values) or len(values) < 2:
        return log_ticks(low, high)
    scale = inches / (math.log10(high) - math.log10(low))
    needed = max(width(str(f), 9.0) for f in fractions) + 0.1
    kept = [len(values) - 1]
    for k in range(len(values) - 2, -1, -1):
        if math.log10(values[kept[-1]] / values[k]) * scale >= needed:
            kept.append(k)
    if len(kept) < 2:
        return log_ticks(low, high)
    major = [values[k] for k in kept]
    return major, [str(fractions[k]) for k in kept], sorted(set(values) - set(major))


def set_log(axis: Axis, ticks: Ticks) -> None:
    """Put the ticks on an axis whose scale is logarithmic already."""
    major, labels, minor = ticks
    axis.set_major_locator(FixedLocator(_sequence(major)))
    axis.set_major_formatter(FixedFormatter(labels))
    axis.set_minor_locator(FixedLocator(_sequence(minor)))
    axis.set_minor_formatter(NullFormatter())


def _sequence(values: list[float]) -> Any:
    return np.array(values, dtype=float)

"""Ticks of logarithmic axes: few enough to read, enough to read off a value."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from experiments.figures.ticks import log_limits, log_ticks, step_ticks
from experiments.figures.words import distinct, numbers


def value(label):
    """The number that a label shows."""
    text = label.replace("$", "").replace("\\times", "*").replace("{", "(").replace("}", ")")
    mantissa, _, exponent = text.partition("10^(")
    if not exponent:
        return float(text)
    return float((mantissa.rstrip("*") or "1") + "e" + exponent.rstrip(")"))


@given(st.floats(-300, 299), st.floats(0.31, 300))
def test_two_to_nine_labels_that_tell_the_truth(low, decades):
    high = min(low + decades, 300.0)
    major, labels, minor = log_ticks(10.0**low, 10.0**high)
    assert 2 <= len(major) <= 12
    assert len(set(labels)) == len(labels)
    for tick, label in zip(major, labels, strict=True):
        assert math.isclose(value(label), tick, rel_tol=1e-12)
        assert 10.0**low * (1 - 1e-8) <= tick <= 10.0**high * (1 + 1e-8)
    assert not set(minor) & set(major) or high - low >= 2


def test_decades_above_two_decades_and_one_two_five_below():
    assert log_ticks(1e-5, 1e-1)[0] == [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
    assert log_ticks(0.09, 1.1)[:2] == ([0.1, 0.2, 0.5, 1.0], ["0.1", "0.2", "0.5", "1"])
    major = log_ticks(1e-30, 1.0)[0]
    assert np.ptp(np.diff(np.log10(major))) < 1e-9  # evenly spaced


def test_steps_that_would_touch_are_left_out():
    steps = [1 / 2**k for k in range(12)]
    roomy = step_ticks(steps, steps[-1], 1.0, 12.0)
    tight = step_ticks(steps, steps[-1], 1.0, 3.0)
    assert roomy[1] == [f"1/{2**k}" if k else "1" for k in range(12)]
    assert tight[1][0] == "1"
    assert 2 <= len(tight[1]) < 9
    assert sorted(tight[0] + tight[2]) == sorted(steps)


@given(st.lists(st.floats(1e-280, 1e280), min_size=1, max_size=8), st.floats(2, 20))
def test_limits_hold_everything_and_are_wide_enough(values, least):
    low, high = log_limits(np.array(values), least)
    assert low <= min(values) * (1 + 1e-9)
    assert high >= max(values) * (1 - 1e-9)
    assert high / low >= least * (1 - 1e-9)


@given(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=6,
                unique=True))  # fmt: skip
def test_distinct_numbers_look_distinct(values):
    values = [v for v in values if v != 0]
    texts = distinct(values)
    assert len(set(texts)) == len(values)
    assert all(math.isclose(float(t), v, rel_tol=6e-3) for t, v in zip(texts, values, strict=True))


def test_numbers_are_all_plain_or_all_scientific():
    assert numbers([0.005, 0.05]) == ["0.005", "0.05"]
    assert numbers([0.00005, 0.5]) == [r"$5\times10^{-5}$", r"$5\times10^{-1}$"]
    assert numbers([1e-6]) == ["$10^{-6}$"]

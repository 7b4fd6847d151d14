"""Heat maps: every value in its place, with the right colours and limits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import colormaps
from matplotlib.colors import LogNorm

from experiments.figures import attention, plane, state
from experiments.figures.coordinate import Coordinate, features, tokens
from experiments.figures.maps import spread
from experiments.figures.scales import kernel_scale, state_scale
from experiments.figures.style import COLOURS
from tests.experiments.figures.layout import assert_readable, legend_texts

NAN = float("nan")


def middles(count, lower=0.0, upper=1.0):
    return lower + (upper - lower) * (np.arange(count) + 0.5) / count


X, Y = tokens(middles(6), (0.0, 1.0)), features(middles(4, 0, 2), (0.0, 2.0))


def colour_at(axes, x, y):
    """What is drawn at a point: red, green and blue from the finished picture."""
    pixels = np.asarray(axes.figure.canvas.buffer_rgba())
    across, up = axes.transData.transform((x, y))
    return pixels[round(pixels.shape[0] - up - 0.5), round(across - 0.5), :3] / 255


def panels(figure):
    figure.canvas.draw()
    return [axes for axes in figure.axes if axes.get_title().startswith("t =")]


def test_each_value_is_drawn_at_its_x_and_y():
    """Read the picture back: colour at the node (x_i, y_j) is that of states[i, j]."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((2, 6, 4))
    figure = state.render(values, [0.0, 1.0], X, Y)
    size = np.abs(values).max()
    for axes, expected in zip(panels(figure), values, strict=True):
        for i, x in enumerate(X.nodes):
            for j, y in enumerate(Y.nodes):
                colour = colormaps["RdBu_r"]((expected[i, j] / size + 1) / 2)[:3]
                # 256 colours per channel, and 256 in the map.
                assert colour_at(axes, x, y) == pytest.approx(colour, abs=0.03)


def test_nodes_at_the_ends_have_half_a_cell():
    x = tokens(np.array([0.0, 0.5, 1.0]), (0.0, 1.0))
    assert x.edges.tolist() == [0.0, 0.25, 0.75, 1.0]
    values = np.array([[[0.0] * 4, [1.0] * 4, [2.0] * 4]])
    (axes,) = panels(state.render(values, [0.0], x, Y))
    seen = [colour_at(axes, place, 1.0) for place in (0.22, 0.28, 0.72, 0.78)]
    expected = [colormaps["viridis"](level)[:3] for level in (0.0, 0.5, 0.5, 1.0)]
    assert np.abs(np.array(seen) - expected).max() < 0.02


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20))
def test_scales_of_states(values):
    scale = state_scale(np.array([*values, NAN]))
    low, high = min(values), max(values)
    vmin, vmax = scale.norm.vmin, scale.norm.vmax
    size = max(abs(low), abs(high))
    if low < -1e-6 * size and high > 1e-6 * size:
        assert -vmin == vmax == size
        assert scale.cmap.name == "RdBu_r"
    elif low >= 0 or high <= 0:
        assert scale.cmap.name == "viridis"
    assert vmin < vmax
    assert vmin <= low <= high <= vmax


def test_all_panels_and_the_bar_share_the_limits():
    values = np.stack([np.full((6, 4), -1.0), np.linspace(0, 3, 24).reshape(6, 4)])
    figure = state.render(values, [0.0, 1.0], X, Y)
    limits = [axes.images[0].get_clim() for axes in panels(figure)]
    assert limits == [(-3.0, 3.0)] * 2
    bar = next(axes for axes in figure.axes if axes.get_ylabel() == "u")
    assert bar.get_ylim() == (-3.0, 3.0)
    assert_readable(figure)


@pytest.mark.parametrize(("count", "drawn"), [(1, 1), (2, 2), (5, 5), (6, 6), (400, 6)])
def test_up_to_six_times_from_the_first_to_the_last(count, drawn):
    times = np.linspace(0, 2, count)
    values = np.broadcast_to(times[:, None, None], (count, 6, 4))
    figure = state.render(values, times.tolist(), X, Y, title="Many times " * 12)
    titles = [axes.get_title() for axes in panels(figure)]
    assert len(titles) == len(set(titles)) == drawn
    assert titles[0] == "t = 0"
    assert titles[-1] == ("t = 2" if count > 1 else "t = 0")
    assert_readable(figure)


@given(st.integers(1, 500), st.integers(1, 12))
def test_spread_is_even(count, most):
    chosen = spread(count, most)
    assert len(chosen) == min(count, most)
    assert chosen[0] == 0
    assert most == 1 or chosen[-1] == count - 1
    assert np.ptp(np.diff(chosen)) <= 1 if len(chosen) > 1 else True


def test_lost_values_are_grey_and_explained():
    values = np.ones((2, 6, 4))
    values[0, 2, 3], values[1] = NAN, math.inf
    figure = state.render(values, [0.0, 1.0], X, Y, ill_posed=("no solution",))
    first, second = panels(figure)
    grey = pytest.approx([0.55] * 3, abs=0.01)
    assert colour_at(first, X.nodes[2], Y.nodes[3]) == grey
    assert colour_at(second, X.nodes[0], Y.nodes[0]) == grey
    assert colour_at(first, X.nodes[1], Y.nodes[3]) != grey
    assert legend_texts(figure) == ["grey: not finite"]
    assert_readable(figure)


@pytest.mark.parametrize(
    "values", [0.25 + np.zeros((2, 6, 4)), 1 + 1e-13 * np.arange(48.0).reshape(2, 6, 4)]
)
def test_constant_and_nearly_constant_states(values):
    figure = state.render(values, [0.0, 1e-9], X, Y)
    bar = next(axes for axes in figure.axes if axes.get_ylabel() == "u")
    labels = [label.get_text() for label in bar.get_yticklabels()]
    assert len(labels) == len(set(labels)) >= 3
    assert_readable(figure)


def test_planes_over_x1_and_x2():
    """A state that is x1 + 10 x2 + 100 y, read back."""
    x1 = Coordinate(middles(3), (0.0, 1.0), "token position x1")
    x2 = Coordinate(middles(5, 0, 2), (0.0, 2.0), "token position x2")
    y = features(middles(7), (0.0, 1.0))
    one = x1.nodes[:, None, None] + 10 * x2.nodes[None, :, None] + 100 * y.nodes[None, None, :]
    figure = plane.render(np.stack([one] * 6), range(6), (x1, x2), y)
    assert_readable(figure)
    figure.canvas.draw()
    maps = [axes for axes in figure.axes if axes.images]
    assert len(maps) == 12  # four times, three features
    norm = maps[0].images[0].norm
    for row, k in enumerate((0, 3, 6)):
        for i, j in ((0, 0), (2, 1), (1, 4)):
            expected = colormaps["viridis"](norm(one[i, j, k]))[:3]
            seen = colour_at(maps[4 * row + 1], x1.nodes[i], x2.nodes[j])
            assert seen == pytest.approx(expected, abs=0.03)
    box = maps[0].get_window_extent()
    assert box.height / box.width == pytest.approx(2.0, rel=0.01)  # the same measure on both axes


def gaussians(width, count=16, causal=False):
    x = middles(count)
    kernel = np.exp(-(((x[:, None] - x[None, :]) / width) ** 2))
    kernel = np.where(causal & (x[None, :] > x[:, None]), 0.0, kernel)
    return kernel / kernel.mean(axis=1, keepdims=True)


def test_kernels_of_moderate_size_are_linear_from_zero():
    scale = kernel_scale(gaussians(1.0))
    assert not isinstance(scale.norm, LogNorm)
    assert scale.norm.vmin == 0
    assert scale.norm.vmax == gaussians(1.0).max()


def test_peaked_kernels_are_logarithmic_over_four_decades():
    scale = kernel_scale(gaussians(0.1))
    assert isinstance(scale.norm, LogNorm)
    assert scale.clipped
    assert scale.norm.vmax / scale.norm.vmin == pytest.approx(1e4)


def test_query_is_to_the_right_key_upwards_and_masked_keys_are_white():
    coordinate = tokens(middles(16), (0.0, 1.0))
    kernels = np.stack([np.stack([gaussians(2.0, causal=True)] * 2)] * 3)
    figure = attention.render(
        kernels, (0.0, 0.5, 1.0), ("head 1", "a head with a long name"), coordinate, coordinate
    )
    assert_readable(figure)
    figure.canvas.draw()
    maps = [axes for axes in figure.axes if axes.images]
    assert len(maps) == 6
    assert colour_at(maps[0], 0.22, 0.78).min() == 1.0  # x~ > x: white
    assert colour_at(maps[0], 0.78, 0.22).min() < 0.9
    assert legend_texts(figure) == ["white: exactly zero"]
    assert [axes.get_ylabel().split("\n")[0] for axes in maps[::2]] == ["t = 0", "t = 0.5", "t = 1"]
    assert maps[-1].get_xlabel() == "query $x$"
    assert any("(1/|x|)" in axes.get_ylabel() for axes in figure.axes)


def test_many_peaked_heads_with_lost_values():
    coordinate = tokens(middles(16), (0.0, 1.0), "cells")
    kernels = np.stack([np.stack([gaussians(0.3 / (h + 1)) for h in range(6)]) for _ in range(9)])
    kernels[-1] = NAN
    figure = attention.render(
        kernels, range(9), [f"head {h}" for h in range(6)], coordinate, coordinate, unit="1/cells"
    )
    assert_readable(figure)
    assert len([axes for axes in figure.axes if axes.images]) == 16
    assert "grey: not finite" in legend_texts(figure)


def test_what_does_not_fit_is_refused():
    good = np.zeros((2, 6, 4))
    with pytest.raises(ValueError, match=r"shape \(6, 4\)"):
        state.render(good[:, :5], [0.0, 1.0], X, Y)
    with pytest.raises(ValueError, match="2 axes|3 axes"):
        state.render(good, [0.0], X, Y)
    with pytest.raises(ValueError, match="expected 4 features"):
        plane.render(np.zeros((1, 6, 6, 3)), [0.0], (X, X), Y)
    with pytest.raises(ValueError, match="gamma >= 0"):
        attention.render(-np.ones((1, 1, 6, 6)), [0.0], ["h"], X, X)
    with pytest.raises(ValueError, match="expected 2 heads"):
        attention.render(np.ones((1, 1, 6, 6)), [0.0], ["h", "i"], X, X)
    with pytest.raises(ValueError, match="in the interval"):
        tokens(np.array([0.0, 2.0]), (0.0, 1.0))
    with pytest.raises(ValueError, match="increasing nodes"):
        tokens(np.array([0.5, 0.5]), (0.0, 1.0))


def test_colours_survive_colour_blindness():
    """Machado et al. (2009), severity 1: the palette's colours stay apart, and so do red and blue.

    Distances are Euclidean in CIE L*a*b*; 10 is about what neighbouring patches need.
    """
    machado = {
        "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                       [-0.003882, -0.048116, 1.051998]],
        "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                         [-0.011820, 0.042940, 0.968881]],
    }  # fmt: skip
    palette = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in COLOURS])
    ends = np.array([colormaps["RdBu_r"](level)[:3] for level in (0.05, 0.95)])
    for matrix in machado.values():
        for colours in (palette, ends):
            seen = np.array([_lab(np.array(matrix) @ _linear(c)) for c in colours])
            away = np.linalg.norm(seen[:, None] - seen[None], axis=-1)
            assert away[~np.eye(len(colours), dtype=bool)].min() > 10


def _linear(colour):
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def _lab(linear):
    """CIE L*a*b* (D65) of linear sRGB."""
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722],
                    [0.0193, 0.1192, 0.9505]]) @ np.clip(linear, 0, 1)  # fmt: skip
    f = np.cbrt(np.maximum(xyz / [0.9505, 1.0, 1.089], 1e-9))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])

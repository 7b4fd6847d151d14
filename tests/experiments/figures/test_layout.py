"""The checks of readability fail where a figure is not readable; text that is fine passes."""

import pytest

from experiments.figures.convergence import Curve, render
from experiments.figures.style import canvas
from tests.experiments.figures.layout import assert_readable, assert_triangles_clear


def figure_with(*places):
    figure = canvas(3.0, 2.0)
    for k, (x, y) in enumerate(places):
        figure.text(x, y, f"text {k}")
    figure.draw_without_rendering()
    return figure


def test_text_apart_passes():
    assert_readable(figure_with((0.1, 0.2), (0.1, 0.6)))


@pytest.mark.parametrize("places", [((0.1, 0.2), (0.15, 0.22)), ((0.95, 0.5),), ((0.1, 0.99),)])
def test_overlapping_or_cut_text_is_noticed(places):
    with pytest.raises(AssertionError):
        assert_readable(figure_with(*places))


def test_a_triangle_on_a_curve_is_noticed():
    x, y = (0.1, 0.2, 0.4), (0.1, 0.2, 0.4)
    figure = render([Curve("lie", x, y, 1.0, 1.0)])
    assert_triangles_clear(figure, [(x, y)])
    (patch,) = figure.axes[0].patches
    corners = patch.get_xy()
    through = (corners[:, 0].min() * 0.9, corners[:, 0].max() * 1.1), (corners[:, 1].mean(),) * 2
    with pytest.raises(AssertionError):
        assert_triangles_clear(figure, [through])


def test_tick_labels_count():
    figure = canvas(1.2, 1.2)
    axes = figure.add_subplot()
    axes.set_xlim(0, 1)
    axes.set_xticks([0.0, 0.1, 0.2, 0.3], ["one label", "two labels", "three", "four"])
    figure.draw_without_rendering()
    with pytest.raises(AssertionError, match="overlaps"):
        assert_readable(figure)

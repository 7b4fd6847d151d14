"""The convergence figure says what was measured, and its triangles have the declared slopes."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.figures import depth
from experiments.figures.convergence import Curve, legend_text, render
from experiments.figures.words import lines, width
from tests.experiments.figures.layout import (
    assert_readable,
    assert_triangles_clear,
    legend_texts,
    texts,
    triangles,
)

NAN = float("nan")
STEPS = tuple(1 / n for n in (8, 16, 32, 64, 128, 256))


def curve(name, order, factor, declared, steps=STEPS, floor=0.0, **fields):
    """Errors factor * h^order above a floor, and numpy's own fit."""
    h = np.array(steps)
    errors = np.maximum(factor * h**order, floor)
    used = errors > floor
    fitted = float(np.polyfit(np.log(h[used]), np.log(errors[used]), 1)[0])
    return Curve(name, steps, tuple(errors), declared, fitted, tuple(used.tolist()), **fields)


RULES = [
    curve("left", 1, 0.5, 1),
    curve("midpoint", 2, 0.3, 2),
    curve("trapezoid", 2, 0.6, 2),
    curve("simpson", 4, 2.0, 4, floor=3e-9),
    curve("periodic", 9, 3e5, math.inf, floor=1e-14),
]


def slopes(figure):
    """Rise over run of each triangle in logarithms, and whether its legs are straight."""
    found = {}
    for gid, corners in triangles(figure).items():
        start, corner, end = np.log10(corners)
        assert np.isclose(corner[0], end[0]) or np.isclose(corner[0], start[0])
        assert np.isclose(corner[1], end[1]) or np.isclose(corner[1], start[1])
        found[float(gid.rsplit("-", 1)[1])] = (end[1] - start[1]) / (end[0] - start[0])
    return found


def test_one_triangle_per_declared_order_with_that_slope():
    figure = render(RULES, axis="cell size h", norm="L2 error", round_off=1e-14, title="Rules")
    found = slopes(figure)
    assert sorted(found) == [1, 2, 4]  # none for "faster than any power"
    for order, slope in found.items():
        assert slope == pytest.approx(order, rel=1e-9)  # logarithms of float64 corners
    assert_triangles_clear(figure, [(c.steps, c.errors) for c in RULES])
    assert_readable(figure)
    entries = legend_texts(figure)
    assert entries[:3] == [
        "left: 1.00 (declared 1)",
        "midpoint: 2.00 (declared 2)",
        "trapezoid: 2.00 (declared 2)",
    ]
    assert entries[4] == "periodic: 9.00 (declared faster than any power)"
    assert "round-off level 1.0e-14" in entries
    assert "hollow: not used in the fit" in entries


def test_the_fitted_line_is_the_least_squares_line():
    rng = np.random.default_rng(3)
    h = np.array(STEPS)
    errors = h**2 * np.exp(0.2 * rng.standard_normal(len(h)))
    slope, shift = np.polyfit(np.log10(h), np.log10(errors), 1)
    figure = render([Curve("noisy", STEPS, tuple(errors), 2.0, float(slope))])
    (line,) = [line for line in figure.axes[0].lines if line.get_gid() == "fit-0"]
    x, y = np.log10(line.get_xdata()), np.log10(line.get_ydata())
    assert y == pytest.approx(shift + slope * x, abs=1e-12)  # float64, numbers of size 5
    assert x == pytest.approx(np.log10([h.min(), h.max()]))


def test_only_used_points_are_filled_and_fitted():
    floor = curve("simpson", 4, 2.0, 4, floor=3e-9)
    assert 2 <= sum(floor.used) < len(STEPS)
    figure = render([floor])
    (filled,) = [line for line in figure.axes[0].lines if line.get_gid() == "used-0"]
    (fit,) = [line for line in figure.axes[0].lines if line.get_gid() == "fit-0"]
    used = [h for h, here in zip(STEPS, floor.used, strict=True) if here]
    assert sorted(filled.get_xdata()) == sorted(used)
    assert fit.get_xdata() == pytest.approx([min(used), max(used)])


@pytest.mark.parametrize(
    ("declared", "fitted", "note", "expected"),
    [
        (2, 1.996, None, "name: 2.00 (declared 2)"),
        (1.5, 1.4, None, "name: 1.40 (declared 1.5)"),
        (None, 0.83, "positivity active", "name: 0.83 (no order declared); positivity active"),
        (None, None, None, "name: no order declared"),
        (4, None, None, "name: no order measured (declared 4)"),
        (math.inf, 14.2, None, "name: 14.20 (declared faster than any power)"),
    ],
)
def test_legend_has_measured_beside_declared(declared, fitted, note, expected):
    assert legend_text(Curve("name", (0.1,), (1.0,), declared, fitted, None, note)) == expected


def test_zeros_and_lost_values_are_shown_and_counted():
    steps = STEPS[:4]
    curves = [
        Curve("zeros", steps, (1e-2, 0.0, 1e-3, 0.0), 2.0, None),
        Curve("lost", steps, (NAN, 1e-2, 5e-3, math.inf), 1.0, None),
        Curve("nothing", steps, (NAN,) * 4, 4.0, None),
        Curve("exact", steps, (0.0,) * 4, 3.0, None),
    ]
    figure = render(curves)
    axes = figure.axes[0]
    zeros = [line.get_xdata().tolist() for line in axes.lines if line.get_gid() == "zeros"]
    lost = [line.get_xdata().tolist() for line in axes.lines if line.get_gid() == "not-finite"]
    assert [sorted(x) for x in zeros] == [sorted(steps[1::2]), sorted(steps)]
    assert [sorted(x) for x in lost] == [sorted((steps[0], steps[3])), sorted(steps)]
    assert sorted(slopes(figure)) == [1, 2]  # nothing to stand beside for 3 and 4
    entries = " ".join(legend_texts(figure))
    assert "zeros: no order measured (declared 2); 2 of 4 exactly zero" in entries
    assert "exact: no order measured (declared 3); 4 of 4 exactly zero" in entries
    assert "2 of 4 not finite" in entries
    assert "cross, at the top: not finite" in entries
    assert_readable(figure)


def test_a_remark_where_the_question_is_ill_posed():
    reasons = (
        "S1(0, 1) and S2 are disjoint: a function of mean 0 and deviation 1 has negative values",
        "self-convergence proves nothing",
    )
    flat = Curve("literal step", STEPS[:4], (0.32, 0.40, 0.34, 0.36), None, 0.02)
    figure = render([flat], ill_posed=reasons, title="Literal")
    assert_readable(figure)
    (remark,) = [text for text in figure.texts if text.get_gid() == "ill-posed"]
    words = " ".join(remark.get_text().split())
    assert words == f"ill-posed: {reasons[0]}; {reasons[1]}"
    assert slopes(figure) == {}
    plain = render([flat], title="Literal")
    assert not [text for text in plain.texts if text.get_gid() == "ill-posed"]
    # The axes keep their size: the remark makes the figure higher, it takes no room from them.
    heights = [f.axes[0].get_window_extent().height for f in (figure, plain)]
    assert heights[0] == pytest.approx(heights[1], abs=8)


@pytest.mark.parametrize(
    "curves",
    [
        [Curve("single", (0.1,), (0.02,), 1.0, None)],
        [Curve(f"same {k}", STEPS, (1e-3,) * 6, 1.0 + k, 0.0) for k in range(3)],
        [curve(f"a long study name, number {k}: " + "word " * 14, 1 + k % 4, 0.1 * (k + 1),
               1 + k % 4) for k in range(7)],
        [curve("narrow", 2, 1.0, 2, steps=(0.5, 0.51, 0.52))],
        [curve("wide", 2, 1e-200, 2, steps=tuple(10.0**-k for k in range(0, 40, 4)))],
        [curve(f"close {k}", 1, 1.02**k, 1 + k / 10) for k in range(5)],
    ],
    ids=["one point", "identical", "seven long", "narrow", "wide", "close"],
)  # fmt: skip
def test_hard_cases_stay_readable(curves):
    figure = render(curves, title="A title that is long " * 6, norm="max error over x, y and t")
    assert_readable(figure)
    assert sorted(slopes(figure)) == sorted({c.declared_order for c in curves})
    assert_triangles_clear(figure, [(c.steps, c.errors) for c in curves])
    xticks = [t.get_text() for t in figure.axes[0].get_xticklabels() if t.get_text()]
    assert len(xticks) >= 2


def test_step_sizes_are_written_as_fractions():
    figure = render([curve("lie", 1, 1.0, 1)])
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == [
        "1/8", "1/16", "1/32", "1/64", "1/128", "1/256",
    ]  # fmt: skip
    other = render([curve("h", 1, 1.0, 1, steps=tuple(2 * math.pi / n for n in (8, 16, 32, 64)))])
    labels = [t.get_text() for t in other.axes[0].get_xticklabels()]
    assert labels == ["0.1", "0.2", "0.5"]


logs = st.floats(-12, 2)
orders = st.sampled_from([None, 0.5, 1.0, 1.5, 2.0, 4.0, math.inf])


@given(st.lists(st.tuples(orders, logs, st.floats(-0.3, 5)), min_size=1, max_size=5))
def test_any_curves_have_all_their_triangles_clear_of_them(data):
    curves = [curve(f"curve {k}", p, 10.0**c, d) for k, (d, c, p) in enumerate(data)]
    figure = render(curves)
    expected = {c.declared_order for c in curves} - {None, math.inf}
    found = slopes(figure)
    assert sorted(found) == sorted(expected)
    assert all(np.isclose(order, slope, rtol=1e-9) for order, slope in found.items())
    assert_triangles_clear(figure, [(c.steps, c.errors) for c in curves])
    assert_readable(figure)


@given(st.text(max_size=60), st.text(max_size=200))
def test_any_text_is_a_name(name, title):
    """Dollar signs, backslashes, control characters, missing glyphs; warnings are errors."""
    figure = render([Curve(name, (0.1, 0.2), (0.1, 0.2), 1.0, 1.0)], title=title)
    assert_readable(figure)
    assert any("1.00 (declared 1)" in words for words in legend_texts(figure))


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126) | st.just(" "), max_size=80))
def test_broken_lines_keep_every_letter_and_fit(text):
    found = lines(text, 0.8, 9)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(width(line, 9) <= 0.8 for line in found)


def test_a_dollar_sign_is_drawn_as_one():
    figure = render([Curve("costs $5 or $6", (0.1, 0.2), (0.1, 0.2), 1.0, 1.0)])
    renderer = figure.canvas.get_renderer()
    (text,) = [t for t in figure.legends[0].get_texts()]
    assert text._preprocess_math(text.get_text())[0].strip().startswith("costs $5 or $6:")
    assert text._preprocess_math(text.get_text())[1] is False
    assert text.get_window_extent(renderer).width > 0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (((0.1, 0.2), (1.0,)), "one error .* per step"),
        (((0.1, 0.0), (1.0, 1.0)), "positive step sizes"),
        (((0.1, 0.2), (1.0, -1.0)), "errors >= 0"),
        (((0.1, 0.2), (1.0, 1.0), None, None, (True,)), "one error .* per step"),
    ],
)
def test_bad_curves_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Curve("name", *fields)


def test_no_curve_is_refused():
    with pytest.raises(ValueError, match="at least one curve"):
        render([])


def test_the_depth_figure_says_what_is_compared():
    steps = (1.0, 0.5, 0.25, 0.125)
    curves = [
        curve("affine-norm flow, piecewise constant", 1, 0.2, 1, steps=steps),
        Curve("naive stepping", steps, (0.9, 0.8, 1.1, 1.0), None, None, None, "no limit"),
    ]
    figure = depth.render(curves, title="MiniLM")
    axes = figure.axes[0]
    assert "dt/2" in axes.get_ylabel()
    assert "layers" in axes.get_xlabel()
    assert [t.get_text() for t in axes.get_xticklabels()] == ["1", "1/2", "1/4", "1/8"]
    assert legend_texts(figure)[1] == "naive stepping: no order declared; no limit"
    assert_readable(figure)
    assert_triangles_clear(figure, [(c.steps, c.errors) for c in curves])


def test_curves_differ_by_more_than_colour():
    figure = render([curve(f"{k}", 1 + k / 8, 1.0, None) for k in range(7)])
    signs = [(h.get_marker(), h.get_color()) for h in figure.legends[0].legend_handles]
    for sign, other in itertools.combinations(signs, 2):
        assert sign[0] != other[0]
        assert sign[1] != other[1]
    assert len(texts(figure)) > 10

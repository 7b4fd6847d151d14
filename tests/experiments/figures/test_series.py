"""Observables over t, cluster counts, and the spike of an incompatible study."""

import math

import numpy as np
import pytest

from experiments.figures import clusters, series, spike
from experiments.figures.coordinate import features
from experiments.figures.series import Panel, violations
from tests.experiments.figures.layout import assert_readable, legend_texts

NAN = float("nan")
T = np.linspace(0.0, 1.0, 11)


def with_gid(axes, gid):
    return [line for line in axes.lines if line.get_gid() == gid]


def test_zeros_stand_at_the_bottom_and_lost_values_at_the_top():
    mean = np.where(T < 0.35, 0.0, 1e-16)
    lost = np.where(T > 0.85, NAN, 1e-3)
    figure = series.render(
        T,
        [violations({"S1: mean": mean, "S2": lost}), Panel("energy", {"energy": 1 + T**2})],
        title="A run",
    )
    assert_readable(figure)
    first, second = figure.axes
    assert first.get_yscale() == "log"
    (zeros,) = with_gid(first, "zeros")
    assert zeros.get_xdata() == pytest.approx(T[mean == 0])
    assert set(zeros.get_ydata()) == {0.0}
    assert zeros.get_transform() == first.get_xaxis_transform()
    (crosses,) = with_gid(first, "not-finite")
    assert crosses.get_xdata() == pytest.approx(T[np.isnan(lost)])
    low, high = first.get_ylim()
    assert low < 1e-16 < 1e-3 < high
    (line,) = second.lines
    assert line.get_ydata() == pytest.approx(1 + T**2)
    assert legend_texts(figure)[:2] == [
        "hollow, on the bottom line: exactly zero",
        "cross, at the top: not finite",
    ]
    assert {"S1: mean", "S2"} <= set(legend_texts(figure))


def test_a_value_between_two_zeros_is_seen():
    values = np.zeros(11)
    values[4] = 1e-8
    axes = series.render(T, [violations({"S2": values})]).axes[0]
    drawn = [line for line in axes.lines if line.get_linestyle() == "None" and not line.get_gid()]
    assert [line.get_xdata().tolist() for line in drawn] == [[T[4]]]


def test_steady_values_are_drawn_as_changes():
    figure = series.render(
        T,
        [
            Panel("energy", {"energy": 2.5 + 1e-11 * T}),
            Panel("mean", {"first": 1 + 1e-9 * T, "second": 5 - 1e-9 * T}),
            Panel("constant", {"constant": np.full(11, 0.3)}),
            Panel("round-off", {"round-off": 2.5 + 1e-14 * T}),
        ],
    )
    energy, mean, constant, noise = figure.axes
    assert energy.get_ylabel() == "energy \N{MINUS SIGN} 2.5"
    # 2.5 has a spacing of 4.4e-16
    assert energy.lines[0].get_ydata() == pytest.approx(1e-11 * T, abs=5e-16)
    assert mean.get_ylabel() == "change of mean"
    assert "second (starts at 5)" in legend_texts(figure)
    assert constant.get_ylabel() == "constant"
    assert noise.get_ylabel() == "round-off"
    assert constant.get_ylim()[0] < 0.3 < constant.get_ylim()[1]
    assert_readable(figure)


def test_long_runs_and_many_curves_stay_readable():
    t = np.linspace(0, 10, 3001)
    moments = {f"moment {k} of the state": np.cos(k * t) for k in range(6)}
    lost = np.where(t > 6, NAN, np.cos(t))
    panels = [
        violations({"S1": np.exp(-t), "S2": np.maximum(0, np.sin(t))}),
        Panel("energy (per token)", {"energy (per token)": lost}),
        Panel("a user's observable with a very long name", moments),
    ]
    figure = series.render(t, panels, ill_posed=("the sets are disjoint",))
    assert_readable(figure)
    assert len(with_gid(figure.axes[1], "not-finite")[0].get_xdata()) <= 41
    # All values are in the lines, whatever signs were left out.
    assert len(figure.axes[0].lines[0].get_xdata()) == 3001


@pytest.mark.parametrize(
    "panel",
    [violations({"S1": [0.0]}), violations({"S1": [NAN]}), Panel("energy", {"energy": [0.5]})],
)
def test_one_time(panel):
    assert_readable(series.render([0.0], [panel, Panel("empty", {})]))


def test_bad_series_are_refused():
    with pytest.raises(ValueError, match="expected 11 values"):
        series.render(T, [Panel("energy", {"energy": T[:5]})])
    with pytest.raises(ValueError, match=">= 0 on a logarithmic axis"):
        series.render(T, [violations({"S1": T - 0.5})])
    with pytest.raises(ValueError, match="at least one panel"):
        series.render(T, [Panel("energy", {})])


def counts(betas, times, start):
    return np.array([np.maximum(np.ceil(start * np.exp(-times * 6 / (1 + k))), 1 + k // 3)
                     for k in range(betas)])  # fmt: skip


@pytest.mark.parametrize(("betas", "start"), [(1, 5), (5, 12), (7, 48)])
def test_cluster_counts_as_steps(betas, start):
    values = counts(betas, T, start)
    angles = np.linspace(-3, 3, betas)[:, None] + np.zeros((betas, 9))
    inverse = [2.0**k for k in range(betas)]
    figure = clusters.render(T, inverse, values, angles, title="Clusters")
    assert_readable(figure)
    left, right = figure.axes
    for line, row in zip(left.lines, values, strict=True):
        assert line.get_drawstyle() == "steps-post"
        assert line.get_ydata() == pytest.approx(row)
    assert legend_texts(figure) == [f"beta = {beta:g}" for beta in inverse]
    assert [line.get_xdata()[0] for line in right.lines] == pytest.approx(angles[:, 0])
    low, high = left.get_ylim()
    assert low < values.min()
    assert high > values.max()


@pytest.mark.parametrize("start", [6, 64])
def test_cluster_counts_of_many_betas_as_a_map(start):
    values = counts(16, T, start)
    values[2, 5:] = NAN
    figure = clusters.render(T, np.geomspace(1, 81, 16).tolist(), values)
    assert_readable(figure)
    (mesh,) = figure.axes[0].collections
    shown = np.ma.filled(mesh.get_array(), NAN).reshape(values.shape)
    assert np.array_equal(shown, values, equal_nan=True)
    assert legend_texts(figure) == ["grey: no count"]
    labels = [label.get_text() for label in figure.axes[1].get_yticklabels()]
    assert all(float(label) == int(label) for label in labels)


def test_clusters_of_the_wrong_shape_are_refused():
    with pytest.raises(ValueError, match=r"\(beta, time\) = \(2, 11\)"):
        clusters.render(T, [1.0, 2.0], np.ones((11, 2)))
    with pytest.raises(ValueError, match=r"\(beta, token\) with 1 betas"):
        clusters.render(T, [1.0], np.ones((1, 11)), np.ones(4))


def spiked(cells, name):
    y = (np.arange(cells) + 0.5) / cells
    values = np.full(cells, -1.0)
    values[cells // 3] = cells - 1.0
    values /= values.std()
    return spike.Profile(name, features(y, (0.0, 1.0)), values)


def test_the_spike_and_its_grid_dependence():
    by_step = [spiked(16, f"dt = 1/{n}") for n in (128, 256, 512)]
    by_grid = [spiked(n, f"{n} cells in y") for n in (8, 16, 32)]
    figure = spike.render(
        by_step, by_grid, token="x0 = 0.5", title="No limit", ill_posed=("disjoint sets",)
    )
    assert_readable(figure)
    steps, grids, heights = figure.axes
    stairs = [patch.get_data() for patch in grids.patches]
    assert [len(s.values) for s in stairs] == [8, 16, 32]
    assert stairs[1].edges == pytest.approx(np.linspace(0, 1, 17))
    measured = heights.lines[0]
    # A function of mean 0 and deviation 1 with one spike on N cells: sqrt(N - 1).
    assert measured.get_xdata().tolist() == [8, 16, 32]
    assert measured.get_ydata() == pytest.approx(np.sqrt([7, 15, 31]))
    bound = heights.lines[1]
    at = np.interp(math.log(16), np.log(bound.get_xdata()), bound.get_ydata())
    assert at == pytest.approx(math.sqrt(15), rel=1e-3)  # between two of 100 points of the line
    assert "one spike: sqrt(N \N{MINUS SIGN} 1)" in legend_texts(figure)
    assert steps.get_ylabel() == "u(x0 = 0.5, y)"


def test_spike_without_grids_and_without_anything():
    figure = spike.render([spiked(16, "dt = 1/8")])
    assert len(figure.axes) == 1
    assert_readable(figure)
    with pytest.raises(ValueError, match="at least one profile"):
        spike.render([])
    with pytest.raises(ValueError, match="expected 16 values"):
        spike.Profile("bad", spiked(16, "").y, np.ones(15))

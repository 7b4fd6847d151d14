"""Figures as files: whole, the same bytes again, whatever the user's matplotlib is set to."""

import subprocess
import sys
import xml.etree.ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.image import imread

from experiments.figures import saving, state
from experiments.figures.convergence import Curve, render
from experiments.figures.coordinate import features, tokens
from experiments.figures.saving import save


def curve_figure():
    return render([Curve("lie", (0.1, 0.05, 0.025), (0.1, 0.05, 0.025), 1.0, 1.0)], title="Lie")


def state_figure():
    nodes = (np.arange(8) + 0.5) / 8
    values = np.sin(5 * nodes[:, None] + 3 * nodes[None, :])[None]
    return state.render(values, [0.0], tokens(nodes, (0, 1)), features(nodes, (0, 1)))


@pytest.mark.parametrize("build", [curve_figure, state_figure])
def test_same_figure_same_bytes(build, tmp_path):
    first = save(build(), tmp_path / "a" / "dt = 0.5")
    assert [path.name for path in first] == ["dt = 0.5.png", "dt = 0.5.svg"]
    assert sorted(path.name for path in first[0].parent.iterdir()) == [p.name for p in first]
    with mpl.rc_context({"font.size": 20, "axes.grid": True, "svg.hashsalt": None,
                         "lines.linewidth": 9, "text.color": "red"}):  # fmt: skip
        again = save(build(), tmp_path / "b")
    for path, other in zip(first, again, strict=True):
        assert path.read_bytes() == other.read_bytes()
    assert xml.etree.ElementTree.fromstring(first[1].read_bytes()).tag.endswith("svg")
    assert b"<dc:date>" not in first[1].read_bytes()


def test_png_has_200_dots_per_inch_and_svg_the_same_size(tmp_path):
    figure = curve_figure()
    png, svg = save(figure, tmp_path / "figure")
    inches = figure.get_size_inches()
    assert imread(png).shape[1::-1] == tuple(np.round(200 * inches).astype(int))
    root = xml.etree.ElementTree.fromstring(svg.read_bytes())
    size = [float(root.get(key).removesuffix("pt")) / 72 for key in ("width", "height")]
    assert size == pytest.approx(inches, rel=1e-4)
    assert b"slope-triangle-1" in svg.read_bytes()


def test_a_failed_drawing_leaves_the_old_files(tmp_path, monkeypatch):
    paths = save(curve_figure(), tmp_path / "figure")
    before = [path.read_bytes() for path in paths]
    monkeypatch.setattr(saving, "encode", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save(state_figure(), tmp_path / "figure")
    assert [path.read_bytes() for path in paths] == before
    assert len(list(tmp_path.iterdir())) == 2


def test_drawing_needs_neither_jax_nor_pyplot():
    code = (
        "import sys\n"
        "from experiments.figures import attention, clusters, convergence, depth, plane, series\n"
        "from experiments.figures import saving, spike, state\n"
        "print(sorted({'jax', 'xarray', 'matplotlib.pyplot'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

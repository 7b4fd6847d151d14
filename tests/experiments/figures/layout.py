"""Where things stand on a finished figure, in pixels."""

import itertools

import numpy as np
from matplotlib.path import Path
from matplotlib.text import Text

#: Pixels of 0.01 inch: what two renderers of the same text may differ by.
SLACK = 1.0


def texts(figure):
    """Every visible text with something in it: (words, extent)."""
    renderer = figure.canvas.get_renderer()
    outside = _labels_outside(figure)
    return [
        (text.get_text(), text.get_window_extent(renderer))
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in outside
    ]


def _labels_outside(figure):
    """Tick labels beyond the limits exist, but are not drawn."""
    found = set()
    for axis in [axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]:
        drawn = {id(tick) for tick in axis._update_ticks()}
        for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
            if id(tick) not in drawn:
                found |= {id(tick.label1), id(tick.label2)}
    return found


def assert_readable(figure):
    """All text is inside the canvas, and no two pieces of it overlap."""
    found = texts(figure)
    wide, high = figure.canvas.get_width_height()
    for words, box in found:
        assert box.x0 > -SLACK, words
        assert box.y0 > -SLACK, words
        assert box.x1 < wide + SLACK, words
        assert box.y1 < high + SLACK, words
    for (words, box), (others, other) in itertools.combinations(found, 2):
        across = min(box.x1, other.x1) - max(box.x0, other.x0)
        up = min(box.y1, other.y1) - max(box.y0, other.y0)
        assert min(across, up) < SLACK, f"{words!r} overlaps {others!r}"
    assert_boxes_apart(figure)


def assert_boxes_apart(figure):
    """Axes, legends and the remark do not cover each other."""
    renderer = figure.canvas.get_renderer()
    boxes = [axes.get_window_extent(renderer) for axes in figure.axes]
    boxes += [legend.get_window_extent(renderer) for legend in figure.legends]
    boxes += [a.get_legend().get_window_extent(renderer) for a in figure.axes if a.get_legend()]
    boxes += [text.get_window_extent(renderer) for text in figure.texts]
    patches = [text.get_bbox_patch() for text in figure.texts]
    boxes += [patch.get_window_extent(renderer) for patch in patches if patch]
    boxed = [text.get_window_extent(renderer) for text in figure.texts if text.get_bbox_patch()]
    for box, other in itertools.combinations(boxes, 2):
        if any(np.array_equal(b.bounds, c.bounds) for b in boxed for c in (box, other)):
            continue  # The remark's text lies in its own box, which is compared instead.
        across = min(box.x1, other.x1) - max(box.x0, other.x0)
        up = min(box.y1, other.y1) - max(box.y0, other.y0)
        assert min(across, up) < SLACK, (box, other)


def triangles(figure):
    """The slope triangles' corners in data coordinates, by gid."""
    patches = [p for axes in figure.axes for p in axes.patches]
    return {
        p.get_gid(): p.get_xy()[:3]
        for p in patches
        if (p.get_gid() or "").startswith("slope-triangle")
    }


def assert_triangles_clear(figure, curves):
    """No triangle and no label of one touches a curve (x, y), in data coordinates."""
    axes = figure.axes[0]
    renderer = figure.canvas.get_renderer()
    shapes = [Path(axes.transData.transform(c)) for c in triangles(figure).values()]
    labels = [t for t in axes.texts if t.get_gid() == "slope-label"]
    assert len(labels) == len(shapes)
    boxes = [label.get_window_extent(renderer) for label in labels]
    for x, y in curves:
        order = np.argsort(x)
        points = np.stack([np.asarray(x, float)[order], np.asarray(y, float)[order]], -1)
        points = points[np.isfinite(points).all(1) & (points > 0).all(1)]
        if not len(points):
            continue
        pixels = axes.transData.transform(points)
        line = Path(pixels if len(pixels) > 1 else np.repeat(pixels, 2, axis=0))
        for shape in shapes:
            assert not shape.intersects_path(line, filled=False)
            assert not shape.contains_points(pixels).any()
        for box in boxes:
            assert not line.intersects_bbox(box, filled=False)
    for box, other in itertools.combinations(boxes, 2):
        assert not box.overlaps(other)
    for shape, box in itertools.product(shapes, boxes):
        assert not shape.intersects_bbox(box, filled=True)
    inside = axes.get_window_extent(renderer)
    for box in boxes:
        assert inside.x0 <= box.x0 <= box.x1 <= inside.x1
        assert inside.y0 <= box.y0 <= box.y1 <= inside.y1


def legend_texts(figure):
    """What the legends say, line breaks undone."""
    legends = [*figure.legends, *[a.get_legend() for a in figure.axes if a.get_legend()]]
    return [" ".join(t.get_text().split()) for legend in legends for t in legend.get_texts()]

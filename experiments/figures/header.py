"""What stands above the axes: the title, and a remark where the question has no answer."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from experiments.figures.words import wrapped

_TITLE = 10.0
_REMARK = 8.5
_LINE = 1.3 / 72  # inches per line and point of font size
_MARGIN = 0.12


def header(figure: Figure, title: str, ill_posed: Sequence[str] = ()) -> None:
    """Write the title and the remark, and make the figure higher by what they take.

    Args:
        figure: with its constrained layout, which keeps to the rest of the figure.
        title: may be empty.
        ill_posed: the reasons why the problem is ill-posed; none, no remark.
    """
    width, height = figure.get_size_inches()
    inner = width - 2 * _MARGIN
    title_text = wrapped(title, inner, _TITLE) if title.strip() else ""
    reasons = "ill-posed: " + "; ".join(ill_posed)
    remark = wrapped(reasons, inner - 0.25, _REMARK, "bold") if ill_posed else ""
    title_height = len(title_text.splitlines()) * _TITLE * _LINE
    remark_height = len(remark.splitlines()) * _REMARK * _LINE + (0.2 if remark else 0.0)
    extra = title_height + remark_height + (_MARGIN if title_text or remark else 0.0)
    total = height + extra
    figure.set_size_inches(width, total)
    figure.get_layout_engine().set(rect=(0, 0, 1, height / total))  # pyright: ignore
    left = _MARGIN / width
    if title_text:
        top = 1 - _MARGIN / 2 / total
        figure.text(left, top, title_text, fontsize=_TITLE, va="top", gid="title")
    if remark:
        # A box, bold letters and the word itself: seen without colours too.
        box = {"boxstyle": "square,pad=0.3", "facecolor": "#FBE3D6", "edgecolor": "#D55E00"}
        top = 1 - (_MARGIN + title_height + 0.05) / total
        figure.text(
            left + 0.05 / width,
            top,
            remark,
            fontsize=_REMARK,
            weight="bold",
            va="top",
            bbox=box,
            gid="ill-posed",
        )

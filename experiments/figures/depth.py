"""Refinement in depth of one network: how far apart neighbouring refinements are."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from experiments.figures.convergence import Curve
from experiments.figures.convergence import render as render_convergence

AXIS = "time step dt (layers of the network: dt = 1)"
NORM = "difference between the solutions with dt and dt/2"


def render(
    curves: Sequence[Curve],
    *,
    axis: str = AXIS,
    norm: str = NORM,
    title: str = "",
    round_off: float | None = None,
    ill_posed: Sequence[str] = (),
) -> Figure:
    """Draw differences between depth refinements over the coarser step.

    A curve that falls along its triangle converges; one that is flat has no limit.

    Args:
        curves: one per way to step or to interpolate the controls; the errors are differences.
        axis: the label of the steps.
        norm: the label of the differences.
        title: of the figure.
        round_off: as in :func:`experiments.figures.convergence.render`.
        ill_posed: reasons why a curve has no limit.
    """
    return render_convergence(
        curves, axis=axis, norm=norm, title=title, round_off=round_off, ill_posed=ill_posed
    )

"""The files of a sweep: a figure and all numbers."""

from pathlib import Path

from matplotlib.figure import Figure

from experiments.compressing.sweep import Sweep
from experiments.figures import compression as figure
from experiments.figures.saving import KINDS, save
from experiments.files import check_writable, write_atomically
from experiments.results.tables import as_json

#: The files' name without endings.
STEM = "compression"


def check(folder: Path) -> None:
    """Refuse a folder where the files cannot be, before anything is computed.

    Raises:
        ValueError: if something else stands in their places.
    """
    for ending in ("json", *KINDS):
        check_writable(folder / f"{STEM}.{ending}", "--output")


def write(sweep: Sweep, folder: Path, *, figures: bool) -> tuple[Path, ...]:
    """Write the numbers and, if asked for, the figure as PNG and SVG; older ones are replaced.

    Returns:
        The paths written.
    """
    numbers = folder / f"{STEM}.json"
    write_atomically(numbers, as_json(sweep.as_data()).encode())
    return (numbers, *save(draw(sweep), folder / STEM)) if figures else (numbers,)


def draw(sweep: Sweep) -> Figure:
    """The figure: three relative errors over the stored size."""
    levels = sweep.levels
    return figure.render(
        [level.share for level in levels],
        {
            "kernels: bound (Hilbert-Schmidt), worst layer": [level.bound for level in levels],
            "kernels: operator norm, worst layer": [level.operator_error for level in levels],
            "model output, largest difference": [level.output_error for level in levels],
            "model output, root mean square": [level.output_rms for level in levels],
        },
        [
            f"rank {level.rank}" if level.rank is not None else f"{level.tolerance:g}"
            for level in levels
        ],
        title=f"{sweep.model}: kernels of low rank by singular value expansion",
    )

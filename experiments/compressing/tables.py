"""What ``continuum compress`` prints."""

from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from experiments.compressing.sweep import Level, Sweep
from experiments.running.tables import print_lines

_MB = 1e6


def print_sweep(sweep: Sweep, files: Sequence[Path]) -> None:
    """All ranks in a table, what the columns mean, and where everything is."""
    console = Console()
    console.print(_table(sweep))
    lines = [
        f"{sweep.kernels} kernels of {sweep.layers} layers each, {sweep.full / _MB:.2f} MB in "
        f"{sweep.dtype}; outputs compared on {sweep.tokens} tokens ({', '.join(sweep.notes)})",
        "operator: first dropped singular value / largest one; bound: Hilbert-Schmidt error / "
        "norm; both the worst kernel and layer",
        "out.: the model's output, largest difference / largest value, and root mean square",
    ]
    full = {name: None for level in sweep.levels for name in level.kept_full}
    if full:
        lines.append(f"*: kept full, factors being no smaller: some of {', '.join(full)}")
    print_lines(console, [*lines, *(f"file: {path}" for path in files)])


def _table(sweep: Sweep) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
        title=f"{sweep.model}, kernels of low rank",
        title_justify="left",
    )
    first = "rank" if sweep.levels[0].rank is not None else "tolerance"
    columns = (first, "kept", "MB", "% full", "operator", "bound", "out. max", "out. rms")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for level in sweep.levels:
        table.add_row(*_cells(level))
    return table


def _cells(level: Level) -> tuple[str, ...]:
    kept = "full" if level.kept is None else "-".join(map(str, dict.fromkeys(level.kept)))
    return (
        f"{level.rank}" if level.rank is not None else f"{level.tolerance:g}",
        kept + ("*" if level.kept_full and level.kept else ""),
        f"{level.stored / _MB:.2f}",
        f"{100 * level.share:.1f}",
        f"{level.operator_error:.1e}",
        f"{level.bound:.1e}",
        f"{level.output_error:.1e}",
        f"{level.output_rms:.1e}",
    )

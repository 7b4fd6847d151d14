"""The table of architectures, as the command prints it."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from experiments.architectures.judging import TOLERANCE, Verdict

#: Columns of words: heading and the row's attribute; those that a narrow terminal leaves out.
_COLUMNS = {
    "architecture": "name",
    "scheme": "scheme",
    "constraint": "constraint",
    "kernels": "kernels",
    "measure": "measure",
    "reference": "reference",
}
_WIDE_ONLY = ("constraint", "kernels", "measure")
_WIDE = 120


def print_verdicts(verdicts: Sequence[Verdict]) -> None:
    """One line for each architecture, and what was lifted in its reference."""
    console = Console()
    shown = {h: a for h, a in _COLUMNS.items() if console.width >= _WIDE or h not in _WIDE_ONLY}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in shown:
        table.add_column(heading, overflow="fold")
    table.add_column("max rel.", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for verdict in verdicts:
        table.add_row(
            *(getattr(verdict.row, attribute) for attribute in shown.values()),
            f"{verdict.max_rel:.1e}",
            "equal" if verdict.passed else "DIFFERS",
        )
    console.print(table)
    lines = [f"float64; equal: largest relative difference at most {TOLERANCE:g}"]
    lines += [
        f"{verdict.row.name}: lifted to float64 in the reference: {verdict.row.lifted}"
        for verdict in verdicts
        if verdict.row.lifted
    ]
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

"""A report as a table and two lines in plain words."""

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from experiments.verification.report import Report, Row, worst


def show(report: Report, console: Console) -> None:
    """Print the table and the summary."""
    console.print(table(report))
    for note in report.notes:
        console.print(f"[dim]note: {escape(note)}[/dim]", highlight=False)
    for line in summary(report):
        console.print(line, highlight=False, soft_wrap=True)


def table(report: Report) -> Table:
    """One line for each substep of each layer."""
    found = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    found.add_column("layer", justify="right")
    for title in ("substep", "compared with"):
        found.add_column(title, no_wrap=True)
    for title in ("max diff.", "rel. diff."):
        found.add_column(title, justify="right", no_wrap=True)
    found.add_column("")
    if report.embedding is not None:
        found.add_row("", *_cells(report.embedding, report.tolerance), end_section=True)
    for layer in report.layers:
        for row in layer.substeps:
            number = str(layer.number) if row is layer.substeps[0] else ""
            last = row is layer.output
            limit = report.tolerance if last else report.inner_tolerance
            found.add_row(number, *_cells(row, limit), end_section=last)
    found.add_row("", *_cells(report.final, report.tolerance))
    return found


def summary(report: Report) -> tuple[str, str]:
    """Two lines: what was compared, and how close it is."""
    verdict = "[green]passed[/green]" if report.passed else "[red]FAILED[/red]"
    padding = report.tokens - report.valid_tokens
    padded = f" ({padding} padding left out)" if padding else ""
    where, size = worst(report.states)
    inside, inner = worst(report.inner)
    return (
        f"{report.equation} equation, Lie splitting, unit grid, {report.dtype}, on "
        f"{report.valid_tokens} tokens{padded}; judge: {escape(report.reference)}",
        f"{verdict}: largest relative difference {size:.1e} at {where}, tolerance "
        f"{report.tolerance:g}; inside the layers {inner:.1e} at {inside}, tolerance "
        f"{report.inner_tolerance:g}",
    )


def _cells(row: Row, limit: float) -> tuple[str, ...]:
    mark = "[green]ok[/green]" if row.max_rel <= limit else "[red]no[/red]"
    return row.name, row.counterpart, f"{row.max_abs:.1e}", f"{row.max_rel:.1e}", mark

"""What the commands print."""

import math
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from experiments.convergence.result import StudyResult
from experiments.running.converge import ConvergenceSummary
from experiments.running.run import RunSummary


def print_run(summary: RunSummary, figures: Sequence[Path]) -> None:
    """A run: its last observables, and where everything is."""
    console = Console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("observable")
    table.add_column("after the last step", justify="right")
    for name, value in summary.last.items():
        table.add_row(name, f"{value:.6g}")
    console.print(table)
    since = f", continued from step {summary.resumed_at}" if summary.resumed_at else ""
    print_lines(console, [f"{summary.steps} steps{since}", f"result: {summary.path}"])
    print_lines(console, [f"figure: {path}" for path in figures])


def print_convergence(summary: ConvergenceSummary, figures: Sequence[Path]) -> None:
    """All studies: errors, local orders, and the measured order beside the declared one."""
    console = Console()
    for study in summary.studies:
        console.print(_table(study))
        print_lines(console, [_verdict(study), f"  against {study.reference}", ""])
    print_lines(console, [f"result: {summary.path}"])
    print_lines(console, [f"figure: {path}" for path in figures])


def print_lines(console: Console, lines: Sequence[str]) -> None:
    """Plain lines, never wrapped or marked up, so that paths can be copied."""
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _table(study: StudyResult) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=study.name, title_justify="left")
    words = "steps" if study.axis == "time" else "cells"
    columns = [words, "dt" if study.axis == "time" else "h", f"error ({study.norm})", "order"]
    violations = [f"violation {name}" for name in study.violations]
    for column in (*columns, *violations):
        table.add_column(column, justify="right")
    for k, size in enumerate(study.sizes):
        order = study.local_orders[k - 1] if k else None
        table.add_row(
            str(size),
            f"{study.steps[k]:.4g}",
            f"{study.errors[k]:.3e}",
            "" if order is None else f"{order:.2f}",
            *(f"{values[k]:.1e}" for values in study.violations.values()),
        )
    return table


def _verdict(study: StudyResult) -> str:
    measured = "none" if study.fitted_order is None else f"{study.fitted_order:.2f}"
    if study.declared_order is None:
        return f"  measured order {measured}; none is declared: {study.reason}"
    declared = (
        "faster than any power" if math.isinf(study.declared_order) else f"{study.declared_order:g}"
    )
    word = "ok" if study.passed else "MISSED"
    return f"  measured order {measured}, declared {declared} ({study.reason}): {word}"

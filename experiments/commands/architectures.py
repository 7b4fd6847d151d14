"""``continuum architectures``."""

from typing import Annotated

import typer

from experiments.commands import common
from experiments.options import Options, Precision


def architectures(
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="NAME",
            help="Run this row alone (in any case); repeatable.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of weights and inputs.")] = 0,
    threads: common.Threads = None,
    json: common.Json = False,
    traceback: common.Traceback = False,
) -> None:
    """Hold every known architecture against the library it comes from, on random small models.

    Each row is recovered as a discretised equation, whose splitting step at dt = 1 is one of the
    model's layers; differences are those of float64 states on valid tokens.

    Exit status: 0 if all rows pass, 1 if some do not, 2 for bad input.
    """
    with common.errors_in_few_lines(traceback):
        options = Options("architectures", None, (), Precision.FLOAT64, threads, False, json)
        from experiments.environment import prepare_libraries

        prepare_libraries("float64", options.threads)
        from experiments.architectures import chosen, judge

        rows = chosen(only or ())
        verdicts = []
        for row in rows:
            if not json:
                typer.echo(f"{row.name} ...", err=True)
            verdicts.append(judge(row, seed=seed))
        if json:
            from experiments.results.tables import as_json

            data = {"rows": [verdict.summary() for verdict in verdicts]}
            typer.echo(as_json(data), nl=False)
        else:
            from experiments.architectures.printing import print_verdicts

            print_verdicts(verdicts)
    raise typer.Exit(0 if all(v.passed for v in verdicts) else common.MISSED)

"""``continuum plot RESULT``."""

import json as json_format
from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import common
from experiments.options import Options, Precision


def plot(
    result: Annotated[
        str,
        typer.Argument(metavar="RESULT", help="The directory of a result.", show_default=False),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where the figures go (RESULT/figures).", show_default=False
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="title=VALUE",
            help="Change the title above the figures; other keys are part of the result.",
            show_default=False,
        ),
    ] = None,
    precision: common.IdlePrecision = Precision.FLOAT64,
    threads: common.Threads = None,
    no_progress: common.IdleNoProgress = False,
    json: common.Json = False,
    plugin: common.Plugin = None,
    traceback: common.Traceback = False,
) -> None:
    """Draw the figures of a result again, of an unfinished run as far as it has got.

    Figures that are already there are replaced.

    Exit status: 0 when drawn, 2 for bad input.
    """
    with common.errors_in_few_lines(traceback):
        options = Options(
            result,
            output,
            tuple(changes or ()),
            precision,
            threads,
            not no_progress,
            json,
            plugins=tuple(plugin or ()),
        )
        from experiments.environment import prepare_libraries
        from experiments.results import open_run

        found = open_run(result).manifest.identity
        prepare_libraries(found.precision or precision.value, options.threads)
        from experiments.plugins import load_plugins
        from experiments.running.plots import plot as draw

        load_plugins(options.plugins)

        paths = [str(path) for path in draw(Path(result), options.output, options.changes)]
    typer.echo(json_format.dumps({"figures": paths}, indent=2) if json else "\n".join(paths))

"""``continuum plot RESULT``."""

import json as json_format
from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import common


def plot(
    result: Annotated[
        Path,
        typer.Argument(metavar="RESULT", help="The directory of a result.", show_default=False),
    ],
    output: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the figures go (RESULT/figures)."),
    ] = None,
    json: common.Json = False,
    traceback: common.Traceback = False,
) -> None:
    """Draw the figures of a result again, of an unfinished run as far as it has got."""
    with common.errors_in_few_lines(traceback):
        from experiments.environment import prepare_libraries

        prepare_libraries()
        from experiments.running.plots import plot as draw

        paths = [str(path) for path in draw(result, output)]
    typer.echo(json_format.dumps({"figures": paths}, indent=2) if json else "\n".join(paths))

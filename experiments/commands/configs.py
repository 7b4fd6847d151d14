"""``continuum configs``."""

import dataclasses
import json as json_format
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments.commands import common
from experiments.options import Options, Precision


def configs(
    config: Annotated[
        str | None,
        typer.Argument(
            metavar="[CONFIG]",
            help="Show this one as resolved, with every default: a file or a shipped config.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the files into this new directory, to start your own from.",
            show_default=False,
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY.PATH=VALUE",
            help="Change a value and show what is resolved; repeatable.",
            show_default=False,
        ),
    ] = None,
    precision: Annotated[
        Precision, typer.Option(help="Without an effect here: nothing is computed.")
    ] = Precision.FLOAT64,
    threads: common.Threads = None,
    no_progress: common.IdleNoProgress = False,
    json: common.Json = False,
    plugin: common.Plugin = None,
    traceback: common.Traceback = False,
) -> None:
    """List the shipped configs, or show some as resolved: a dry run of all checks of a file.

    Exit status: 0, or 2 for bad input.
    """
    with common.errors_in_few_lines(traceback):
        options = Options(
            config or "",
            output,
            tuple(changes or ()),
            precision,
            threads,
            not no_progress,
            json,
            plugins=tuple(plugin or ()),
        )
        rows, texts, resolved = _found(options)
        if output is not None:
            from experiments.files import write_new_folder

            write_new_folder(
                output, {f"{name}.toml": text.encode() for name, text in texts.items()}
            )
            rows = [row | {"path": str(output / f"{row['name']}.toml")} for row in rows]
    if json:
        typer.echo(json_format.dumps(rows, indent=2))
    elif output is not None:
        typer.echo("\n".join(row["path"] for row in rows))
    elif resolved:
        typer.echo("\n".join(f"# {name}\n{text}" for name, text in texts.items()), nl=False)
    else:
        width = max(len(row["name"]) for row in rows)
        typer.echo("\n".join(f"{row['name']:{width}}  {row['title']}" for row in rows))


def _found(options: Options) -> tuple[list[dict[str, Any]], dict[str, str], bool]:
    """For every config a row of JSON and the text by its name, and whether it is resolved."""
    from experiments.config import shipped

    if not (options.config or options.changes):
        rows = [{"name": c.name, "title": c.title, "path": str(c.path)} for c in shipped()]
        return rows, {c.name: c.path.read_text(encoding="utf-8") for c in shipped()}, False
    paths = {c.name: str(c.path) for c in shipped()}
    rows, texts = [], {}
    for source in [options.config] if options.config else paths:
        one = dataclasses.replace(options, config=source)
        loaded = common.prepare(one)
        path = paths.get(source, source)
        row = {"name": one.name, "title": loaded.title, "path": path, "config": loaded.to_data()}
        rows.append(row)
        texts[one.name] = loaded.resolved_toml()
    return rows, texts, True

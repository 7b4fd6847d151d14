"""``continuum configs``."""

import json as json_format

import typer

from experiments.commands import common


def configs(json: common.Json = False) -> None:
    """List the shipped configs: a name for run and converge, what it shows, and its file."""
    from experiments.config import shipped

    found = shipped()
    if json:
        data = [{"name": c.name, "title": c.title, "path": str(c.path)} for c in found]
        typer.echo(json_format.dumps(data, indent=2))
        return
    width = max(len(config.name) for config in found)
    for config in found:
        typer.echo(f"{config.name:{width}}  {config.title}")

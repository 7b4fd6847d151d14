"""``continuum run CONFIG``."""

from pathlib import Path

import typer

from experiments.commands import common
from experiments.options import Options, Precision


def run(
    config: common.Config,
    output: common.Output = None,
    changes: common.Set = None,
    precision: common.PrecisionOption = Precision.FLOAT64,
    threads: common.Threads = None,
    no_progress: common.NoProgress = False,
    json: common.Json = False,
    overwrite: common.Overwrite = False,
    resume: common.Resume = False,
    allow_incompatible: common.AllowIncompatible = False,
    no_figures: common.NoFigures = False,
    plugin: common.Plugin = None,
    traceback: common.Traceback = False,
) -> None:
    """Advance the equation of a config and write the trajectory, observables and figures.

    The trajectory streams to DIR/trajectory.zarr (xarray.open_zarr opens it). Ctrl-C or a kill
    leaves a run that --resume continues, to the same bits.

    Exit status: 0 when done, 2 for bad input, 3 for a question without an answer.
    """
    with common.errors_in_few_lines(traceback):
        options = Options(
            config,
            output,
            tuple(changes or ()),
            precision,
            threads,
            not no_progress,
            json,
            overwrite,
            resume,
            allow_incompatible,
            tuple(plugin or ()),
        )
        loaded = common.prepare(options)
        from experiments.running.guard import judge_run
        from experiments.running.run import run as compute

        verdict = judge_run(loaded, options)
        common.warn(verdict.warnings)
        common.refuse_ill_posed(verdict.ill_posed, options)
        summary = compute(loaded, options, verdict)
        figures = () if no_figures else _draw(summary.path)
        if json:
            from experiments.results.tables import as_json

            data = summary.as_data() | {"figures": [str(path) for path in figures]}
            typer.echo(as_json(data), nl=False)
            return
        from experiments.running.tables import print_run

        print_run(summary, figures)


def _draw(path: Path) -> tuple[Path, ...]:
    from experiments.running.plots import plot

    return plot(path)

"""``continuum converge CONFIG``."""

import typer

from experiments.commands import common
from experiments.options import Options, Precision


def converge(
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
    """Refine as the [[studies]] of a config say, and compare measured orders with declared ones.

    Writes convergence.json, convergence.csv and a log-log figure to DIR (output/CONFIG-convergence
    by default).

    Exit status: 0 when every declared order is met within 0.05, 1 when one is missed, 2 for bad
    input, 3 for a question without an answer.
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
        from experiments.running.converge import converge as compute
        from experiments.running.guard import judge_studies

        verdict = judge_studies(loaded, options)
        common.warn(verdict.warnings)
        common.refuse_ill_posed(verdict.ill_posed, options)
        summary = compute(loaded, options, verdict)
        common.warn([w for w in summary.warnings if w not in verdict.warnings])
        figures = ()
        if not no_figures:
            from experiments.running.plots import plot

            figures = plot(summary.path)
        if json:
            from experiments.results.tables import as_json

            data = summary.as_data() | {
                "path": str(summary.path),
                "figures": [str(path) for path in figures],
            }
            typer.echo(as_json(data), nl=False)
        else:
            from experiments.running.tables import print_convergence

            print_convergence(summary, figures)
    raise typer.Exit(0 if summary.passed else common.MISSED)

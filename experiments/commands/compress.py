"""``continuum compress MODEL``."""

from typing import Annotated

import typer

from experiments.commands import common
from experiments.compressing.request import CompressRequest
from experiments.options import Options, Precision


def compress(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A directory with the config.json and model.safetensors of an encoder, or the "
            "word 'minilm' (the real all-MiniLM-L6-v2).",
            show_default=False,
        ),
    ],
    rank: Annotated[
        list[int] | None,
        typer.Option(
            metavar="R",
            help="Terms to keep of every kernel; repeatable (powers of two).",
            show_default=False,
        ),
    ] = None,
    tolerance: Annotated[
        list[float] | None,
        typer.Option(
            metavar="T",
            help="Instead: keep as few terms as a relative Hilbert-Schmidt error of T allows, for "
            "each kernel and layer; repeatable.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(help="A sentence to compare outputs on; repeatable.", show_default=False),
    ] = None,
    output: common.Output = None,
    precision: common.PrecisionOption = Precision.FLOAT64,
    threads: common.Threads = None,
    no_progress: common.IdleNoProgress = False,
    json: common.Json = False,
    no_figures: common.NoFigures = False,
    traceback: common.Traceback = False,
) -> None:
    """Replace a model's kernels by their best ones of low rank; show what is saved and spoiled.

    The singular value expansion of every kernel k(xi, y, t) is cut after a few terms. Writes
    compression.json and a figure to DIR (output/MODEL-compression by default).

    Exit status: 0 when done, 2 for bad input.
    """
    with common.errors_in_few_lines(traceback):
        request = CompressRequest(
            model, tuple(rank or ()), tuple(tolerance or ()), tuple(text or ()), precision, output
        )
        options = Options(model, output, (), precision, threads, not no_progress, json)
        from experiments.environment import prepare_libraries

        prepare_libraries(precision.value, options.threads)
        from experiments.compressing import outputs
        from experiments.compressing.sweep import sweep

        outputs.check(request.directory)
        found = sweep(request)
        files = outputs.write(found, request.directory, figures=not no_figures)
        if json:
            from experiments.results.tables import as_json

            typer.echo(as_json(found.as_data() | {"files": list(map(str, files))}), nl=False)
        else:
            from experiments.compressing.tables import print_sweep

            print_sweep(found, files)

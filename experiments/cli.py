"""The command line ``continuum``; what computes is imported when it is needed."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import common
from experiments.commands.architectures import architectures
from experiments.commands.compress import compress
from experiments.commands.configs import configs
from experiments.commands.converge import converge
from experiments.commands.plot import plot
from experiments.commands.run import run
from experiments.packages import own_version
from experiments.request import Activation, Batch, Dtype, Encoder, Equation, Norm, Request

ENCODER, OUTPUT = "Random encoder", "Output"

app = typer.Typer(
    name="continuum",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"transformer-continuum {own_version()}")
        raise typer.Exit


@app.callback()
def continuum(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Transformers as discretised integro-differential equations: simulate, refine, verify."""
    del version


@app.command()
def verify(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            help="A directory with the config.json and model.safetensors of a BERT, or the word "
            "'minilm' (the real all-MiniLM-L6-v2). Without it: a random encoder.",
            show_default=False,
        ),
    ] = None,
    torch: Annotated[
        bool,
        typer.Option("--torch", help="Judge by torch.nn.TransformerEncoder, not by plain NumPy."),
    ] = False,
    equation: Annotated[
        Equation,
        typer.Option(help="The paper's equation with its substeps, or the residual flow."),
    ] = Equation.SPLIT,
    dtype: Annotated[Dtype, typer.Option(help="Precision of both sides.")] = Dtype.FLOAT64,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Largest relative difference that passes (1e-13; in float32 2e-6)."),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(help="A sentence for MODEL; repeatable.", show_default=False),
    ] = None,
    layers: Annotated[
        int | None, typer.Option(help="Number of layers (3).", rich_help_panel=ENCODER)
    ] = None,
    d_model: Annotated[
        int | None, typer.Option(help="Features of a token (32).", rich_help_panel=ENCODER)
    ] = None,
    heads: Annotated[
        int | None, typer.Option(help="Divides --d-model (4).", rich_help_panel=ENCODER)
    ] = None,
    d_ff: Annotated[
        int | None, typer.Option(help="Hidden features (64).", rich_help_panel=ENCODER)
    ] = None,
    norm: Annotated[
        Norm | None, typer.Option(help="Where it normalises (post).", rich_help_panel=ENCODER)
    ] = None,
    activation: Annotated[
        Activation | None,
        typer.Option(help="Of the feedforward network (relu).", rich_help_panel=ENCODER),
    ] = None,
    eps: Annotated[
        float | None, typer.Option(help="Of every norm (1e-5).", rich_help_panel=ENCODER)
    ] = None,
    tokens: Annotated[
        int | None, typer.Option(help="Longest sequence (12).", rich_help_panel=ENCODER)
    ] = None,
    batch: Annotated[
        int | None, typer.Option(help="Number of sequences (3).", rich_help_panel=ENCODER)
    ] = None,
    mask: Annotated[
        bool | None,
        typer.Option(
            "--mask/--no-mask", help="With padded sequences (yes).", rich_help_panel=ENCODER
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Of weights, states and padding (0).", rich_help_panel=ENCODER),
    ] = None,
    json: Annotated[
        str | None,
        typer.Option(metavar="FILE|-", help="Write the report as JSON.", rich_help_panel=OUTPUT),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the relative difference of every layer (.png, .svg or .pdf).",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    describe: Annotated[
        bool, typer.Option("--describe", help="Print the equation.", rich_help_panel=OUTPUT)
    ] = False,
    traceback: Annotated[
        bool,
        typer.Option("--traceback", help="Show where an error arose.", rich_help_panel=OUTPUT),
    ] = False,
) -> None:
    """Compare the equation's splitting step with an independent encoder, substep by substep.

    Exit status: 0 within the tolerance, 1 beyond it, 2 for bad input.
    """
    encoder = _given(
        layers=layers,
        d_model=d_model,
        heads=heads,
        d_ff=d_ff,
        norm=norm,
        activation=activation,
        eps=eps,
    )
    sequences = _given(tokens=tokens, batch=batch, mask=mask, seed=seed)
    with common.errors_in_few_lines(traceback):
        request = Request(
            model=model,
            torch=torch,
            equation=equation,
            dtype=dtype,
            tolerance=tolerance,
            texts=tuple(text or ()),
            encoder=Encoder(**encoder),
            batch=Batch(**sequences),
            given=frozenset(encoder) | frozenset(sequences),
        )
        passed = _run(request, json, figure, describe)
    raise typer.Exit(0 if passed else common.MISSED)


for _command in (run, converge, plot, configs, compress, architectures):
    app.command()(_command)


def main() -> None:
    """The console script ``continuum``."""
    try:
        app()
    except SystemExit as ending:
        if ending.code == common.INTERRUPTED:
            # Threads of the numerical libraries are still at work; tearing the interpreter down
            # under them crashes now and then.  All files are on the disk at any moment.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(common.INTERRUPTED)
        raise


def _given(**options) -> dict:
    """Those options that were set."""
    return {name: value for name, value in options.items() if value is not None}


def _run(request: Request, json: str | None, figure: Path | None, describe: bool) -> bool:
    from experiments.environment import prepare_libraries

    prepare_libraries()
    from experiments.verification.outputs import Outputs
    from experiments.verification.verify import verify as compute

    outputs = Outputs(json=json, figure=figure, describe=describe)
    report = compute(request)
    outputs.write(report)
    return report.passed

"""Options and endings that the commands share."""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from experiments.options import Options, Precision

#: Exit statuses: an order or a tolerance is missed; bad input; an ill-posed question; interrupted.
MISSED, BAD_INPUT, ILL_POSED, INTERRUPTED = 1, 2, 3, 130

Config = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG",
        help="A TOML file, or the name of a shipped config (see: continuum configs).",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Directory of the result (output/CONFIG).", show_default=False
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.PATH=VALUE",
        help="Change a value of the config; repeatable.",
        show_default=False,
    ),
]
PrecisionOption = Annotated[Precision, typer.Option(help="Of every array.")]
Threads = Annotated[
    int | None, typer.Option(metavar="N", help="Processors to use (all).", show_default=False)
]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Show no progress bar.")]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON, nothing else.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing result.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue a result that was interrupted.")]
AllowIncompatible = Annotated[
    bool,
    typer.Option(
        "--allow-incompatible",
        help="Go on although the question has no answer; every output is marked.",
    ),
]
#: Options that every command takes, on those where they have nothing to act upon.
IdlePrecision = Annotated[
    Precision, typer.Option(help="Without an effect here: the precision is the result's own.")
]
IdleNoProgress = Annotated[
    bool, typer.Option("--no-progress", help="Without an effect here: no bar is ever shown.")
]
NoFigures = Annotated[bool, typer.Option("--no-figures", help="Draw nothing.")]
Plugin = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE.py",
        help="A Python file that registers schemes (or kernels, rules) of your own; repeatable.",
        show_default=False,
    ),
]
Traceback = Annotated[bool, typer.Option("--traceback", help="Show where an error arose.")]


@contextlib.contextmanager
def errors_in_few_lines(traceback: bool) -> Iterator[None]:
    """Turn the errors that checks raise into a message and an exit status.

    A config's errors keep their lines, one for each finding; other messages become one line.  A
    RuntimeError is a defect of the program, and shown as one, unless it tells of lack of memory.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        sys.stderr.write("interrupted; continue with --resume\n")
        raise typer.Exit(INTERRUPTED) from error
    except _EXPECTED as error:
        text = _text(error)
        if traceback or text is None:
            raise
        sys.stderr.write(f"error: {text}\n")
        raise typer.Exit(BAD_INPUT) from error


_EXPECTED = (
    ValueError, TypeError, ImportError, OSError, ArithmeticError, MemoryError, RuntimeError
)  # fmt: skip


def _text(error: Exception) -> str | None:
    """What to tell the user; None for an error that is nobody's but the program's."""
    words = " ".join(str(error).split())
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in words:
        return (
            f"expected arrays that fit into memory, found larger ones ({words}); take fewer cells "
            "or a smaller time.chunk, or --precision float32"
        )
    if isinstance(error, RuntimeError):
        return None
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return (
            f"{os.fsdecode(error.filename)}: {error.strerror}; expected a place that can be read, "
            "and written for results; choose another one, or make it so"
        )
    return (str(error) if getattr(error, "findings", None) else words) or type(error).__name__


def prepare(options: Options):
    """The config, once libraries, plugins and threads are set up."""
    from experiments.environment import prepare_libraries

    prepare_libraries(options.precision.value, options.threads)
    from experiments.config import load_config
    from experiments.plugins import load_plugins

    load_plugins(options.plugins)
    return load_config(options.config, options.changes)


def refuse_ill_posed(reasons: Sequence[str], options: Options) -> None:
    """Explain why the question has no answer, and stop unless the user goes on anyway."""
    for reason in reasons:
        sys.stderr.write(f"ill-posed: {' '.join(reason.split())}\n")
    if reasons and not options.allow_incompatible:
        sys.stderr.write("stopped; --allow-incompatible goes on and marks every output\n")
        raise typer.Exit(ILL_POSED)


def warn(messages: Sequence[str]) -> None:
    """Say on standard error what may mislead."""
    for message in messages:
        sys.stderr.write(f"warning: {' '.join(message.split())}\n")

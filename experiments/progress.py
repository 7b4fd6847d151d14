"""Progress on a terminal, told by the host after every piece of work."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    """Told how much is done."""

    def __call__(self, done: int) -> None:
        """``done`` of the total is done."""
        ...


@contextmanager
def progress_bar(title: str, total: int, unit: str, shown: bool) -> Iterator[Progress]:
    """A bar with rate and remaining time on standard error; nothing unless that is a terminal.

    Args:
        title: what is being done.
        total: how many units there are.
        unit: of work, in the plural.
        shown: False switches it off.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:.3g} {unit}/s" if speed else f"- {unit}/s")

    console = Console(stderr=True)
    if not (shown and console.is_terminal):
        yield lambda done: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TextColumn("remaining"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console, transient=True) as bars:
        task = bars.add_task(title, total=total)
        yield lambda done: bars.update(task, completed=done)

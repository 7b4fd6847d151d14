"""Where a report goes."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from experiments.files import check_writable, write_atomically
from experiments.verification.report import Report

#: Suffixes of figures.
FORMATS = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Outputs:
    """What to do with a report; checked before anything is computed.

    Args:
        json: a file name, "-" for standard output and nothing else there, or None.
        figure: a file name, or None.
        describe: whether to print the equation.
    """

    json: str | None = None
    figure: Path | None = None
    describe: bool = False

    def __post_init__(self) -> None:
        """Refuse places where no file can be.

        Raises:
            ValueError: for those, and for a figure of an unknown format.
        """
        if self.json not in (None, "-"):
            check_writable(Path(str(self.json)), "--json")
        if self.figure is not None:
            if self.figure.suffix.lower() not in FORMATS:
                raise ValueError(
                    f"--figure: expected a name ending in {', '.join(FORMATS)}, got {self.figure}"
                )
            check_writable(self.figure, "--figure")

    def write(self, report: Report) -> None:
        """Write files, then print; files appear whole or not at all."""
        text = self._json(report)
        if self.json not in (None, "-"):
            write_atomically(Path(str(self.json)), text.encode())
        if self.figure is not None:
            from experiments.verification.figure import render

            write_atomically(self.figure, render(report, self.figure.suffix.lower()[1:]))
        if self.json == "-":
            sys.stdout.write(text)
            return
        self._print(report)

    def _json(self, report: Report) -> str:
        data = report.as_data()
        if self.describe:
            data["description"] = report.description
        return json.dumps(data, indent=2, allow_nan=False) + "\n"

    def _print(self, report: Report) -> None:
        from rich.console import Console

        from experiments.verification.table import show

        console = Console()
        if self.describe:
            console.print(report.description, highlight=False, markup=False, soft_wrap=True)
        show(report, console)

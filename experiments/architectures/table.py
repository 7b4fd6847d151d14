"""The table of architectures; a new one is its file and one row here."""

from experiments.architectures import bert, gpt2
from experiments.architectures.row import Row

ROWS: dict[str, Row] = {row.name: row for row in (bert.ROW, gpt2.ROW)}

"""The table of architectures; a new one is its file and one row here."""

from collections.abc import Sequence

from experiments.architectures import (
    albert,
    bert,
    bloom,
    distilbert,
    gpt2,
    gpt_neox,
    gptj,
    llama,
    roberta,
    t5,
    torch_encoder,
    vit,
)
from experiments.architectures.row import Row

ROWS: dict[str, Row] = {
    row.name: row
    for row in (
        torch_encoder.POST_NORM,
        torch_encoder.PRE_NORM,
        bert.ROW,
        roberta.ROW,
        distilbert.ROW,
        albert.ROW,
        gpt2.ROW,
        gptj.ROW,
        gpt_neox.ROW,
        llama.ROW,
        t5.ROW,
        bloom.ROW,
        vit.ROW,
    )
}


def chosen(names: Sequence[str]) -> tuple[Row, ...]:
    """The rows of these names, in any case and order of the table; all for none.

    Raises:
        ValueError: for a name that no row has.
    """
    wanted = {name.casefold() for name in names}
    known = {name.casefold(): row for name, row in ROWS.items()}
    unknown = sorted(wanted - set(known))
    if unknown:
        raise ValueError(
            f"--only: expected one of {', '.join(ROWS)}, got {', '.join(map(repr, unknown))}"
        )
    return tuple(row for key, row in known.items() if not wanted or key in wanted)

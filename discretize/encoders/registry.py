"""The families of encoders that can be recovered: one row each, tried in order."""

from collections.abc import Callable
from typing import Any

from discretize.encoders import bert, torch_encoder
from discretize.encoders.recovered import Recovered

#: (does this row cover the model?, read it: model, equation, dtype -> Recovered).
FAMILIES: tuple[tuple[Callable[[Any], bool], Callable[[Any, str, str | None], Recovered]], ...] = (
    (torch_encoder.accepts, torch_encoder.read),
    (bert.accepts, bert.read),
)

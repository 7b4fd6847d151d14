"""What a check has to say."""

import dataclasses
from enum import StrEnum


class Level(StrEnum):
    """How bad it is: no answer exists; the answer may mislead; good to know."""

    ILL_POSED = "ill-posed"
    WARNING = "warning"
    NOTE = "note"


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that a check found.

    Args:
        level: how bad it is.
        code: a short name of the check.
        message: what is the matter, with numbers, and what to do about it.
    """

    level: Level
    code: str
    message: str

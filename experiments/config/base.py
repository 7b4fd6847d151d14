"""What every part of a config is: frozen, strict, and closed against unknown keys."""

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

#: No count in an experiment is larger; what is larger is a slip of the pen.
LARGEST = 1_000_000_000

#: A whole number >= 1: cells, steps, functions of a basis.
Count = Annotated[int, Field(ge=1, le=LARGEST)]

#: A whole number >= 0 that starts a random generator.
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]

#: A finite number > 0.
Positive = Annotated[float, Field(gt=0.0)]

#: A finite number >= 0.
NonNegative = Annotated[float, Field(ge=0.0)]

#: Text with at least one character.
Text = Annotated[str, Field(min_length=1)]


def _ordered(ends: tuple[float, float]) -> tuple[float, float]:
    if not ends[0] < ends[1]:
        raise PydanticCustomError(
            "interval", "expected [lower, upper] with lower < upper", {"remedy": "swap the ends"}
        )
    return ends


#: [lower, upper], the upper end above the lower one.
Interval = Annotated[tuple[float, float], AfterValidator(_ordered)]


def _absolute(name: str, info: ValidationInfo) -> str:
    """The file beside the config if there is one, else the one in the working directory."""
    if "\0" in name:
        raise PydanticCustomError("file", "expected the name of a file, found a zero character")
    folder = Path((info.context or {}).get("folder", "."))
    candidates = [folder / name, Path.cwd() / name]
    found = next((path for path in candidates if _exists(path)), candidates[0])
    return str(found.absolute())


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name too long for the file system, for instance
        return False


#: The name of a file: beside the config, or in the working directory; kept as an absolute path.
File = Annotated[Text, AfterValidator(_absolute)]


def _packaged(name: str, info: ValidationInfo) -> str:
    return name if name == PACKAGED else _absolute(name, info)


#: The word that stands for the packaged model.
PACKAGED = "minilm"

#: The directory of a model, or the packaged one.
ModelFolder = Annotated[Text, AfterValidator(_packaged)]


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


#: One name, or one for each coordinate.
Names = Annotated[tuple[Text, ...], BeforeValidator(_listed), Field(min_length=1, max_length=2)]


class Part(BaseModel):
    """A table of the config.

    Unknown keys, numbers in quotes, infinities and NaN are refused; a whole number is welcome
    where a number is asked for.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True
    )

    #: Keys that belong elsewhere, and where.
    elsewhere: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        for key in data:
            if key not in cls.model_fields:
                context = {
                    "key": key,
                    "allowed": list(cls.model_fields),
                    "remedy": cls.elsewhere.get(key, ""),
                }
                raise PydanticCustomError("unknown_key", "unknown key", context)
        return data


def key_of(table: Iterable[tuple[str, str]], value: Any) -> str | None:
    """The tag of the first key of ``table`` that a table, or a ``Part``, has.

    Args:
        table: pairs of a key and the tag of the model it stands for.
        value: a table of the config, or a model made from one.
    """
    keys = value.model_fields_set if isinstance(value, BaseModel) else value
    if not isinstance(keys, Mapping | set):
        return None
    return next((tag for key, tag in table if key in keys), None)


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """'; did you mean "..."?' for the closest allowed word, or nothing."""
    close = difflib.get_close_matches(word[:80], list(allowed), n=1, cutoff=0.6)
    return f'; did you mean "{close[0]}"?' if close else ""

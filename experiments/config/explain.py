"""pydantic's errors in the words of this project."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from experiments.config.base import did_you_mean
from experiments.config.errors import Finding, listed, shown
from experiments.config.locate import KeyPath

#: What was asked for, by the type of pydantic's error.
_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text in quotes",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "dict_type": "a table",
    "string_too_short": "text that is not empty",
}
_BOUNDS = {
    "greater_than": ("gt", ">"),
    "greater_than_equal": ("ge", ">="),
    "less_than": ("lt", "<"),
    "less_than_equal": ("le", "<="),
}


def findings_of(error: ValidationError, data: Any) -> list[Finding]:
    """The findings in pydantic's error.

    Args:
        error: what validating ``data`` raised.
        data: the raw data, to tell keys from the tags of unions.
    """
    rows = error.errors(include_url=False)
    return [_finding(row, data) for row in rows if not _is_consequence(row, rows)]


def _is_consequence(row: Any, rows: list[Any]) -> bool:
    """Whether a list is too short only because items of it were refused, and are not counted."""
    place = row["loc"]
    below = (other["loc"] for other in rows if len(other["loc"]) > len(place))
    return row["type"] == "too_short" and any(loc[: len(place)] == place for loc in below)


def _finding(row: Any, data: Any) -> Finding:
    kind, context = row["type"], row.get("ctx", {})
    path = key_path(row["loc"], data, missing=kind == "missing")
    if kind == "unknown_key":
        return _unknown_key(path, context)
    if kind in ("union_tag_invalid", "union_tag_not_found") and "discriminator" in context:
        return _unknown_tag(path, row["input"], context)
    special = _SPECIAL.get(kind)
    if special is not None:
        return Finding(path, special(row["input"], context))
    if kind in _BOUNDS:
        name, sign = _BOUNDS[kind]
        return Finding(
            path, f"expected a value {sign} {context[name]}, found {shown(row['input'])}"
        )
    expected = _EXPECTED.get(kind)
    if expected is not None:
        return Finding(path, f"expected {expected}, found {shown(row['input'])}")
    return Finding(path, f"{row['msg']}, found {shown(row['input'])}")


def key_path(location: tuple, data: Any, *, missing: bool) -> KeyPath:
    """Pydantic's location without the tags of unions, which are no keys of the data."""
    path: list[str | int] = []
    for position, part in enumerate(location):
        if _leads(data, part):
            path.append(part)
            data = data[part]
        elif missing and position == len(location) - 1:
            path.append(part)
    return tuple(path)


def _leads(data: Any, part: str | int) -> bool:
    if isinstance(data, Mapping):
        return part in data
    return isinstance(data, list | tuple) and isinstance(part, int) and part < len(data)


def _unknown_key(path: KeyPath, context: Mapping[str, Any]) -> Finding:
    key, allowed, remedy = context["key"], context["allowed"], context["remedy"]
    hint = f"; {remedy}" if remedy else did_you_mean(key, allowed)
    return Finding((*path, key), f"unknown key; allowed here: {listed(allowed)}{hint}")


def _unknown_tag(path: KeyPath, found: Any, context: Mapping[str, Any]) -> Finding:
    key = context["discriminator"].strip("'")
    allowed = _quoted(_ALLOWED_TAGS[key])
    value = found.get(key) if isinstance(found, Mapping) else found
    if not isinstance(found, Mapping):
        return Finding(path, f"expected a table with the key {key}, found {shown(found)}")
    if key not in found:
        return Finding((*path, key), f"required, but missing; expected one of {listed(allowed)}")
    return Finding((*path, key), _choice(value, allowed))


#: pydantic does not name the allowed values where the key itself is missing.
_ALLOWED_TAGS = {
    "form": "'paper', 'residual', 'prenorm', 'flow'",
    "kind": "'finest', 'closed-form', 'manufactured', 'lines'",
}


def _quoted(text: str) -> list[str]:
    return re.findall(r"'([^']*)'", text)


def _choice(found: Any, allowed: list[str]) -> str:
    hint = did_you_mean(found, allowed) if isinstance(found, str) else ""
    return f"expected one of {listed(allowed)}, found {shown(found)}{hint}"


def _literal(found: Any, context: Mapping[str, Any]) -> str:
    return _choice(found, _quoted(context["expected"]))


def _length(found: Any, context: Mapping[str, Any]) -> str:
    least, most = context.get("min_length"), context.get("max_length")
    bound = f"at least {least}" if least is not None else f"at most {most}"
    size = context.get("actual_length", len(found) if isinstance(found, list | tuple) else "more")
    return f"expected {bound} items, found {size}"


_SPECIAL: dict[str, Callable[[Any, Mapping[str, Any]], str]] = {
    "missing": lambda found, context: "required, but missing",
    "literal_error": _literal,
    "too_short": _length,
    "too_long": _length,
}

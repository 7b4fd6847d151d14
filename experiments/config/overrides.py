"""``--set key.path=value``: changes to the data of a config."""

import dataclasses
import tomllib
from collections.abc import Mapping
from typing import Any

from experiments.config.base import did_you_mean
from experiments.config.errors import ConfigError, Finding, Origin, dotted, shown
from experiments.config.locate import KeyPath


@dataclasses.dataclass(frozen=True)
class Override:
    """One change.

    Args:
        keys: the key path as written; indices and names of list items are text.
        value: the new value, as ``tomllib`` gives values.
        words: the override as the user wrote it.
    """

    keys: tuple[str, ...]
    value: Any
    words: str


def parse_override(text: str) -> Override:
    """``key.path=value``; the value is TOML, or plain text when it is not valid TOML.

    Args:
        text: parts of the path in quotes may hold dots; list items are named by their index, or
            by the value of their ``name``.

    Raises:
        ConfigError: if there is no equals sign, or the path is not a dotted key.
    """
    words = f"--set {text}"
    for at in (i for i, letter in enumerate(text) if letter == "="):
        keys = parse_key(text[:at])
        if keys is not None:
            return Override(keys, _value(text[at + 1 :]), words)
    message = "expected key.path=value, such as --set time.steps=64"
    raise ConfigError(Origin(words), [Finding((), message)])


def parse_key(text: str) -> tuple[str, ...] | None:
    """The parts of a dotted key, or None if it is none."""
    if "\n" in text or not text.strip():
        return None
    try:
        data = tomllib.loads(f"{text} = 0")
    except (ValueError, RecursionError):
        return None
    keys = []
    while isinstance(data, dict):
        if len(data) != 1:
            return None
        key, data = next(iter(data.items()))
        keys.append(key)
    return tuple(keys)


def _value(text: str) -> Any:
    try:
        data = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return data["value"] if list(data) == ["value"] else text


def apply(data: dict[str, Any], override: Override) -> KeyPath:
    """Change ``data`` in place.

    Args:
        data: tables as dicts, arrays as lists; missing tables on the way are made.
        override: the change.

    Returns:
        The path that was set, list items by their index.

    Raises:
        ConfigError: for a path through something that is neither table nor list, or an index or
            name that a list does not have.
    """
    node: Any = data
    path: KeyPath = ()
    for key in override.keys[:-1]:
        step = _step(node, key, path, override)
        if isinstance(node, dict):
            node.setdefault(step, {})
        node, path = node[step], (*path, step)
    last = _step(node, override.keys[-1], path, override)
    node[last] = override.value
    return (*path, last)


def _step(node: Any, key: str, path: KeyPath, override: Override) -> str | int:
    if isinstance(node, dict):
        return key
    if not isinstance(node, list):
        raise _refused(path, override, f"expected a table or a list here, found {shown(node)}")
    names = [item.get("name") if isinstance(item, Mapping) else None for item in node]
    if key in names:
        return names.index(key)
    if key.isascii() and key.isdigit() and len(key) < 10 and int(key) < len(node):
        return int(key)
    known = [name for name in names if isinstance(name, str)]
    count = f"an index from 0 to {len(node) - 1}" if node else "nothing, the list is empty"
    named = f", or a name of {', '.join(known)}" if known else ""
    hint = did_you_mean(key, known)
    raise _refused(path, override, f"expected {count}{named}, found {shown(key)}{hint}")


def _refused(path: KeyPath, override: Override, message: str) -> ConfigError:
    origin = Origin(override.words)
    where = path if path else tuple(override.keys)
    return ConfigError(origin, [Finding(where, message)])


def described(key: str, value: Any) -> str:
    """An override that a program made, for messages."""
    return f"override {dotted(parse_key(key) or (key,))} = {shown(value)}"

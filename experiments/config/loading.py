"""From a TOML file and overrides to a checked config."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from experiments.config.base import did_you_mean
from experiments.config.checks import findings
from experiments.config.errors import ConfigError, Finding, Origin, listed, shown
from experiments.config.explain import findings_of
from experiments.config.file_checks import file_findings
from experiments.config.library_checks import library_findings
from experiments.config.locate import KeyPath, key_lines
from experiments.config.overrides import (
    Override,
    apply,
    described,
    parse_key,
    parse_override,
)
from experiments.config.resolve import resolve
from experiments.config.root import Config
from experiments.config.shipped import shipped
from experiments.config.study_checks import study_findings

_TOML_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)| \(at end of document\)")

_HUGE_NUMBER = re.compile(r"[0-9_]{4000,}")


def load_config(
    source: str | Path, overrides: Sequence[str] = (), *, library: bool = True
) -> Config:
    """Read, complete and check an experiment.

    Args:
        source: a TOML file, or the name of a shipped config.
        overrides: ``key.path=value`` each, as ``--set`` takes them: the value is TOML, or plain
            text if it is not valid TOML; items of lists are named by index, or by their ``name``.
        library: also check what needs the library (and jax): expressions, and the names of
            schemes, rules, bases and activations.

    Returns:
        The config, all defaults filled in.

    Raises:
        ConfigError: for whatever is wrong with file, overrides or values.  The message has a line
            for each finding: file and line, key, what was found, what is allowed, a remedy.
    """
    path = _path(source)
    text = _read(path)
    data = _parse(text, str(path))
    lines = text.rstrip("\n").count("\n") + 1
    try:
        origin = Origin(str(path), key_lines(text), lines)
        origin = _overridden(data, [parse_override(words) for words in overrides], origin)
        config = _validated(data, origin, path.parent)
        for check in (study_findings, file_findings, *([library_findings] if library else [])):
            _refuse(origin, check(config))
    except RecursionError as error:
        raise _too_deep(str(path)) from error
    return config


def _too_deep(name: str) -> ConfigError:
    message = "tables, lists or expressions are nested too deeply; expected a few levels"
    return ConfigError(Origin(name), [Finding((), message)])


def changed(config: Config, changes: Mapping[str, Any]) -> Config:
    """See ``Config.with_overrides``."""
    data = _mutable(config.to_data())
    overrides = []
    for key, value in changes.items():
        keys = parse_key(key)
        if keys is None:
            message = f"expected a key path such as grid.rule, found {shown(key)}"
            raise ConfigError(Origin("override"), [Finding((), message)])
        overrides.append(Override(keys, _mutable(value), described(key, value)))
    origin = _overridden(data, overrides, Origin("the changed config"))
    found = _validated(data, origin, Path.cwd())
    if any(override.keys[0] == "studies" for override in overrides):
        _refuse(origin, study_findings(found))
    return found


def _path(source: str | Path) -> Path:
    path = Path(source)
    if isinstance(source, Path) or path.suffix == ".toml" or len(path.parts) > 1:
        return path
    known = {config.name: config.path for config in shipped()}
    if source in known:
        return known[source]
    if path.is_file():
        return path
    message = (
        f"expected a TOML file or a shipped config, one of {listed(known) or '(none)'}, found "
        f"{shown(source)}{did_you_mean(source, known)}"
    )
    raise ConfigError(Origin("config"), [Finding((), message)])


def _read(path: Path) -> str:
    origin = Origin(str(path))
    try:
        if path.exists() and not path.is_file():
            raise ConfigError(origin, [Finding((), "expected a TOML file, found something else")])
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        words = getattr(error, "strerror", None) or str(error)
        raise ConfigError(origin, [Finding((), f"cannot be read: {words}")]) from error
    try:
        return content.decode("utf-8").removeprefix("\ufeff")  # some editors put it there
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise ConfigError(
            Origin(f"{path}, line {line}, column {column}"),
            [Finding((), "expected UTF-8 text, found a byte that is none; save the file as UTF-8")],
        ) from error


def _parse(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        words = str(error)
        place = _TOML_PLACE.search(words)
        at = name
        if place is not None:
            lines = text.split("\n")
            line, column = place.groups()
            line, column = line or len(lines), column or len(lines[-1]) + 1
            at = f"{name}, line {line}, column {column}"
        message = f"not valid TOML: {_TOML_PLACE.sub('', words)}"
        raise ConfigError(Origin(at), [Finding((), message)]) from error
    except ValueError as error:  # the one thing that tomllib leaves to Python is int()
        digits = _HUGE_NUMBER.search(text)
        line = text.count("\n", 0, digits.start()) + 1 if digits else 1
        message = "expected numbers of a few digits, found one of thousands"
        raise ConfigError(Origin(f"{name}, line {line}"), [Finding((), message)]) from error
    except RecursionError as error:
        raise _too_deep(name) from error


def _overridden(data: dict[str, Any], overrides: list[Override], origin: Origin) -> Origin:
    places: dict[KeyPath, str] = {}
    for override in overrides:
        places[apply(data, override)] = override.words
    return Origin(origin.name, origin.lines, origin.last, places)


def _validated(data: dict[str, Any], origin: Origin, folder: Path) -> Config:
    frozen = _frozen(_with_unit_grid(data))
    try:
        config = Config.model_validate(frozen, context={"folder": str(folder)})
    except ValidationError as error:
        raise ConfigError(origin, findings_of(error, frozen)) from None
    _refuse(origin, findings(config))
    return resolve(config)


def _with_unit_grid(data: dict[str, Any]) -> dict[str, Any]:
    """A model's grid, its missing counts filled in: one node for each token and feature."""
    grid = data.get("grid", {})
    if "model" not in data or not isinstance(grid, Mapping):
        return data
    return data | {"grid": {"tokens": 1, "features": 1, **grid}}


def _refuse(origin: Origin, found: Iterable[Finding]) -> None:
    found = list(found)
    if found:
        raise ConfigError(origin, found)


def _frozen(value: Any) -> Any:
    """The data with tuples for lists."""
    if isinstance(value, Mapping):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(_frozen(item) for item in value) if isinstance(value, list | tuple) else value


def _mutable(value: Any) -> Any:
    """The data with lists for tuples."""
    if isinstance(value, Mapping):
        return {key: _mutable(item) for key, item in value.items()}
    return [_mutable(item) for item in value] if isinstance(value, list | tuple) else value

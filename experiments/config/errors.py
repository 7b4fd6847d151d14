"""What is wrong with a config, where, and what would be right."""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any

from experiments.config.locate import KeyPath

#: More findings than this are counted, not listed.
_LISTED = 8

#: Longer values are cut when a message shows them.
_SHOWN = 60


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Args:
        path: the key path.
        message: what was found, what is allowed, and the remedy.
    """

    path: KeyPath
    message: str


@dataclasses.dataclass(frozen=True)
class Origin:
    """Where the values of a config come from.

    Args:
        name: the file, or words for what stands in its place.
        lines: key path -> line; empty when there is no file.
        last: the last line of the file.
        overrides: key path -> the override that set it, as the user wrote it.
    """

    name: str
    lines: Mapping[KeyPath, int] = dataclasses.field(default_factory=dict)
    last: int = 0
    overrides: Mapping[KeyPath, str] = dataclasses.field(default_factory=dict)

    def place(self, path: KeyPath) -> str:
        """Where the value at ``path``, or the nearest table around it, was written."""
        heads = [path[:length] for length in range(len(path), 0, -1)]
        for head in heads:  # an override replaces all that the file has below its key
            if head in self.overrides:
                return self.overrides[head]
        for head in heads:
            if head in self.lines:
                return f"{self.name}, line {self.lines[head]}"
        return f"{self.name}, line {self.last}" if self.last else self.name


class ConfigError(ValueError):
    """A config that cannot be used.

    The message has a line for each finding: the file and the line, or the override, the key, what
    was found, what is allowed, and a remedy where one is known.

    Args:
        origin: where the values come from.
        findings: what is wrong, at least one thing.
    """

    def __init__(self, origin: Origin, findings: Iterable[Finding]) -> None:
        """Put the message together."""
        self.origin = origin
        self.findings = tuple(findings)
        ValueError.__init__(self, "\n".join(self._message()))

    def _message(self) -> list[str]:
        lines = [
            f"{self.origin.place(f.path)}: "
            + (f"{dotted(f.path)}: {f.message}" if f.path else f.message)
            for f in self.findings[:_LISTED]
        ]
        more = len(self.findings) - _LISTED
        return [*lines, f"and {more} more"] if more > 0 else lines


def dotted(path: KeyPath) -> str:
    """A key path as ``--set`` takes it."""
    parts = [part if len(part) <= _SHOWN else f"{part[:_SHOWN]}..." for part in map(str, path)]
    return ".".join(part if _bare(part) else json.dumps(part) for part in parts)


def _bare(part: str) -> bool:
    return part.isascii() and part.replace("-", "a").replace("_", "a").isalnum()


def shown(value: Any) -> str:
    """A value roughly as TOML writes it, cut when it is long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value if len(value) <= _SHOWN else value[:_SHOWN] + "...")
    if isinstance(value, Mapping):
        keys = ", ".join(str(key)[:20] for key in list(value)[:4])
        return f"a table with the keys {keys}" if keys else "an empty table"
    if isinstance(value, list | tuple):
        return _shown_list(value)
    text = str(value) if not isinstance(value, int) or abs(value) < 10**30 else "a huge number"
    return text[:_SHOWN]


def _shown_list(value: list | tuple) -> str:
    if any(isinstance(item, list | tuple | Mapping) for item in value):
        return f"a list of {len(value)}"
    items = ", ".join(shown(item) for item in value[:5])
    return f"[{items}, ...]" if len(value) > 5 else f"[{items}]"


def listed(allowed: Iterable[str]) -> str:
    """Allowed words, in a row."""
    return ", ".join(allowed)

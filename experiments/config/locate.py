"""On which line of a TOML file each key stands.

``tomllib`` checks and reads the file but forgets positions.  This scanner trusts that check: it
reads only text that ``tomllib`` has accepted, so it needs to know where things end and no more.
"""

import re
import tomllib
from typing import TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]

_SPACE = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRINGS = (
    re.compile(r'"""(?:\\.|[^\\])*?"{3,5}', re.DOTALL),
    re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:\\.|[^"\\])*"'),
    re.compile(r"'[^']*'"),
)
#: A number, a boolean or a date, which may have a space before its time.
_SCALAR = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9][^\s,\]}#]*|[^\s,\]}#]+")


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line, from 1, on which each key path and each array item first stands.

    Args:
        text: valid TOML, as ``tomllib`` accepts it.

    Returns:
        Paths of keys and of indices, such as ``("studies", 0, "sizes")``.  Tables that are only
        implied by a longer header stand where that header is.
    """
    return _Scanner(text.replace("\r\n", "\n")).run()


class _Scanner:
    """One pass over the text; ``at`` is the position."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self.arrays: dict[KeyPath, int] = {}
        self._line, self._counted = 1, 0

    def run(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self._skip(_GAP)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_GAP)
        return self.lines

    def _header(self) -> KeyPath:
        line, array = self._here(), self.text.startswith("[[", self.at)
        self.at += 2 if array else 1
        parts = self._key()
        self.at += 2 if array else 1
        path: KeyPath = ()
        for part in parts[:-1]:
            path = self._entered((*path, part), line)
        path = (*path, parts[-1])
        self.lines.setdefault(path, line)
        if array:
            self.arrays[path] = self.arrays.get(path, -1) + 1
            path = (*path, self.arrays[path])
            self.lines.setdefault(path, line)
        return path

    def _entered(self, path: KeyPath, line: int) -> KeyPath:
        """The path inside: of an array of tables, its last item."""
        self.lines.setdefault(path, line)
        return (*path, self.arrays[path]) if path in self.arrays else path

    def _pair(self, table: KeyPath) -> None:
        line = self._here()
        path = table
        for part in self._key():
            path = (*path, part)
            self.lines.setdefault(path, line)
        self.at += 1  # the equals sign
        self._skip(_SPACE)
        self._value(path)

    def _key(self) -> list[str]:
        """A dotted key; afterwards ``at`` is on what follows it."""
        parts = []
        while True:
            self._skip(_SPACE)
            parts.append(self._key_part())
            self._skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1

    def _key_part(self) -> str:
        if self.text[self.at] in "\"'":
            return tomllib.loads(f"key = {self._string()}")["key"]
        return self._take(_BARE_KEY)

    def _value(self, path: KeyPath) -> None:
        head = self.text[self.at]
        if head == "[":
            self._items(path)
        elif head == "{":
            self._inline(path)
        elif head in "\"'":
            self._string()
        else:
            self._take(_SCALAR)

    def _items(self, path: KeyPath) -> None:
        self.at += 1
        self._skip(_GAP)
        count = 0
        while self.text[self.at] != "]":
            item = (*path, count)
            self.lines.setdefault(item, self._here())
            self._value(item)
            count += 1
            self._separator()
        self.at += 1

    def _inline(self, path: KeyPath) -> None:
        self.at += 1
        self._skip(_GAP)
        while self.text[self.at] != "}":
            self._pair(path)
            self._separator()
        self.at += 1

    def _separator(self) -> None:
        self._skip(_GAP)
        if self.text[self.at] == ",":
            self.at += 1
            self._skip(_GAP)

    def _string(self) -> str:
        pattern = next(p for p in _STRINGS if p.match(self.text, self.at))
        return self._take(pattern)

    def _skip(self, pattern: re.Pattern) -> None:
        self._take(pattern)

    def _take(self, pattern: re.Pattern) -> str:
        found = pattern.match(self.text, self.at)
        assert found is not None, "the text was not accepted by tomllib"
        self.at = found.end()
        return found.group()

    def _here(self) -> int:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

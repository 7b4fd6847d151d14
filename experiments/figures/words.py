"""Text on figures: any text a user may write, broken into lines that fit, and numbers."""

import functools
from collections.abc import Iterator, Sequence

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties, findfont, get_font

FONT = "DejaVu Sans"
_DPI = 200.0
_MISSING = "\N{WHITE SQUARE}"


@functools.cache
def _characters() -> frozenset[int]:
    return frozenset(get_font(findfont(FONT)).get_charmap())


def clean(text: str) -> str:
    """The text with single spaces, and a square for every character that the font lacks."""
    known = _characters()
    words = " ".join(text.split())
    return "".join(c if c.isprintable() and ord(c) in known else _MISSING for c in words)


def escape(text: str) -> str:
    """Dollar signs are dollar signs: nothing in the text is read as mathematics."""
    return text.replace("$", r"\$")


@functools.cache
def _renderer() -> RendererAgg:
    return RendererAgg(1, 1, _DPI)


@functools.lru_cache(maxsize=4096)
def width(text: str, size: float, weight: str = "normal") -> float:
    """The width of one line of text in inches, at a font size in points."""
    font = FontProperties(family=FONT, size=size, weight=weight)
    return _renderer().get_text_width_height_descent(text, font, False)[0] / _DPI


def lines(text: str, inches: float, size: float, weight: str = "normal") -> list[str]:
    """The cleaned text in lines of at most ``inches``; a longer word is broken.

    Returns:
        At least one line; dollar signs are not escaped yet.
    """
    found = [""]
    for word in _pieces(clean(text), inches, size, weight):
        longer = f"{found[-1]} {word}".strip()
        if found[-1] and width(longer, size, weight) > inches:
            found.append(word)
        else:
            found[-1] = longer
    return found


def _pieces(text: str, inches: float, size: float, weight: str) -> Iterator[str]:
    """The words, those that are too long in pieces."""
    for word in text.split():
        rest = word
        while len(rest) > 1 and width(rest, size, weight) > inches:
            fitting = (
                n for n in range(len(rest), 1, -1) if width(rest[:n], size, weight) <= inches
            )
            count = next(fitting, 1)
            yield rest[:count]
            rest = rest[count:]
        yield rest


def wrapped(text: str, inches: float, size: float, weight: str = "normal") -> str:
    """The text in lines that fit, ready for matplotlib."""
    return "\n".join(escape(line) for line in lines(text, inches, size, weight))


def with_unit(label: str, unit: str) -> str:
    """An axis' label: "time (s)"; a dimensionless quantity ("" or "1") stands alone."""
    return label if unit in ("", "1") else f"{label} ({unit})"


def numbers(values: Sequence[float]) -> list[str]:
    """Numbers for an axis, all plain (0.05, 200) or, where those get long, all scientific."""
    parts = [f"{value:.2e}".split("e") for value in values]
    if all(value == 0 or -4 < int(e) < 4 for value, (_, e) in zip(values, parts, strict=True)):
        return [f"{value:.3g}" for value in values]
    return [scientific(mantissa, int(exponent)) for mantissa, exponent in parts]


def plain(value: float, position: int | None = None) -> str:
    """A tick of a linear axis; a formatter of matplotlib's gets the position too."""
    return f"{value:.6g}".replace("-", "\N{MINUS SIGN}")


def scientific(mantissa: str, exponent: int) -> str:
    """The number mantissa * 10^exponent as mathematics."""
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    if mantissa == "0":
        return "0"
    start = {"1": "", "-1": "-"}.get(mantissa, rf"{mantissa}\times")
    return rf"${start}10^{{{exponent}}}$"


def distinct(values: list[float], least: int = 3) -> list[str]:
    """The values in as few significant digits, at least ``least``, as tell them apart."""
    for digits in range(least, 18):
        texts = [f"{value:.{digits}g}" for value in values]
        if len(set(texts)) == len(set(values)):
            return texts
    return [repr(float(value)) for value in values]

"""Domains of integration: boxes with Lebesgue measure, and atoms beside them."""

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Domain:
    """A box prod_i [lower_i, upper_i] with Lebesgue measure, and points of measure one beside it.

    Args:
        lower: lower corner, one float per coordinate; see :func:`interval` for [0, length].
        upper: upper corner, the same length; ``math.inf`` for an axis whose extent the data decide.
        symbol: the name of the domain in printed mathematics, such as ``"Omega_y"``.
        atoms: how many points stand beside the box, each of measure 1: class tokens of Omega_x.

    Raises:
        ValueError: if the corners differ in length, some upper end is not above its lower end, or
            there are fewer than no atoms.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    symbol: str = "Omega"
    atoms: int = 0

    def __post_init__(self) -> None:
        """Check the corners."""
        for name in ("lower", "upper"):
            object.__setattr__(self, name, tuple(float(v) for v in getattr(self, name)))
        if len(self.lower) != len(self.upper):
            raise ValueError(
                f"{self.symbol}: expected corners of one length, got lower={self.lower} and "
                f"upper={self.upper}"
            )
        if self.atoms < 0:
            raise ValueError(f"{self.symbol}: expected atoms >= 0, got {self.atoms}")
        if not all(a < b and math.isfinite(a) for a, b in zip(self.lower, self.upper, strict=True)):
            raise ValueError(
                f"{self.symbol}: every upper end must lie above a finite lower end, got "
                f"lower={self.lower} and upper={self.upper}"
            )

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return len(self.lower)

    @property
    def extents(self) -> tuple[float, ...]:
        """The edge lengths of the box."""
        return tuple(b - a for a, b in zip(self.lower, self.upper, strict=True))

    @property
    def measure(self) -> float:
        """|Omega|, the product of the edge lengths plus the atoms (``inf`` when unbounded)."""
        return math.prod(self.extents) + self.atoms

    def __mul__(self, other: "Domain") -> "Domain":
        """The product domain, coordinates of ``self`` first."""
        return Domain(
            self.lower + other.lower, self.upper + other.upper, f"{self.symbol} x {other.symbol}"
        )

    def __str__(self) -> str:
        """For instance ``Omega_y = [0, 384]``."""
        box = " x ".join(
            f"[{a:g}, {'N' if math.isinf(b) else format(b, 'g')}]"
            for a, b in zip(self.lower, self.upper, strict=True)
        )
        points = f"{self.atoms} atom{'s' * (self.atoms > 1)} + " if self.atoms else ""
        return f"{self.symbol} = {points}{box}"


def interval(length: float, symbol: str) -> Domain:
    """The interval [0, length]."""
    return Domain((0.0,), (float(length),), symbol)


def token_axis(symbol: str = "Omega_x") -> Domain:
    """Omega_x = [0, N] where the sequence decides N; token i is the cell [i, i + 1]."""
    return Domain((0.0,), (math.inf,), symbol)

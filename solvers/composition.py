"""Compositions of a whole step with itself: steps of fractions of dt, some of them negative."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Parts:
    """A time step made of steps of the same method over fractions of dt.

    Args:
        name: the field's name of the composition.
        order: the order reached over a symmetric method of order two whose substeps are symmetric
            or of at least this order; None where the method's own order stays.
        lengths: the fractions, which sum to one.
    """

    name: str
    order: int | None
    lengths: tuple[float, ...]

    @property
    def starts(self) -> tuple[float, ...]:
        """Where each part begins, in units of dt."""
        return tuple(sum(self.lengths[:k]) for k in range(len(self.lengths)))

    @property
    def runs_backwards(self) -> bool:
        """Whether some part is negative: above order two one must be (Sheng, Suzuki)."""
        return min(self.lengths) < 0.0


#: The step as it is.
WHOLE = Parts("whole", None, (1.0,))

_OUTER = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))

#: Three steps, the middle one backwards (Yoshida 1990, doi:10.1016/0375-9601(90)90092-3).
TRIPLE_JUMP = Parts("triple jump", 4, (_OUTER, 1.0 - 2.0 * _OUTER, _OUTER))

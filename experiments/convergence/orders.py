"""Orders of convergence from errors."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

#: A fit takes at least this many points (that is four refinements) when as many are usable.
_POINTS = 5

#: An error this many times above the floor is not yet spoiled by it.
_CLEAR = 8.0


@dataclasses.dataclass(frozen=True)
class Fit:
    """A line through the logarithms of errors.

    Args:
        order: its slope; None when fewer than two points are usable.
        used: which points it goes through.
    """

    order: float | None
    used: tuple[bool, ...]


def local_orders(steps: Sequence[float], errors: Sequence[float]) -> tuple[float | None, ...]:
    """log(e_k / e_k+1) / log(h_k / h_k+1) for neighbours; None where an error is 0 or no number.

    Args:
        steps: h or dt, decreasing.
        errors: one for each.
    """
    return tuple(
        math.log(e / f) / math.log(h / k) if _positive(e) and _positive(f) else None
        for h, k, e, f in zip(steps, steps[1:], errors, errors[1:], strict=False)
    )


def fit(steps: Sequence[float], errors: Sequence[float], *, floor: float = 0.0) -> Fit:
    """The order by least squares over the asymptotic part of a refinement.

    Usable are errors well above the floor.  Coarse grids are not in the asymptotic regime yet, so
    of the usable points the finest five are taken: four refinements.

    Args:
        steps: h or dt, decreasing.
        errors: one for each; values that are not finite, and zero, are left out.
        floor: where round-off or the reference's own error takes over.
    """
    usable = [k for k, error in enumerate(errors) if _positive(error) and error > _CLEAR * floor]
    chosen = usable[-_POINTS:]
    used = tuple(k in chosen for k in range(len(errors)))
    if len(chosen) < 2:
        return Fit(None, used)
    slope = np.polyfit(
        [math.log(steps[k]) for k in chosen], [math.log(errors[k]) for k in chosen], 1
    )[0]
    return Fit(float(slope), used)


def _positive(error: float) -> bool:
    return math.isfinite(error) and error > 0.0

"""The result of one refinement study."""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

#: A measured order passes within this distance of the declared one.
TOLERANCE = 0.05

#: The order in JSON of a rule that is faster than any power.
SPECTRAL = "spectral"


@dataclasses.dataclass(frozen=True)
class StudyResult:
    """Errors over sizes, and the orders in them.

    Args:
        name: of the study.
        axis: what was refined.
        sizes: cells along the axis, or steps.
        steps: h or dt that belong to the sizes.
        errors: in the study's norm, relative to the reference's norm.
        errors_l2: in the discrete L2 norm.
        errors_max: in the maximum norm.
        local_orders: between neighbours, one fewer than sizes.
        fitted_order: by least squares; None where nothing can be fitted.
        used: which sizes the fit used.
        declared_order: None where none is declared, infinity for faster than any power.
        violations: constraint -> its violation at T for each size.
        reference: what the errors are measured against, in words.
        norm: "l2" or "max".
        floor: the error below which round-off, or the reference, decides.
        reason: why no order is declared, or where the declared one comes from.
        warnings: of the guard.
        ill_posed: why the question has no answer.
    """

    name: str
    axis: str
    sizes: tuple[int, ...]
    steps: tuple[float, ...]
    errors: tuple[float, ...]
    errors_l2: tuple[float, ...]
    errors_max: tuple[float, ...]
    local_orders: tuple[float | None, ...]
    fitted_order: float | None
    used: tuple[bool, ...]
    declared_order: float | None
    violations: Mapping[str, tuple[float, ...]]
    reference: str
    norm: str
    floor: float
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    ill_posed: tuple[str, ...] = ()

    @property
    def passed(self) -> bool | None:
        """Whether the measured order is the declared one; None where none is declared.

        A spectral rule passes when its errors reach the floor, or local orders keep growing past
        every order that a fixed-order rule here has.
        """
        if self.declared_order is None:
            return None
        if math.isinf(self.declared_order):
            return min(self.errors) <= max(8.0 * self.floor, 1e-12)
        if self.fitted_order is None:
            return False
        return abs(self.fitted_order - self.declared_order) <= TOLERANCE

    def as_data(self) -> dict[str, Any]:
        """For ``convergence.json``; orders beyond every power are the word "spectral"."""
        data = {
            field.name: _listed(getattr(self, field.name)) for field in dataclasses.fields(self)
        }
        if self.declared_order is not None and math.isinf(self.declared_order):
            data["declared_order"] = SPECTRAL
        return data | {"passed": self.passed}

    def rows(self) -> Iterator[dict[str, Any]]:
        """For ``convergence.csv``: one for each size."""
        for k, size in enumerate(self.sizes):
            yield {
                "study": self.name,
                "axis": self.axis,
                "size": size,
                "step": self.steps[k],
                "error": self.errors[k],
                "error_l2": self.errors_l2[k],
                "error_max": self.errors_max[k],
                "local_order": self.local_orders[k - 1] if k else None,
                "fitted_order": self.fitted_order,
                "declared_order": self.declared_order,
                **{f"violation_{name}": values[k] for name, values in self.violations.items()},
            }

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> "StudyResult":
        """The inverse of :meth:`as_data`, of what was read back from JSON."""
        found = {name: value for name, value in data.items() if name != "passed"}
        if found["declared_order"] == SPECTRAL:
            found["declared_order"] = math.inf
        violations = {name: tuple(values) for name, values in found.pop("violations").items()}
        errors = {
            name: tuple(math.nan if e is None else float(e) for e in found.pop(name))
            for name in ("errors", "errors_l2", "errors_max")
        }
        lists = {name: tuple(value) for name, value in found.items() if isinstance(value, list)}
        return StudyResult(**{**found, **lists, **errors, "violations": violations})


def _listed(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return {name: list(item) for name, item in value.items()}
    return value

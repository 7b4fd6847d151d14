"""[[studies]]: what ``continuum converge`` refines, and what it compares with."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from experiments.config.base import Count, Part, Text
from experiments.config.grid import RuleChoice

Axis: TypeAlias = Literal["time", "tokens", "features", "heads", "space", "joint"]


class FinestReference(Part):
    """The solution on a finer grid, or with more steps.

    Args:
        kind: "finest".
        size: cells along the refined axis; without it (and without ``steps`` where time is
            refined) the last one of the study's sizes is the reference.
        rule: the quadrature rule of the reference, by default the study's.
        scheme: the scheme of the reference, by default the study's.
        steps: the steps of the reference.
        extrapolate: where time is refined: the order p to extrapolate by (Richardson), from the
            solutions u with ``steps`` and v with half as many: (2^p u - v) / (2^p - 1).
    """

    kind: Literal["finest"]
    size: Count | None = None
    rule: RuleChoice | None = None
    scheme: Text | None = None
    steps: Count | None = None
    extrapolate: Count | None = None


class ClosedFormReference(Part):
    """A closed form: the mean field, the linear flow on the sphere, Skorokhod's reflection."""

    kind: Literal["closed-form"]
    name: Literal["mean-field", "sphere", "reflection"]


class ManufacturedReference(Part):
    """A chosen solution, an expression in x (or x1, x2), y and t; its source is added."""

    kind: Literal["manufactured"]
    solution: Text


class LinesReference(Part):
    """The method of lines: diffrax's Dopri8 on the same grid, in time as exact as it gets."""

    kind: Literal["lines"]


Reference = Annotated[
    FinestReference | ClosedFormReference | ManufacturedReference | LinesReference,
    Field(discriminator="kind"),
]


def _declared(value: Any) -> Any:
    if value is False or value == "declared":
        return value
    raise PydanticCustomError(
        "order", 'expected "declared", or false with a reason', {"allowed": ["declared"]}
    )


class Study(Part):
    """A refinement of one axis.

    Args:
        name: of the study, in results and on figures.
        axis: what is refined; space is tokens and features, joint is space and time.
        sizes: cells along the axis (steps, where the axis is time), increasing.
        steps: for joint, the steps that belong to each size.
        norm: of the error: "l2", or "max".
        reference: what the solutions are compared with.
        order: "declared", or false where no order exists.
        reason: why not.
        set: changes to the rest of the config, key path -> value.
    """

    name: Text
    axis: Axis
    sizes: Annotated[tuple[Count, ...], Field(min_length=2)]
    steps: tuple[Count, ...] | None = None
    norm: Literal["l2", "max"] = "l2"
    reference: Reference
    order: Annotated[Literal["declared", False], BeforeValidator(_declared)] = "declared"
    reason: Text | None = None
    set: dict[str, Any] = Field(default_factory=dict)

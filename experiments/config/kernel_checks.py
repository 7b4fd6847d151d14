"""Checks of kernels and fields against the domains they live on."""

from collections.abc import Iterator

from experiments.config.equation import FlowEquation
from experiments.config.errors import Finding
from experiments.config.kernels import (
    Cells,
    FieldFunction,
    GivenBasis,
    Identity,
    Kernel,
    RandomBasis,
)
from experiments.config.locate import KeyPath
from experiments.config.root import Config
from experiments.config.slots import HEAD, KernelSlot, field_slots, kernel_slots

#: Rules whose nodes are the ends of cells, one more than there are cells.
END_POINT_RULES = ("trapezoid", "simpson")


def kernel_findings(config: Config) -> Iterator[Finding]:
    """What does not fit, files left out."""
    equation, domains = config.equation, config.domains
    assert equation is not None and domains is not None
    for slot in kernel_slots(equation):
        yield from _sizes(slot.path, slot.kernel, HEAD in (slot.source, slot.target))
        if isinstance(slot.kernel, GivenBasis):
            yield from _kernel_coefficients(slot, slot.kernel)
        if isinstance(slot.kernel, Identity):
            yield from _identity(slot, config)
    for slot in field_slots(equation):
        yield from _sizes(slot.path, slot.field, slot.variables == HEAD)
        if isinstance(slot.field, GivenBasis):
            yield from _field_coefficients(slot.path, slot.field, slot.variables == HEAD)


def _sizes(path: KeyPath, function: Kernel | FieldFunction, heads: bool) -> Iterator[Finding]:
    """A number of head functions or cells only where there is a head coordinate."""
    if heads:
        return
    for kinds, key in ((RandomBasis | GivenBasis, "head_size"), (Cells, "head_cells")):
        if isinstance(function, kinds) and getattr(function, key) != 1:
            yield Finding(
                (*path, key), "only functions of zeta (in attention) have it; leave it out"
            )


def _rank(values: tuple) -> int:
    return 1 + (_rank(values[0]) if isinstance(values[0], tuple) else 0)


def _kernel_coefficients(slot: KernelSlot, kernel: GivenBasis) -> Iterator[Finding]:
    path, values = (*slot.path, "coefficients"), kernel.coefficients
    if _rank(values) == 1:
        yield Finding(path, "expected rows of numbers, [source][target], found a single list")
        return
    table = values if _rank(values) == 2 else values[0]
    sizes = {slot.source: len(table), slot.target: len(table[0])}
    if HEAD in sizes:
        yield from _divides(path, sizes[HEAD], kernel.head_size)


def _field_coefficients(path: KeyPath, field: GivenBasis, heads: bool) -> Iterator[Finding]:
    values = field.coefficients
    if _rank(values) > 2:
        yield Finding(
            (*path, "coefficients"), "expected a list of numbers, or one list for each cell in t"
        )
        return
    row = values if _rank(values) == 1 else values[0]
    if heads:
        yield from _divides((*path, "coefficients"), len(row), field.head_size)


def _divides(path: KeyPath, size: int, heads: int) -> Iterator[Finding]:
    if size % heads:
        yield Finding(
            path,
            f"expected a multiple of head_size = {heads} functions on Omega_h x Omega_eta, found "
            f"{size}",
        )


def _identity(slot: KernelSlot, config: Config) -> Iterator[Finding]:
    """The identity needs one domain on both sides, up to the head coordinate."""
    domains, equation = config.domains, config.equation
    assert isinstance(slot.kernel, Identity) and domains is not None and equation is not None
    other, name = domains.features, "features"
    if HEAD in (slot.source, slot.target):
        other, name = domains.eta, "head_features"
    elif len(equation.dense) > 1 and not isinstance(equation, FlowEquation):
        other, name = domains.inner, "hidden"
    if other != domains.features:
        yield Finding(
            slot.path,
            f"the identity needs domains.{name} = domains.features = {list(domains.features)}, "
            f"found {list(other)}",
        )
    yield from cell_findings((*slot.path, "cells"), slot.kernel.cells, domains.features, config)


def cell_findings(
    path: KeyPath, cells: int, interval: tuple[float, float], config: Config
) -> Iterator[Finding]:
    """Functions constant on cells need a grid of nested cells, with one node for each.

    Args:
        path: where the cells are told.
        cells: how many.
        interval: the feature-like domain they lie in.
        config: tells the grid.
    """
    grid, domains = config.grid, config.domains
    assert grid is not None and domains is not None
    rule = grid.rules.features
    if rule in END_POINT_RULES:
        yield Finding(
            path,
            f"cells need a rule with one node for each cell (midpoint, left, periodic), found "
            f"grid.rule {rule}",
        )
    spacing = (domains.features[1] - domains.features[0]) / grid.features
    count = max(1, round((interval[1] - interval[0]) / spacing))
    if count % cells and cells % count:
        yield Finding(
            path,
            f"{cells} cells and the {count} cells of the grid do not nest: expected one number to "
            "divide the other; change the cells or grid.features",
        )

"""Where kernels, fields and expressions stand in a config, and in which variables they are."""

import dataclasses
from collections.abc import Iterator

from experiments.config.equation import Attention, Equation, source_of
from experiments.config.initial import ExpressionInitial
from experiments.config.kernels import FieldFunction, Kernel, Layers, Separable
from experiments.config.locate import KeyPath
from experiments.config.root import Config
from experiments.config.studies import ManufacturedReference

#: The variables of a point of Omega_h x Omega_eta, and of functions on the feature domains.
HEAD, XI, Y = ("zeta", "eta"), ("xi",), ("y",)


@dataclasses.dataclass(frozen=True)
class KernelSlot:
    """A kernel: its place, and the variables of its source and target points."""

    path: KeyPath
    kernel: Kernel
    source: tuple[str, ...]
    target: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class FieldSlot:
    """A field: its place, and the variables of its points."""

    path: KeyPath
    field: FieldFunction
    variables: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Formula:
    """An expression: its place, its text, and the variables it may use, in order."""

    path: KeyPath
    text: str
    variables: tuple[str, ...]


def token_variables(config: Config) -> tuple[str, ...]:
    """``("x",)``, or ``("x1", "x2")`` in two dimensions."""
    two = config.domains is not None and config.domains.dimension == 2
    return ("x1", "x2") if two else ("x",)


def kernel_slots(equation: Equation) -> Iterator[KernelSlot]:
    """Every kernel of the equation."""
    attention = equation.attention
    if attention is not None:
        path = ("equation", "attention")
        for name in ("query", "key", "value"):
            kernel = _part(attention, name).kernel
            yield KernelSlot((*path, name, "kernel"), kernel, XI, HEAD)
        yield KernelSlot((*path, "output", "kernel"), attention.output.kernel, HEAD, Y)
    for j, dense in enumerate(equation.dense):
        yield KernelSlot(("equation", "dense", j, "kernel"), dense.kernel, XI, Y)


def field_slots(equation: Equation) -> Iterator[FieldSlot]:
    """Every bias of the equation."""
    attention = equation.attention
    if attention is not None:
        for name in ("query", "key", "value", "output"):
            bias = _part(attention, name).bias
            if bias is not None:
                path = ("equation", "attention", name, "bias")
                yield FieldSlot(path, bias, Y if name == "output" else HEAD)
    for j, dense in enumerate(equation.dense):
        if dense.bias is not None:
            yield FieldSlot(("equation", "dense", j, "bias"), dense.bias, Y)


def _part(attention: Attention, name: str):
    return getattr(attention, name)


def formulas(config: Config) -> Iterator[Formula]:
    """Every expression of the config."""
    x = token_variables(config)
    if config.equation is not None:
        yield from _in_equation(config.equation, x)
    if isinstance(config.initial, ExpressionInitial):
        yield Formula(("initial", "expression"), config.initial.expression, (*x, "y"))
    for name, text in config.observables.items():
        yield Formula(("observables", name), text, ("u", *x, "y", "t"))
    for i, study in enumerate(config.studies):
        if isinstance(study.reference, ManufacturedReference):
            path = ("studies", i, "reference", "solution")
            yield Formula(path, study.reference.solution, (*x, "y", "t"))


def _in_equation(equation: Equation, x: tuple[str, ...]) -> Iterator[Formula]:
    for slot in kernel_slots(equation):
        yield from _in_kernel(slot)
    for slot in field_slots(equation):
        yield from _in_function(slot.path, slot.field, (*slot.variables, "t"))
    source = source_of(equation)
    if source is not None:
        yield Formula(("equation", "source", "expression"), source.expression, (*x, "y", "t"))


def _in_kernel(slot: KernelSlot) -> Iterator[Formula]:
    if isinstance(slot.kernel, Separable):
        for r, pair in enumerate(slot.kernel.separable):
            for side, (text, names) in enumerate(
                zip(pair, (slot.source, slot.target), strict=True)
            ):
                yield Formula((*slot.path, "separable", r, side), text, (*names, "t"))
        return
    yield from _in_function(slot.path, slot.kernel, (*slot.source, *slot.target, "t"))


def _in_function(
    path: KeyPath, function: Kernel | FieldFunction, variables: tuple[str, ...]
) -> Iterator[Formula]:
    if isinstance(function, str):
        yield Formula(path, function, variables)
    elif isinstance(function, Layers):
        for k, text in enumerate(function.layers):
            yield Formula((*path, "layers", k), text, variables)

"""Checks across the parts of a config that need nothing but the config."""

import math
import re
from collections.abc import Iterator
from pathlib import Path

from experiments.config.base import PACKAGED
from experiments.config.domains import Domains
from experiments.config.equation import FlowEquation, PaperEquation, moments_of
from experiments.config.errors import Finding
from experiments.config.grid import Grid
from experiments.config.initial import (
    CellsInitial,
    EmbeddingsInitial,
    GivenBasisInitial,
    MinilmInitial,
    RandomInitial,
)
from experiments.config.kernel_checks import END_POINT_RULES, kernel_findings
from experiments.config.root import Config

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

#: Names of variables, which a parameter or an observable cannot take.
_VARIABLES = frozenset({"x", "x1", "x2", "y", "t", "u", "xi", "zeta", "eta"})

#: How far from a whole number a number of cells may be, relatively.
_WHOLE = 1e-9


def findings(config: Config) -> Iterator[Finding]:
    """What does not fit together, studies and files left out."""
    yield from _parts(config)
    yield from _names(config)
    yield from _time(config)
    if config.model is not None:
        yield from _model(config)
    elif None not in (config.domains, config.equation, config.initial, config.grid):
        yield from _equation(config)
        yield from _grid(config)
        yield from _initial(config)
        yield from kernel_findings(config)


def _parts(config: Config) -> Iterator[Finding]:
    needed = ("domains", "equation", "initial")
    for name in needed:
        present = getattr(config, name) is not None
        if config.model is not None and present:
            yield Finding((name,), "[model] brings its own; leave out this table or [model]")
        if config.model is None and not present:
            yield Finding((name,), "required, but missing (unless there is a [model])")
    if config.model is None and config.grid is None:
        yield Finding(("grid",), "required, but missing (unless there is a [model])")


def _names(config: Config) -> Iterator[Finding]:
    for table, names in (("parameters", config.parameters), ("observables", config.observables)):
        for name in names:
            if not _NAME.fullmatch(name):
                yield Finding(
                    (table, name),
                    "expected a name of ASCII letters, digits and underscores that begins with a "
                    "letter",
                )
            elif name in _VARIABLES:
                yield Finding((table, name), "this is the name of a variable; take another one")


def _time(config: Config) -> Iterator[Finding]:
    steps, stride = config.time.steps, config.time.save_every
    if steps % stride:
        yield Finding(
            ("time", "save_every"),
            f"expected a divisor of time.steps = {steps}, found {stride}; take "
            f"{math.gcd(steps, stride)}, for instance",
        )


def _model(config: Config) -> Iterator[Finding]:
    model, grid = config.model, config.grid
    assert model is not None
    if model.path != PACKAGED and not (Path(model.path) / "config.json").is_file():
        yield Finding(
            ("model", "path"),
            f'expected "{PACKAGED}" or a directory with config.json and model.safetensors, found '
            f"{model.path}",
        )
    if grid is None:
        return
    if isinstance(grid.tokens, tuple):
        yield Finding(("grid", "tokens"), "expected one number, the cells of one token of a model")
    rules = grid.rules
    if {*rules.tokens, rules.features, rules.heads} != {"midpoint"} or grid.heads != 1:
        yield Finding(
            ("grid",), "a model keeps rule = midpoint and heads = 1: its tokens are cells"
        )


def _equation(config: Config) -> Iterator[Finding]:
    equation, domains = config.equation, config.domains
    assert equation is not None and domains is not None
    if equation.attention is not None and equation.attention.causal and domains.dimension != 1:
        yield Finding(
            ("equation", "attention", "causal"),
            "x~ <= x needs one coordinate in domains.tokens, found 2; leave out causal",
        )
    if isinstance(equation, FlowEquation):
        if equation.attention is None and not equation.dense and equation.source is None:
            yield Finding(
                ("equation",), "expected at least one term: attention, dense or source; found none"
            )
        return
    if len(equation.dense) < 2 or domains.inner[0] == domains.features[0]:
        return
    included = [j for j, dense in enumerate(equation.dense) if dense.identity != 0.0]
    if included or isinstance(equation, PaperEquation):
        yield Finding(
            ("domains", "hidden"),
            "the inclusion E needs hidden to begin where features begins, expected "
            f"{domains.features[0]:g}, found {domains.inner[0]:g}",
        )


def _grid(config: Config) -> Iterator[Finding]:
    grid, domains = config.grid, config.domains
    assert grid is not None and domains is not None
    dimension = domains.dimension
    if len(grid.token_cells) != dimension:
        example = "16" if dimension == 1 else "[16, 16]"
        yield Finding(
            ("grid", "tokens"),
            f"expected {dimension} number{'s' if dimension > 1 else ''} of cells, as "
            f"domains.tokens has {dimension} coordinate{'s' if dimension > 1 else ''}, found "
            f"{len(grid.token_cells)}; such as tokens = {example}",
        )
    if len(grid.rules.tokens) not in (1, dimension):
        yield Finding(
            ("grid", "rule", "tokens"),
            f"expected one rule or {dimension}, found {len(grid.rules.tokens)}",
        )
    else:
        yield from _simpson(config, grid, domains)


def _simpson(config: Config, grid: Grid, domains: Domains) -> Iterator[Finding]:
    rules = grid.rules
    along = rules.tokens * (len(grid.token_cells) if len(rules.tokens) == 1 else 1)
    for name, cells in zip(along, grid.token_cells, strict=False):
        yield from _even(name, cells, "tokens")
    yield from _even(rules.features, grid.features, "features")
    yield from _even(rules.heads, grid.heads, "heads")
    step = (domains.features[1] - domains.features[0]) / grid.features
    for key in _auxiliary(config):
        low, high = domains.inner if key == "hidden" else domains.eta
        count = round((high - low) / step)
        if count < 1 or abs(count * step - (high - low)) > _WHOLE * (high - low):
            yield Finding(
                ("domains", key),
                f"expected a length that is a whole number of cells of {step:g} (the spacing of "
                f"grid.features = {grid.features}), found {high - low:g}",
            )
        elif rules.features == "simpson" and count % 2:
            yield Finding(
                ("domains", key),
                f"Simpson's rule pairs cells, and the length {high - low:g} has {count} cells, an "
                "odd number; change grid.features or the length",
            )


def _auxiliary(config: Config) -> Iterator[str]:
    """The keys of the feature-like domains that the equation uses."""
    equation = config.equation
    assert equation is not None
    if equation.attention is not None:
        yield "head_features"
    if not isinstance(equation, FlowEquation) and len(equation.dense) > 1:
        yield "hidden"


def _even(rule: str, cells: int, key: str) -> Iterator[Finding]:
    if rule == "simpson" and cells % 2:
        yield Finding(
            ("grid", key),
            f"Simpson's rule pairs cells: expected an even number, found {cells}; take {cells - 1} "
            f"or {cells + 1}",
        )


def _initial(config: Config) -> Iterator[Finding]:
    initial, equation, domains = config.initial, config.equation, config.domains
    assert initial is not None and equation is not None and domains is not None
    if initial.project and moments_of(equation) is None:
        yield Finding(
            ("initial", "project"),
            "the equation has no moments to project onto; leave out project, or add "
            "equation.moments",
        )
    if isinstance(initial, EmbeddingsInitial | MinilmInitial) and domains.dimension != 1:
        yield Finding(
            ("initial",), "a sequence of tokens needs one coordinate in domains.tokens, found 2"
        )
    cellwise = RandomInitial | CellsInitial | EmbeddingsInitial | MinilmInitial
    if isinstance(initial, cellwise) and config.grid is not None:
        ends = {*config.grid.rules.tokens, config.grid.rules.features} & {*END_POINT_RULES}
        if ends:
            yield Finding(
                ("initial",),
                "an initial state on cells needs rules with one node for each cell (midpoint, "
                f"left, periodic), found grid.rule {', '.join(sorted(ends))}",
            )
    if isinstance(initial, RandomInitial) and initial.cells is not None:
        expected = domains.dimension + 1
        if len(initial.cells) != expected:
            yield Finding(
                ("initial", "cells"),
                f"expected {expected} counts, one for each coordinate of x and one for y, found "
                f"{len(initial.cells)}",
            )
    if isinstance(initial, GivenBasisInitial) and (
        not isinstance(initial.coefficients[0], tuple)
        or isinstance(initial.coefficients[0][0], tuple)
    ):
        yield Finding(
            ("initial", "coefficients"), "expected rows of numbers, one row for each function of x"
        )

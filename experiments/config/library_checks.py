"""Checks that need the library: expressions, and names that the library has tables of.

This module loads jax when a check runs, not when it is imported.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping

from experiments.config.base import did_you_mean
from experiments.config.equation import FlowEquation
from experiments.config.errors import Finding, listed, shown
from experiments.config.grid import RuleChoice, Rules
from experiments.config.initial import GivenBasisInitial, RandomBasisInitial
from experiments.config.kernels import GivenBasis, RandomBasis
from experiments.config.locate import KeyPath
from experiments.config.refinement import settings
from experiments.config.root import Config
from experiments.config.slots import field_slots, formulas, kernel_slots
from experiments.config.studies import (
    ClosedFormReference,
    FinestReference,
    ManufacturedReference,
    Reference,
)


def library_findings(config: Config) -> Iterator[Finding]:
    """Expressions that do not parse, and names of rules, schemes and the like that are unknown."""
    found = [*_formulas(config), *_unknown(config)]
    for i, study in enumerate(config.studies):
        changed = config.with_overrides(settings(study)).model_copy(update={"studies": ()})
        for finding in (*_formulas(changed), *_unknown(changed)) if study.set else ():
            words = ".".join(map(str, finding.path))
            found.append(Finding(("studies", i, "set"), f"{words}: {finding.message}"))
        if not found:
            found.extend(_exact(changed, study.reference, ("studies", i, "reference")))
    yield from found


def _exact(config: Config, reference: Reference, path: KeyPath) -> Iterator[Finding]:
    """An exact solution must be one: of mean zero, on S1, without t, whatever it needs.

    Whether it is shows in float64 only; in float32 nothing is compared with it.
    """
    import jax
    import numpy as np

    exact = isinstance(reference, ClosedFormReference | ManufacturedReference)
    if not exact or not jax.config.read("jax_enable_x64"):
        return

    from experiments.building.manufactured import manufactured_equation
    from experiments.building.references import solution_of
    from experiments.building.setting import Setting

    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            solution_of(config, reference)
            if isinstance(reference, ManufacturedReference):
                manufactured_equation(reference.solution, Setting(config, np.dtype(np.float64)))
    except ValueError as error:
        yield Finding(path, str(error))


def _formulas(config: Config) -> Iterator[Finding]:
    from continuum.expressions import ExpressionError, parse

    try:
        parse("0", (), config.parameters)
    except ValueError as error:
        yield Finding(("parameters",), str(error))
        return
    for formula in formulas(config):
        try:
            parse(formula.text, formula.variables, config.parameters)
        except ExpressionError as error:
            yield Finding(formula.path, str(error))


def _unknown(config: Config) -> Iterator[Finding]:
    tables = _tables()
    for path, kind, name in _names(config):
        allowed = tables[kind]
        if name not in allowed:
            hint = did_you_mean(name, allowed)
            message = f"expected one of {listed(allowed)}, found {shown(name)}{hint}"
            yield Finding(path, message)


def _tables() -> Mapping[str, Iterable[str]]:
    """The names that the library knows, by kind."""
    from continuum.kernels.bases import BASES
    from continuum.operators.maps import ACTIVATIONS
    from discretize.quadrature import RULES
    from solvers.schemes import SCHEMES

    return {
        "activation": tuple(ACTIVATIONS),
        "basis": tuple(BASES),
        "rule": tuple(RULES),
        "scheme": tuple(SCHEMES),
    }


def _names(config: Config) -> Iterator[tuple[KeyPath, str, str]]:
    """Path, kind and name of everything that stands for a row of a table of the library."""
    yield ("time", "scheme"), "scheme", config.time.scheme
    if config.grid is not None:
        yield from _rules(("grid", "rule"), config.grid.rule)
    if config.equation is not None:
        yield from _in_equation(config)
    if isinstance(config.initial, RandomBasisInitial | GivenBasisInitial):
        yield ("initial", "basis"), "basis", config.initial.basis
    for i, study in enumerate(config.studies):
        reference, path = study.reference, ("studies", i, "reference")
        if isinstance(reference, FinestReference):
            if reference.scheme is not None:
                yield (*path, "scheme"), "scheme", reference.scheme
            if reference.rule is not None:
                yield from _rules((*path, "rule"), reference.rule)


def _in_equation(config: Config) -> Iterator[tuple[KeyPath, str, str]]:
    equation = config.equation
    assert equation is not None
    if not isinstance(equation, FlowEquation):
        yield ("equation", "activation"), "activation", equation.activation
    slots = [(slot.path, slot.kernel) for slot in kernel_slots(equation)]
    slots += [(slot.path, slot.field) for slot in field_slots(equation)]
    for path, function in slots:
        if isinstance(function, RandomBasis | GivenBasis):
            yield (*path, "basis"), "basis", function.basis


def _rules(path: KeyPath, rule: RuleChoice) -> Iterator[tuple[KeyPath, str, str]]:
    if not isinstance(rule, Rules):
        yield path, "rule", rule
        return
    for k, name in enumerate(rule.tokens):
        yield ((*path, "tokens", k) if len(rule.tokens) > 1 else (*path, "tokens")), "rule", name
    yield (*path, "features"), "rule", rule.features
    yield (*path, "heads"), "rule", rule.heads

"""Checks of the studies."""

from collections.abc import Iterator

from experiments.config.closed_forms import misfit
from experiments.config.equation import FlowEquation
from experiments.config.errors import ConfigError, Finding
from experiments.config.initial import ExpressionInitial
from experiments.config.locate import KeyPath
from experiments.config.overrides import parse_key
from experiments.config.refinement import reference_config, refined, settings
from experiments.config.root import Config
from experiments.config.studies import (
    ClosedFormReference,
    FinestReference,
    LinesReference,
    ManufacturedReference,
    Study,
)


def study_findings(config: Config) -> Iterator[Finding]:
    """What is wrong with the studies of a config that is otherwise sound."""
    names: set[str] = set()
    for i, study in enumerate(config.studies):
        path: KeyPath = ("studies", i)
        if study.name in names:
            yield Finding((*path, "name"), f"two studies are named {study.name!r}; rename one")
        names.add(study.name)
        found = [
            *_sizes(study, path),
            *_order(study, path),
            *_axis(config, study, path),
            *_set(config, study, path),
        ]
        yield from found or [
            *_reference(config.with_overrides(settings(study)), study, path),
            *_refinements(config, study, path),
        ]


def _sizes(study: Study, path: KeyPath) -> Iterator[Finding]:
    yield from _increasing(study.sizes, (*path, "sizes"))
    if study.axis != "joint":
        if study.steps is not None:
            yield Finding(
                (*path, "steps"),
                f'only axis = "joint" has steps, found axis = "{study.axis}"; leave them out, or '
                'set = { "time.steps" = ... }',
            )
    elif study.steps is None:
        yield Finding((*path, "steps"), 'required for axis = "joint", but missing')
    elif len(study.steps) != len(study.sizes):
        yield Finding(
            (*path, "steps"),
            f"expected as many steps as sizes, {len(study.sizes)}, found {len(study.steps)}",
        )
    else:
        yield from _increasing(study.steps, (*path, "steps"))


def _increasing(values: tuple[int, ...], path: KeyPath) -> Iterator[Finding]:
    for k, (first, second) in enumerate(zip(values, values[1:], strict=False)):
        if second <= first:
            yield Finding(
                (*path, k + 1), f"expected increasing values, found {second} after {first}"
            )


def _order(study: Study, path: KeyPath) -> Iterator[Finding]:
    if study.order is False and study.reason is None:
        yield Finding((*path, "reason"), "required with order = false: why is there no order?")
    if study.order == "declared" and study.reason is not None:
        yield Finding(
            (*path, "reason"), "only order = false has a reason; leave it out, or set order = false"
        )


def _axis(config: Config, study: Study, path: KeyPath) -> Iterator[Finding]:
    if study.axis != "heads":
        return
    if config.model is not None:
        yield Finding((*path, "axis"), "the heads of a model are cells and cannot be refined")
    elif config.equation is not None and config.equation.attention is None:
        yield Finding((*path, "axis"), "the equation has no attention, and so no head coordinate")


def _set(config: Config, study: Study, path: KeyPath) -> Iterator[Finding]:
    for key in study.set:
        where = (*path, "set", key)
        keys = parse_key(key)
        if keys is None:
            yield Finding(where, 'expected a key path in quotes, such as "grid.rule"')
        elif keys[0] == "studies":
            yield Finding(where, "a study cannot change studies")
        else:
            continue
        return
    try:
        config.with_overrides(settings(study))
    except ConfigError as error:
        for finding in error.findings:
            yield Finding(_blamed(study, path, finding.path), _words(finding))


def _blamed(study: Study, path: KeyPath, found: KeyPath) -> KeyPath:
    """The entry of ``set`` that a finding is about."""
    for key in study.set:
        keys = parse_key(key) or ()
        if tuple(map(str, found[: len(keys)])) == keys:
            return (*path, "set", key)
    return (*path, "set")


def _words(finding: Finding) -> str:
    where = ".".join(map(str, finding.path))
    return f"{where}: {finding.message}" if where else finding.message


def _reference(config: Config, study: Study, path: KeyPath) -> Iterator[Finding]:
    reference, where = study.reference, (*path, "reference")
    if isinstance(reference, FinestReference):
        yield from _finest(study, reference, where)
        return
    equation = config.equation
    if isinstance(reference, ClosedFormReference):
        wrong = (
            "a model has no closed form" if equation is None else misfit(equation, reference.name)
        )
        if wrong is not None:
            yield Finding((*where, "name"), wrong)
        elif not isinstance(config.initial, ExpressionInitial):
            yield Finding(
                (*where, "name"), "a closed form needs the initial state as an expression"
            )
    elif isinstance(reference, LinesReference) and study.axis not in ("time", "joint"):
        yield Finding(
            (*where, "kind"),
            "the method of lines is on the grid of each size and sees errors in time alone: "
            f'expected axis = "time" or "joint", found "{study.axis}"; take kind = "finest"',
        )
    elif isinstance(reference, ManufacturedReference) and not isinstance(equation, FlowEquation):
        yield Finding(
            (*where, "kind"), 'a manufactured solution adds a source: it needs form = "flow"'
        )


def _finest(study: Study, reference: FinestReference, where: KeyPath) -> Iterator[Finding]:
    if reference.extrapolate is not None:
        if study.axis != "time":
            yield Finding((*where, "extrapolate"), "expected a study of time, found another axis")
        elif reference.steps is None or reference.steps % 2:
            yield Finding(
                (*where, "extrapolate"),
                "expected an even number of steps of the reference beside it",
            )
    if study.axis == "time" and reference.size is not None:
        if reference.steps is not None:
            yield Finding(
                (*where, "size"), 'for axis = "time" size and steps are the same; leave out one'
            )
        yield from _finer(reference.size, study.sizes, (*where, "size"))
    elif study.axis == "time":
        yield from _finer(reference.steps, study.sizes, (*where, "steps"))
    else:
        yield from _finer(reference.size, study.sizes, (*where, "size"))
        if study.axis == "joint":
            yield from _finer(reference.steps, study.steps or (), (*where, "steps"))


def _finer(found: int | None, sizes: tuple[int, ...], where: KeyPath) -> Iterator[Finding]:
    if found is not None and sizes and found < sizes[-1]:
        yield Finding(
            where, f"expected at least {sizes[-1]}, the finest of the study, found {found}"
        )


def _refinements(config: Config, study: Study, path: KeyPath) -> Iterator[Finding]:
    """Every size must make a sound config: Simpson's rule needs even counts, for instance."""
    for k in range(len(study.sizes)):
        try:
            refined(config, study, k)
        except ConfigError as error:
            yield Finding((*path, "sizes", k), _words(error.findings[0]))
    try:
        reference_config(config, study)
    except ConfigError as error:
        yield Finding((*path, "reference"), _words(error.findings[0]))

"""What a study measures against: on any grid of the study, the reference at t = T."""

import dataclasses
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from discretize import Grid, UniformGrid
from discretize.transfer import inject
from experiments.building import Experiment, on_grid, solution_of
from experiments.config import Config, Study, reference_config, refined
from experiments.config.grid import Rules
from experiments.config.studies import (
    ClosedFormReference,
    FinestReference,
    LinesReference,
    ManufacturedReference,
)
from experiments.running.finals import Final, Finals

#: Errors of about this size come from round-off, in units of machine epsilon.
_ROUND_OFF_ULPS = 64.0

#: The method of lines is solved to this relative tolerance.
_LINES_TOLERANCE = 1e-12


@dataclasses.dataclass(frozen=True)
class Reference:
    """The solution that a study takes for exact.

    Args:
        words: what it is.
        at: index of a size, and the final state there -> the reference on the same grid.
        floor: the relative error below which the reference, or round-off, decides.
    """

    words: str
    at: Callable[[int, Final], np.ndarray]
    floor: float


_Build: TypeAlias = Callable[[Config, Study, Finals], Reference]


def reference_of(config: Config, study: Study, finals: Finals) -> Reference:
    """The reference that the study names."""
    return _KINDS[type(study.reference)](config, study, finals)


def _finest(config: Config, study: Study, finals: Finals) -> Reference:
    assert isinstance(study.reference, FinestReference)
    _check_nesting(config, study, finals)
    fine = finals.reference(config, study)
    size = fine.steps if study.axis == "time" else study.reference.size or study.sizes[-1]
    steps = [f"{fine.steps} steps"] if study.axis == "joint" else []
    details = [
        *steps,
        *([f"rule {_rule(study.reference.rule)}"] if study.reference.rule is not None else []),
        *([f"scheme {study.reference.scheme}"] if study.reference.scheme is not None else []),
        *([_extrapolated(study.reference)] if study.reference.extrapolate is not None else []),
    ]
    words = ", ".join([f"the solution with {size} {_UNITS[study.axis]}", *details])
    return Reference(words, lambda index, coarse: _on(coarse.grid, fine), _round_off(finals))


#: What the sizes of each axis count.
_UNITS = {
    "time": "steps",
    "tokens": "cells in x",
    "features": "cells in y",
    "heads": "cells along the heads",
    "space": "cells in x and in y",
    "joint": "cells in x and in y",
}


def _rule(rule: str | Rules) -> str:
    """One name, or the names that differ along x, y and the heads."""
    if isinstance(rule, str):
        return rule
    along = {"x": " x ".join(rule.tokens), "y": rule.features, "the heads": rule.heads}
    return " and ".join(f"{name} in {axis}" for axis, name in along.items())


def _extrapolated(reference: FinestReference) -> str:
    return f"extrapolated at order {reference.extrapolate} from half as many"


def _check_nesting(config: Config, study: Study, finals: Finals) -> None:
    """Refuse, before anything is computed, a reference without the nodes of every size.

    Raises:
        ValueError: naming the counts and rules that do not nest, and those that do.
    """
    finest = reference_config(config, study)
    assert finest is not None
    fine = finals.experiment(finest, study)
    for index in range(len(study.sizes)):
        coarse = finals.experiment(refined(config, study, index), study)
        pairs = ((fine.tokens, coarse.tokens), (fine.grid.features, coarse.grid.features))
        for source, target in pairs:
            if source != target:
                inject(np.zeros(source.size), source, target, 0)


def _on(grid: Grid, fine: Final) -> np.ndarray:
    """The fine state at the nodes that the two grids share."""
    state = fine.state
    pairs = ((fine.grid.tokens, grid.tokens, -2), (fine.grid.features, grid.features, -1))
    for source, target, axis in pairs:
        assert isinstance(source, UniformGrid) and isinstance(target, UniformGrid)
        if source != target:
            state = np.asarray(inject(state, source, target, axis))
    return state


def _exact(config: Config, study: Study, finals: Finals) -> Reference:
    reference = study.reference
    assert isinstance(reference, ClosedFormReference | ManufacturedReference)

    def at(index: int, coarse: Final) -> np.ndarray:
        experiment = finals.experiment(refined(config, study, index), study)
        return on_grid(solution, coarse.grid, experiment.equation.horizon)

    solution = solution_of(refined(config, study, 0), reference)
    words = (
        f"the closed form {reference.name!r}"
        if isinstance(reference, ClosedFormReference)
        else f"the manufactured solution {reference.solution}"
    )
    return Reference(words, at, _round_off(finals))


def _lines(config: Config, study: Study, finals: Finals) -> Reference:
    known: dict[Grid, np.ndarray] = {}

    def at(index: int, coarse: Final) -> np.ndarray:
        experiment = finals.experiment(refined(config, study, index), study)
        if coarse.grid not in known:
            known[coarse.grid] = _integrated(experiment, study)
        return known[coarse.grid]

    words = f"the method of lines by Dopri8 at tolerance {_LINES_TOLERANCE:g}"
    return Reference(words, at, max(_round_off(finals), 0.1 * _LINES_TOLERANCE))


def _integrated(experiment: Experiment, study: Study) -> np.ndarray:
    """The solution at T.

    Raises:
        ValueError: if the adaptive method gives up.
    """
    from solvers.lines import method_of_lines

    try:
        found = method_of_lines(
            experiment.problem, experiment.u0, mask=experiment.mask, jumps=experiment.jumps
        )
        return np.asarray(found[-1])
    except RuntimeError as error:
        if "RESOURCE_EXHAUSTED" in str(error):
            raise
        raise ValueError(
            f"study {study.name}: expected a reference by the method of lines, but Dopri8 gave up "
            f"before T = {experiment.equation.horizon:g}: the solution grows without bound or is "
            'too stiff; take smaller kernels, a shorter horizon, or reference kind = "finest"'
        ) from error


def _round_off(finals: Finals) -> float:
    return _ROUND_OFF_ULPS * float(np.finfo(finals.options.precision.value).eps)


_KINDS: dict[type, _Build] = {
    FinestReference: _finest,
    ClosedFormReference: _exact,
    ManufacturedReference: _exact,
    LinesReference: _lines,
}

"""``continuum converge``: refine, measure, compare with what is declared."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from discretize import UniformGrid
from experiments.config import Config, Study, refined
from experiments.convergence.norms import NORMS
from experiments.convergence.orders import fit, local_orders
from experiments.convergence.result import StudyResult
from experiments.environment import processors
from experiments.options import Options
from experiments.packages import versions
from experiments.progress import Progress, progress_bar
from experiments.results import RunDirectory, write_convergence
from experiments.running.finals import Final, Finals
from experiments.running.guard import Verdict, declared_order
from experiments.running.identity import identity_of
from experiments.running.references import Reference, reference_of


@dataclasses.dataclass(frozen=True)
class ConvergenceSummary:
    """All studies of a config.

    Args:
        title: of the experiment.
        path: the directory.
        studies: their results, in order.
        verdict: what the guard said.
    """

    title: str
    path: Path
    studies: tuple[StudyResult, ...]
    verdict: Verdict

    @property
    def passed(self) -> bool:
        """Whether no study misses its declared order."""
        return all(study.passed is not False for study in self.studies)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may mislead in a study, each once."""
        return tuple(dict.fromkeys(words for study in self.studies for words in study.warnings))

    def as_data(self) -> dict[str, Any]:
        """For ``convergence.json``."""
        return {
            "title": self.title,
            "studies": [study.as_data() for study in self.studies],
            "passed": self.passed,
            **self.verdict.as_data(),
            "versions": versions(),
        }


def converge(config: Config, options: Options, verdict: Verdict) -> ConvergenceSummary:
    """Run every study of a config and write errors and orders.

    Final states are kept in the directory as they are computed, so that a run that was interrupted
    continues where it was.

    Args:
        config: the experiment.
        options: where to, and how.
        verdict: of the guard; an ill-posed one marks the result.

    Raises:
        ValueError: if the config has no studies.
        FileExistsError: if the directory may not be written.
    """
    if not config.studies:
        raise ValueError(
            f"{config.title!r} has no [[studies]], so there is nothing to refine; add one, or use "
            "continuum run"
        )
    path, text = options.directory("-convergence"), config.resolved_toml()
    identity = identity_of(config, options, "convergence", verdict)
    total = sum(len(study.sizes) for study in config.studies)
    if options.resume:
        directory = RunDirectory.resume(path, config_text=text, identity=identity)
    else:
        directory = RunDirectory.create(
            path, config_text=text, identity=identity, overwrite=options.overwrite
        )
    with directory, progress_bar(config.title, total, "solutions", options.progress) as tell:
        finals = Finals(directory, options)
        counted = _Counter(tell)
        results = tuple(_study(config, study, finals, verdict, counted) for study in config.studies)
        summary = ConvergenceSummary(config.title, directory.path, results, verdict)
        write_convergence(
            directory.path, summary.as_data(), [row for study in results for row in study.rows()]
        )
        if not directory.is_complete:
            directory.complete()
    return summary


@dataclasses.dataclass
class _Counter:
    """Counts finished solutions and tells of them."""

    tell: Progress
    done: int = 0

    def __call__(self) -> None:
        self.done += 1
        self.tell(self.done)


def _study(
    config: Config, study: Study, finals: Finals, verdict: Verdict, counted: _Counter
) -> StudyResult:
    reference, states = _solutions(config, study, finals, counted)
    errors = {name: _errors(states, reference, name) for name in NORMS}
    steps = tuple(_step(config, study, state) for state in states)
    chosen = errors[study.norm]
    found = fit(steps, chosen, floor=reference.floor)
    order, reason = _declared(config, study, finals)
    return StudyResult(
        study.name,
        study.axis,
        study.sizes,
        steps,
        chosen,
        errors["l2"],
        errors["max"],
        local_orders(steps, chosen),
        found.order,
        found.used,
        order,
        _violations(states),
        reference.words,
        study.norm,
        reference.floor,
        reason,
        (*verdict.warnings_of(study.name), *_lost(study, chosen)),
        verdict.ill_posed_of(study.name),
    )


def _solutions(
    config: Config, study: Study, finals: Finals, counted: _Counter
) -> tuple[Reference, list[Final]]:
    """The reference, and the final states at all sizes.

    Different grids are different programs: they compile, and run, side by side.  Sizes that differ
    in steps alone share one program and take turns.
    """

    def one(index: int) -> Final:
        found = finals.at(config, study, index)
        counted()
        return found

    with ThreadPoolExecutor(1 if study.axis == "time" else processors()) as pool:
        reference = pool.submit(reference_of, config, study, finals)
        states = pool.map(one, range(len(study.sizes)))
        return reference.result(), list(states)


def _errors(states: list[Final], reference: Reference, norm: str) -> tuple[float, ...]:
    """Relative errors in one norm."""
    measure = NORMS[norm]
    found = []
    for index, final in enumerate(states):
        exact = reference.at(index, final)
        with np.errstate(all="ignore"):  # what is not finite is told by _lost
            scale = measure(exact, final.grid, final.mask)
            found.append(measure(final.state - exact, final.grid, final.mask) / scale)
    return tuple(found)


def _lost(study: Study, errors: tuple[float, ...]) -> tuple[str, ...]:
    """Words for errors that are no finite numbers."""
    sizes = [str(size) for size, error in zip(study.sizes, errors, strict=True) if not error < inf]
    if not sizes:
        return ()
    return (
        f"study {study.name}: expected finite errors, found none at {', '.join(sizes)}: these "
        "solutions or the reference hold NaN or infinity, or the reference is zero; take more "
        "steps, smaller kernels, or another reference",
    )


def _step(config: Config, study: Study, final: Final) -> float:
    """H or dt, whichever the axis refines; of space and joint refinements h."""
    if study.axis == "time":
        return final.dt
    if study.axis == "heads":
        assert config.domains is not None
        return config.domains.heads / (final.grid.head_cells or 1)
    if study.axis == "features":
        return final.grid.features.spacing[0]
    assert isinstance(final.grid.tokens, UniformGrid)
    return final.grid.tokens.spacing[0]


def _violations(states: list[Final]) -> dict[str, tuple[float, ...]]:
    names = [name.removeprefix("violation_") for name in states[0].violations]
    return {
        name: tuple(state.violations[f"violation_{name}"] for state in states) for name in names
    }


def _declared(config: Config, study: Study, finals: Finals) -> tuple[float | None, str | None]:
    if study.order is False:
        return None, study.reason
    experiment = finals.experiment(refined(config, study, len(study.sizes) - 1), study)
    return declared_order(experiment, study)

"""The guard, asked about a config: once for a run, once for each of its studies."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from experiments.building import Experiment, build
from experiments.config import Config, Study, refined
from experiments.config.studies import ManufacturedReference
from experiments.environment import processors
from experiments.options import Options
from experiments.wellposedness import Finding, Level, Question, check
from experiments.wellposedness import declared_order as declare
from solvers.schemes import scheme_named

#: Which grid axes each axis of a study refines.
_AXES = {
    "time": frozenset({"time"}),
    "tokens": frozenset({"tokens"}),
    "features": frozenset({"features"}),
    "heads": frozenset({"heads"}),
    "space": frozenset({"tokens", "features"}),
    "joint": frozenset({"time", "tokens", "features"}),
}


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What the guard found.

    Args:
        findings: pairs of a study's name (None for the run itself) and a finding.
    """

    findings: tuple[tuple[str | None, Finding], ...] = ()

    @property
    def ill_posed(self) -> tuple[str, ...]:
        """Why the question has no answer, each reason once."""
        return self._messages(Level.ILL_POSED)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may mislead, each once."""
        return self._messages(Level.WARNING)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is good to know, each once."""
        return self._messages(Level.NOTE)

    def warnings_of(self, study: str) -> tuple[str, ...]:
        """The warnings of one study."""
        return self._messages(Level.WARNING, study)

    def ill_posed_of(self, study: str) -> tuple[str, ...]:
        """Why one study has no answer."""
        return self._messages(Level.ILL_POSED, study)

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "ill_posed": list(self.ill_posed),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }

    def _messages(self, level: Level, study: str | None = None) -> tuple[str, ...]:
        found = (
            finding.message
            for name, finding in self.findings
            if finding.level == level and study in (None, name)
        )
        return tuple(dict.fromkeys(found))


def judge_run(config: Config, options: Options) -> Verdict:
    """Ask about the one run of a config."""
    experiment = build(config, dtype=options.precision.value)
    findings = check(question_of(experiment, frozenset()))
    return Verdict(tuple((None, finding) for finding in findings))


def judge_studies(config: Config, options: Options) -> Verdict:
    """Ask about every study of a config, at its finest size."""

    def one(study: Study) -> list[tuple[str | None, Finding]]:
        question = question_of(_finest(config, study, options), _AXES[study.axis])
        return [(study.name, finding) for finding in check(question)]

    with ThreadPoolExecutor(processors()) as pool:
        return Verdict(tuple(found for each in pool.map(one, config.studies) for found in each))


def declared_order(experiment: Experiment, study: Study) -> tuple[float | None, str | None]:
    """The order to declare for a study, and what it comes from, or why there is none."""
    found = declare(question_of(experiment, _AXES[study.axis]), study.norm)
    return found.order, found.reason


def question_of(experiment: Experiment, axes: frozenset[str]) -> Question:
    """The question that an experiment asks.

    Raises:
        ValueError: if its initial state is not finite.
    """
    u0 = np.asarray(experiment.u0)
    if not np.isfinite(u0).all():
        *_, token, feature = np.argwhere(~np.isfinite(u0))[0]
        y = float(experiment.grid.features.nodes[feature])
        x = np.ravel(experiment.tokens.nodes[token]).tolist()
        raise ValueError(
            "the initial state: expected finite values at every node, found NaN or infinity at "
            f"x = {', '.join(f'{value:.6g}' for value in x)}, y = {y:.6g}; change [initial], or "
            "the manufactured solution, there"
        )
    return Question(
        experiment.problem,
        scheme_named(experiment.scheme),
        experiment.equation.horizon / experiment.steps,
        u0,
        experiment.mask,
        axes,
    )


def _finest(config: Config, study: Study, options: Options) -> Experiment:
    reference = study.reference
    source = reference.solution if isinstance(reference, ManufacturedReference) else None
    last = refined(config, study, len(study.sizes) - 1)
    return build(last, dtype=options.precision.value, manufactured=source)

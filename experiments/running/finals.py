"""Final states of a study, each computed once and kept on disk."""

import dataclasses
import io
import math
from collections.abc import Callable, Mapping
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discretize import Grid
from experiments.building import Experiment, build
from experiments.config import Config, Study, reference_config, refined
from experiments.config.studies import FinestReference, ManufacturedReference
from experiments.options import Options
from experiments.results import RunDirectory
from solvers import Solver
from solvers.observables import violations

#: The folder of final states in the directory of a result.
FOLDER = "finals"


@dataclasses.dataclass(frozen=True)
class Final:
    """The state at t = T on one grid with one number of steps.

    Args:
        state: (tokens, features), of several sentences (batch, tokens, features).
        grid: the grid it lives on.
        steps: the number of steps.
        dt: their length.
        violations: of each constraint set, the largest over x.
        mask: True on tokens that count.
    """

    state: np.ndarray
    grid: Grid
    steps: int
    dt: float
    violations: Mapping[str, float]
    mask: np.ndarray | None


@dataclasses.dataclass
class Finals:
    """Computes the final states of a study, or finds them where an earlier try left them.

    Args:
        directory: of the result.
        options: precision.
        experiments: problems that were built, by the config without its steps: sizes that differ
            in steps alone share one, and the loop compiled for it.
        known: states that were computed, by config: studies may share sizes and references.
    """

    directory: RunDirectory
    options: Options
    experiments: dict[str, Experiment] = dataclasses.field(default_factory=dict)
    known: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)

    def at(self, config: Config, study: Study, index: int) -> Final:
        """The final state at the study's size number ``index``."""
        size = study.sizes[index]
        return self._final(refined(config, study, index), study, f"{size}", self._block(study))

    def reference(self, config: Config, study: Study) -> Final:
        """The final state of the study's finest solution, extrapolated if the study says so."""
        found = reference_config(config, study)
        assert found is not None
        reference = study.reference
        assert isinstance(reference, FinestReference)
        steps, block = found.time.steps, self._block(study)
        fine = self._final(found, study, "reference", math.gcd(block, steps) if block else None)
        if reference.extrapolate is None:
            return fine
        half = found.with_overrides({"time.steps": steps // 2, "time.save_every": steps // 2})
        coarse = self._final(half, study, "reference-half", math.gcd(block or 1, steps // 2))
        factor = 2.0**reference.extrapolate
        state = (factor * fine.state - coarse.state) / (factor - 1.0)
        return dataclasses.replace(fine, state=state)

    @staticmethod
    def _block(study: Study) -> int | None:
        """The steps that the compiled loop of all sizes takes, where only steps are refined."""
        return math.gcd(*study.sizes) if study.axis == "time" else None

    def _final(self, config: Config, study: Study, name: str, block: int | None) -> Final:
        experiment = self.experiment(config, study)
        file = f"{FOLDER}/{_slug(study.name)}-{name}.npy"
        steps = config.time.steps
        key = f"{self._key(config, study)}|{config.time.scheme}|{steps}"
        if key not in self.known:
            self.known[key] = self._kept(file, lambda: _solve(experiment, steps, block))
        state = jnp.asarray(self.known[key])
        tokens = experiment.tokens
        found = _violations(experiment, state)
        grid = dataclasses.replace(experiment.grid, tokens=tokens)
        dt = experiment.equation.horizon / steps
        return Final(np.asarray(state), grid, steps, dt, found, experiment.mask)

    def experiment(self, config: Config, study: Study) -> Experiment:
        """The built config; configs that differ in [time] alone share what is built."""
        key = self._key(config, study)
        if key not in self.experiments:
            precision = self.options.precision.value
            self.experiments[key] = build(config, dtype=precision, manufactured=_solution(study))
        return dataclasses.replace(self.experiments[key], config=config)

    @staticmethod
    def _key(config: Config, study: Study) -> str:
        """What a problem depends on, apart from its steps."""
        without = config.model_copy(update={"time": None, "studies": (), "title": ""})
        return f"{_solution(study)}|{without.model_dump_json()}"

    def _kept(self, file: str, compute: Callable[[], np.ndarray]) -> np.ndarray:
        path = Path(self.directory.path / file)
        if path.is_file():
            return np.load(path, allow_pickle=False)
        state = compute()
        buffer = io.BytesIO()
        np.save(buffer, state, allow_pickle=False)
        self.directory.write(file, buffer.getvalue())
        return state


def _violations(experiment: Experiment, state: Array) -> dict[str, float]:
    """The largest violation of each constraint set."""
    watched = violations(experiment.problem)
    t = jnp.zeros(())
    found = jax.jit(lambda u: {key: jnp.max(f(u, t)) for key, f in watched.items()})(state)
    return {key: float(value) for key, value in found.items()}


def _solve(experiment: Experiment, steps: int, block: int | None) -> np.ndarray:
    solver = Solver(
        experiment.recovered or experiment.problem,
        tokens=experiment.tokens.size,
        num_steps=steps,
        scheme=experiment.scheme,
    )
    u0 = experiment.u0
    return np.asarray(solver.final(u0, mask=experiment.mask, block=block or steps))


def _solution(study: Study) -> str | None:
    """The manufactured solution, whose source is part of the problem."""
    reference = study.reference
    return reference.solution if isinstance(reference, ManufacturedReference) else None


def _slug(name: str) -> str:
    """A study's name as part of a file's."""
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())


def kept(path: Path, config: Config, study: str, size: int) -> tuple[np.ndarray, np.ndarray]:
    """A final state that a study left in the directory of a result.

    Args:
        path: of the directory.
        config: of the result.
        study: its name.
        size: one of its sizes.

    Returns:
        The nodes of y, and the state (tokens, features).
    """
    chosen = config.study(study)
    state = np.load(path / FOLDER / f"{_slug(study)}-{size}.npy", allow_pickle=False)
    changed = refined(config, chosen, chosen.sizes.index(size))
    experiment = build(changed, dtype=str(state.dtype))
    return experiment.grid.features.nodes, state

"""``continuum run``: advance a config's equation once, onto the disk."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from experiments.building import Experiment, build
from experiments.config import Config
from experiments.options import Options
from experiments.progress import progress_bar
from experiments.results import Identity, RunDirectory
from experiments.results.layout import Constant, Layout, Observable
from experiments.results.writer import TrajectoryWriter, stream
from experiments.running import clusters
from experiments.running.guard import Verdict
from experiments.running.identity import identity_of
from solvers import NonFiniteError, Solver
from solvers.observables import WORDS, moments, violations
from solvers.solver import Observable as Watched


@dataclasses.dataclass(frozen=True)
class RunSummary:
    """What a run came to.

    Args:
        path: the directory.
        steps: how many.
        resumed_at: the step it was continued from, or 0.
        last: each observable after the last step.
        verdict: what the guard said.
    """

    path: Path
    steps: int
    resumed_at: int
    last: Mapping[str, float]
    verdict: Verdict

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "path": str(self.path),
            "steps": self.steps,
            "resumed_at": self.resumed_at,
            "observables": dict(self.last),
            **self.verdict.as_data(),
        }


def run(config: Config, options: Options, verdict: Verdict) -> RunSummary:
    """Advance the equation and write trajectory, observables and what they belong to.

    Args:
        config: the experiment.
        options: where to, and how.
        verdict: of the guard; an ill-posed one marks the result.

    Raises:
        FileExistsError: if the directory may not be written.
        NonFiniteError: when values cease to be finite; what came before is on the disk.
    """
    experiment = build(config, dtype=options.precision.value)
    solver = Solver(
        experiment.recovered or experiment.problem,
        tokens=experiment.tokens.size,
        num_steps=experiment.steps,
        scheme=experiment.scheme,
    )
    u0 = np.asarray(experiment.u0)
    watched = observables_of(experiment)
    layout = layout_of(experiment, solver, u0, watched)
    identity = identity_of(config, options, "run", verdict)
    with _directory(config, options, identity) as directory:
        writer = TrajectoryWriter(directory, layout)
        start = writer.step
        if start < solver.num_steps:
            pieces = solver.chunks(
                u0 if writer.state is None else writer.state,
                mask=experiment.mask,
                save_every=experiment.save_every,
                chunk=experiment.chunk,
                start=start,
                observables=watched,
            )
            with progress_bar(config.title, solver.num_steps, "steps", options.progress) as tell:
                tell(start)
                try:
                    stream(writer, pieces, lambda piece: tell(piece.last_step))
                except NonFiniteError as error:
                    directory.fail(str(error))
                    raise
        if config.clusters is not None and not (directory.path / clusters.NAME).is_file():
            directory.write(clusters.NAME, clusters.clusters(config, options))
        if not directory.is_complete:
            directory.complete()
        path = directory.path
    return RunSummary(path, solver.num_steps, start, last_values(path), verdict)


def _directory(config: Config, options: Options, identity: Identity) -> RunDirectory:
    path, text = options.directory(), config.resolved_toml()
    if options.resume:
        return RunDirectory.resume(path, config_text=text, identity=identity)
    return RunDirectory.create(
        path, config_text=text, identity=identity, overwrite=options.overwrite
    )


def observables_of(experiment: Experiment) -> dict[str, Watched]:
    """Moments, violations, and the user's own."""
    problem, tokens = experiment.problem, experiment.tokens
    return {**moments(problem, tokens), **violations(problem), **experiment.observables}


def layout_of(
    experiment: Experiment, solver: Solver, u0: np.ndarray, watched: Mapping[str, Watched]
) -> Layout:
    """The variables of the trajectory."""
    seen = np.asarray(solver.view(u0[None], np.zeros(1))[0])
    start = {name: np.asarray(f(jnp.asarray(seen), jnp.zeros(()))) for name, f in watched.items()}
    mask = experiment.mask
    constants = {}
    if mask is not None:
        words = "True on tokens that are not padding"
        constants["mask"] = Constant(np.asarray(mask), ("sample", "x")[-np.ndim(mask) :], words)
    return Layout(
        seen,
        experiment.tokens.nodes,
        experiment.grid.features.nodes,
        experiment.equation.horizon,
        experiment.steps,
        experiment.save_every,
        experiment.chunk,
        experiment.config.title,
        {
            name: Observable(
                WORDS.get(name, f"mean of {experiment.config.observables.get(name, name)}"),
                dimensions=("sample",) * value.ndim,
                initial=value,
            )
            for name, value in start.items()
        },
        constants,
    )


def last_values(path: Path) -> dict[str, float]:
    """Each observable after the last published step; of a batch its largest absolute value."""
    from experiments.results import open_run

    data = open_run(path).dataset
    found = {}
    for name, variable in data.data_vars.items():
        if variable.dims[:1] == ("step",):
            values = variable.isel(step=-1).to_numpy()
            found[str(name)] = float(values.flat[np.argmax(np.abs(values))])
    return found

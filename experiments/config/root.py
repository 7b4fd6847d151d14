"""The whole config: one experiment."""

from collections.abc import Mapping
from typing import Any

import tomli_w
from pydantic import Field

from experiments.config.base import Part, Seed, Text
from experiments.config.clusters import Clusters
from experiments.config.domains import Domains
from experiments.config.equation import Equation
from experiments.config.grid import Grid
from experiments.config.initial import Initial
from experiments.config.model import Model
from experiments.config.studies import Study
from experiments.config.time import Time


class Config(Part):
    """One experiment; ``load_config`` reads it from TOML.

    Args:
        title: one line.
        description: more of them.
        seed: of everything random, together with the seeds of the parts.
        parameters: named numbers that every expression may use.
        domains: the boxes.
        equation: the equation.
        initial: the state at t = 0.
        grid: cells; for a model optional, cells of one token and of one feature.
        time: steps and scheme.
        observables: expressions in u, x (or x1, x2), y and t whose mean over Omega_x x Omega_y is
            recorded at every step.
        studies: refinements.
        model: an encoder, instead of domains, equation and initial.
        clusters: count clusters of tokens, for several scales of the attention.
    """

    title: Text
    description: str | None = None
    seed: Seed = 0
    parameters: dict[Text, float] = Field(default_factory=dict)
    domains: Domains | None = None
    equation: Equation | None = None
    initial: Initial | None = None
    grid: Grid | None = None
    time: Time
    observables: dict[Text, Text] = Field(default_factory=dict)
    studies: tuple[Study, ...] = ()
    model: Model | None = None
    clusters: Clusters | None = None

    def to_data(self) -> dict[str, Any]:
        """The config as plain data, without the keys that are not set."""
        return self.model_dump(exclude_none=True)

    def resolved_toml(self) -> str:
        """The config with its defaults filled in, as TOML that loads back to an equal one."""
        return tomli_w.dumps(self.to_data())

    def with_overrides(self, changes: Mapping[str, Any]) -> "Config":
        """The config with other values, checked like one that was loaded.

        Args:
            changes: key path, such as ``"grid.rule"`` or ``"studies.0.sizes"`` -> value.

        Raises:
            ConfigError: for a path that leads nowhere, or a value that does not fit.
        """
        from experiments.config.loading import changed

        return changed(self, changes)

    def study(self, name: str) -> Study:
        """The study of that name.

        Raises:
            KeyError: if there is none.
        """
        for study in self.studies:
            if study.name == name:
                return study
        raise KeyError(f"no study {name!r}; there are {', '.join(s.name for s in self.studies)}")

"""Defaults that depend on other parts of the config."""

from typing import Any

from experiments.config.equation import moments_of
from experiments.config.initial import RandomInitial
from experiments.config.root import Config


def resolve(config: Config) -> Config:
    """The config with the defaults filled in that depend on something else.

    The domains inside attention and feedforward are Omega_y, the initial state is projected onto
    S1 if the equation has moments, and random initial cells are those of the grid.
    """
    changes: dict[str, Any] = {}
    if config.domains is not None:
        inner = {"hidden": config.domains.inner, "head_features": config.domains.eta}
        changes["domains"] = config.domains.model_copy(update=inner)
    if config.initial is not None and config.equation is not None:
        changes["initial"] = config.initial.model_copy(update=_initial(config))
    return config.model_copy(update=changes)


def _initial(config: Config) -> dict[str, Any]:
    initial, equation = config.initial, config.equation
    assert initial is not None and equation is not None
    found: dict[str, Any] = {}
    if initial.project is None:
        found["project"] = moments_of(equation) is not None
    if isinstance(initial, RandomInitial) and initial.cells is None and config.grid is not None:
        found["cells"] = (*config.grid.token_cells, config.grid.features)
    return found

"""A config at one size of a study."""

from typing import Any

from experiments.config.grid import Rules
from experiments.config.root import Config
from experiments.config.studies import FinestReference, Study


def settings(study: Study) -> dict[str, Any]:
    """The study's ``set``; steps are free, as only initial and final states are saved."""
    return {"time.save_every": 1} | study.set


def refined(config: Config, study: Study, index: int) -> Config:
    """The config at the study's size number ``index``, with the study's ``set`` applied.

    Only the initial and the final state are saved.

    Raises:
        ConfigError: if the values do not fit, such as an odd count for Simpson's rule.
    """
    steps = None if study.steps is None else study.steps[index]
    return config.with_overrides(settings(study) | sized(config, study, study.sizes[index], steps))


def reference_config(config: Config, study: Study) -> Config | None:
    """The config of the study's finest solution; None for a reference of another kind.

    A reference without size (of a study of time, without steps) is the study's last size.

    Raises:
        ConfigError: if the values do not fit.
    """
    reference = study.reference
    if not isinstance(reference, FinestReference):
        return None
    last = study.sizes[-1]
    size = last if reference.size is None else reference.size
    steps = reference.steps
    if study.axis == "time":
        size = size if steps is None else steps
    elif study.axis == "joint" and steps is None and study.steps is not None:
        steps = study.steps[-1]
    changes = settings(study) | sized(config, study, size, steps)
    if reference.rule is not None:
        rule = reference.rule
        changes["grid.rule"] = rule.model_dump() if isinstance(rule, Rules) else rule
    if reference.scheme is not None:
        changes["time.scheme"] = reference.scheme
    return config.with_overrides(changes)


def sized(config: Config, study: Study, size: int, steps: int | None = None) -> dict[str, Any]:
    """The overrides that set the study's axis to ``size``, as ``Config.with_overrides`` takes them.

    Args:
        config: tells the dimension of Omega_x; two dimensions get ``size`` cells along each.
        study: tells the axis.
        size: cells along the axis, or steps where the axis is time.
        steps: the number of steps, where they change beside the cells.
    """
    two = config.domains is not None and config.domains.dimension == 2
    tokens = {"grid.tokens": [size, size] if two else size}
    cells: dict[str, dict[str, Any]] = {
        "time": {},
        "tokens": tokens,
        "features": {"grid.features": size},
        "heads": {"grid.heads": size},
        "space": tokens | {"grid.features": size},
        "joint": tokens | {"grid.features": size},
    }
    count = size if study.axis == "time" else steps or _steps(config, study)
    return cells[study.axis] | {"time.steps": count, "time.save_every": count, "time.chunk": 1}


def _steps(config: Config, study: Study) -> int:
    found = study.set.get("time.steps", config.time.steps)
    return found if isinstance(found, int) else config.time.steps

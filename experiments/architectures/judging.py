"""One architecture held against its reference."""

import dataclasses
from typing import Any

import numpy as np

from discretize.transfer import lift_state
from experiments.architectures.row import Inputs, Row

#: The largest relative difference that passes, in float64.
TOLERANCE = 1e-13


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The largest differences over a row's random models and inputs, on valid tokens.

    Args:
        row: the row.
        max_abs: max |a - b|.
        max_rel: max |a - b| / max |b|, each model and input by itself.
        models: how many random models were compared.
    """

    row: Row
    max_abs: float
    max_rel: float
    models: int

    @property
    def passed(self) -> bool:
        """Whether the relative difference is within the tolerance."""
        return self.max_rel <= TOLERANCE

    def summary(self) -> dict[str, Any]:
        """What JSON says of it."""
        words = {
            key: getattr(self.row, key)
            for key in ("name", "scheme", "constraint", "kernels", "measure", "reference", "lifted")
        }
        return words | {
            "models": self.models,
            "max_abs": self.max_abs,
            "max_rel": self.max_rel,
            "passed": self.passed,
        }


def judge(row: Row, *, seed: int = 0, refine: tuple[int, int] = (1, 1)) -> Verdict:
    """Build the row's random models and compare every one with its recovery.

    Args:
        row: the architecture.
        seed: of weights and inputs.
        refine: cut the cells in x and y into so many parts; the reference's states are lifted.
    """
    differences = [
        difference(row, settings, seed + k, refine) for k, settings in enumerate(row.configurations)
    ]
    return Verdict(
        row,
        max(absolute for absolute, _ in differences),
        max(relative for _, relative in differences),
        len(differences),
    )


def difference(
    row: Row, settings: Any, seed: int, refine: tuple[int, int] = (1, 1)
) -> tuple[float, float]:
    """Largest absolute and relative difference of one random model over its inputs."""
    import torch

    torch.manual_seed(seed)
    model = row.build(settings)
    recovered = row.read(model)
    fine = recovered if refine == (1, 1) else recovered.refine(*refine)
    found = []
    for inputs in row.inputs(model, np.random.default_rng(seed)):
        expected = row.forward(model, inputs)
        found.append(_compare(recovered, fine, inputs, expected, refine))
    return max(a for a, _ in found), max(r for _, r in found)


def _compare(
    recovered: Any, fine: Any, inputs: Inputs, expected: np.ndarray, refine: tuple[int, int]
) -> tuple[float, float]:
    from solvers import solve

    u0, mask = recovered.embed(**inputs.arguments), inputs.mask
    if refine != (1, 1):
        grids = recovered.problem.grid, fine.problem.grid
        u0, expected = lift_state(u0, *grids), np.asarray(lift_state(expected, *grids))
        mask = None if mask is None else np.repeat(mask, refine[0], axis=-1)
    final = np.asarray(solve(fine, u0, mask=mask).final)
    valid = np.ones(expected.shape[:-1], bool) if mask is None else mask
    absolute = float(np.abs(final - expected)[valid].max())
    return absolute, absolute / float(np.abs(expected[valid]).max())

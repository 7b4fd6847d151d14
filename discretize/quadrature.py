"""Quadrature rules on a uniform partition of an interval."""

import dataclasses
from collections.abc import Callable

import numpy as np


@dataclasses.dataclass(frozen=True)
class Rule:
    """A composite quadrature rule: where the nodes lie and what they weigh.

    Args:
        name: the field's name of the rule.
        order: the order of convergence for smooth integrands.
        degree: polynomials up to this degree are integrated exactly.
        nodes: n -> node positions in units of a cell, for n cells of [0, n].
        weights: n -> the weights in units of a cell.
    """

    name: str
    order: int
    degree: int
    nodes: Callable[[int], np.ndarray]
    weights: Callable[[int], np.ndarray]


#: One node in the middle of every cell; nests under every odd refinement factor.
MIDPOINT = Rule("midpoint", 2, 1, lambda n: np.arange(n) + 0.5, np.ones)

#: The rules by name.
RULES = {rule.name: rule for rule in (MIDPOINT,)}

"""Quadrature rules on a uniform partition of an interval."""

import dataclasses
import math
from collections.abc import Callable

import numpy as np


@dataclasses.dataclass(frozen=True)
class Rule:
    """A composite quadrature rule: where the nodes lie and what they weigh.

    Args:
        name: the field's name of the rule.
        order: the order of convergence for smooth integrands (``math.inf``: faster than any power,
            for smooth integrands that are periodic).
        degree: polynomials up to this degree are integrated exactly, and no others are.
        nodes: n -> node positions in units of a cell, for n cells of [0, n].
        weights: n -> the weights in units of a cell.
    """

    name: str
    order: int | float
    degree: int
    nodes: Callable[[int], np.ndarray]
    weights: Callable[[int], np.ndarray]


def _simpson(n: int) -> np.ndarray:
    if n % 2:
        raise ValueError(
            f"Simpson's rule pairs cells: expected an even number of cells, got {n}; use "
            f"{n - 1} or {n + 1}"
        )
    weights = np.full(n + 1, 2.0 / 3.0)
    weights[1::2] = 4.0 / 3.0
    weights[[0, -1]] = 1.0 / 3.0
    return weights


def _trapezoid(n: int) -> np.ndarray:
    return np.concatenate([[0.5], np.ones(n - 1), [0.5]])


#: One node in the middle of every cell; nests under every odd refinement factor.
MIDPOINT = Rule("midpoint", 2, 1, lambda n: np.arange(n) + 0.5, np.ones)

#: Nodes at both ends of every cell, so n + 1 of them; nests under every refinement factor.
TRAPEZOID = Rule("trapezoid", 2, 1, lambda n: np.arange(n + 1.0), _trapezoid)

#: One node at the lower end of every cell.
LEFT = Rule("left", 1, 0, lambda n: np.arange(float(n)), np.ones)

#: Parabolas over pairs of cells: n + 1 nodes, n even.
SIMPSON = Rule("simpson", 4, 3, lambda n: np.arange(n + 1.0), _simpson)

#: The midpoint rule's nodes and weights, declared for integrands that are smooth *and periodic*:
#: there the error falls faster than any power of h, and n nodes integrate the trigonometric
#: polynomials of the period exactly up to frequency n - 1.  On other integrands it has order 2.
PERIODIC = Rule("periodic", math.inf, 1, MIDPOINT.nodes, MIDPOINT.weights)

#: The rules by name.
RULES = {rule.name: rule for rule in (MIDPOINT, TRAPEZOID, LEFT, SIMPSON, PERIODIC)}

"""How an equation composes its terms in one time step, as plain data.

A structure is a small tree over the *names* of an equation's terms.  It says in which order the
right-hand side is split and where the maps stand; it holds no arrays and no arithmetic.
"""

import dataclasses
import math
from collections.abc import Iterator
from typing import TypeAlias


@dataclasses.dataclass(frozen=True)
class Flow:
    """Advance u_t = rate * (sum of the named operators): u <- u + dt * rate * (sum_k T_k u).

    Args:
        terms: the operators' names.
        rate: a factor on the terms, as the halves of a Strang-shaped step have it.
    """

    terms: tuple[str, ...]
    rate: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a flow of nothing, or of no rate."""
        if not self.terms:
            raise ValueError("Flow: expected at least one term, got none")
        if not 0.0 < self.rate < math.inf:
            raise ValueError(f"Flow: expected a finite rate > 0, got {self.rate}")


@dataclasses.dataclass(frozen=True)
class Apply:
    """Apply a map that has no rate: u <- P(u), a projection, normalisation or pointwise map."""

    term: str


@dataclasses.dataclass(frozen=True)
class Sequence:
    """One child after the other.

    Args:
        children: the nodes, first one first.
        name: when given, the whole sequence counts as one substep with this name.
    """

    children: tuple["Structure", ...]
    name: str | None = None

    def __post_init__(self) -> None:
        """Refuse an empty sequence."""
        if not self.children:
            raise ValueError("Sequence: expected at least one child, got none")


@dataclasses.dataclass(frozen=True)
class Average:
    """Relaxation: u <- (1 - omega) u + omega * branch(u); every flow in the branch has ``rate``.

    ``omega = 1/2``, ``rate = 1`` is the paper's literal residual connection (its last relaxation
    substep).  ``rate = 1 / omega`` is parallel splitting of {branch, zero}: consistent with the
    equation that has the branch's tendencies at full rate.

    Args:
        branch: what runs from u; it must return to the domain of u.
        omega: the weight of the branch.
        rate: the factor on dt inside the branch.
        scale: the factor by which the result is smaller than the residual sum it stands for.  A
            normalisation right after the average takes eps * scale^2, because
            LN_eps(c z) = LN_{eps / c^2}(z): the relaxation owns this factor, the equation keeps
            the model's eps.
        name: the substep's name.
    """

    branch: "Structure"
    omega: float = 0.5
    rate: float = 1.0
    scale: float = 1.0
    name: str = "relaxation"

    def __post_init__(self) -> None:
        """Check the weight, the rate and the scale."""
        if not 0.0 < self.omega <= 1.0:
            raise ValueError(f"Average: expected 0 < omega <= 1, got omega={self.omega}")
        if self.rate <= 0.0 or self.scale <= 0.0:
            raise ValueError(
                f"Average: expected rate > 0 and scale > 0, got {self.rate} and {self.scale}"
            )

    @property
    def limit_rate(self) -> float:
        """The rate at which the branch's tendencies enter as dt -> 0: omega * rate."""
        return self.omega * self.rate


Structure: TypeAlias = Flow | Apply | Sequence | Average


def walk(node: Structure) -> Iterator[Structure]:
    """All nodes of a structure, parents before children, in order of application."""
    yield node
    if isinstance(node, Sequence):
        for child in node.children:
            yield from walk(child)
    elif isinstance(node, Average):
        yield from walk(node.branch)


def term_names(node: Structure) -> tuple[str, ...]:
    """The terms a structure refers to, in order of first use."""
    names: dict[str, None] = {}
    for item in walk(node):
        if isinstance(item, Flow):
            names.update(dict.fromkeys(item.terms))
        elif isinstance(item, Apply):
            names[item.term] = None
    return tuple(names)


def with_consistent_rates(node: Structure) -> Structure:
    """The structure with every relaxation's branch at the rate 1 / omega.

    Then the branch's tendencies enter the limit dt -> 0 as the equation states them, and the
    relaxed state is the residual sum itself (``scale`` 1).
    """
    if isinstance(node, Sequence):
        children = tuple(with_consistent_rates(child) for child in node.children)
        return dataclasses.replace(node, children=children)
    if isinstance(node, Average):
        branch = with_consistent_rates(node.branch)
        return dataclasses.replace(node, branch=branch, rate=1.0 / node.omega, scale=1.0)
    return node

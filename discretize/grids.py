"""Uniform grids: nodes, weights, integrals and samples."""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import jax.numpy as jnp
import numpy as np
from jax import Array

from continuum.domains import Domain, interval
from discretize.quadrature import MIDPOINT, Rule


@dataclasses.dataclass(frozen=True)
class UniformGrid:
    """A tensor-product grid of equal cells on a box, with a quadrature rule.

    Grids of any dimension are flat in arrays: node (i, j) of an (m, n) grid is index i n + j.
    The nodes of the midpoint rule are cell centres; no end point counts.

    Args:
        domain: a bounded box.
        cells: the number of cells along each coordinate.
        rule: the quadrature rule along every coordinate, or a tuple with one for each; equal ones
            are kept as the single rule that they are.

    Raises:
        ValueError: for an unbounded domain, or counts that are not positive, or counts or rules
            that are not one for each coordinate.
    """

    domain: Domain
    cells: tuple[int, ...]
    rule: Rule | tuple[Rule, ...] = MIDPOINT

    def __post_init__(self) -> None:
        """Check domain, counts and rules."""
        if not math.isfinite(self.domain.measure):
            raise ValueError(f"UniformGrid: expected a bounded domain, got {self.domain}")
        if len(self.cells) != self.domain.dimension or any(n < 1 for n in self.cells):
            raise ValueError(
                f"UniformGrid: expected {self.domain.dimension} positive cell counts for "
                f"{self.domain}, got {self.cells}"
            )
        if len(self.rules) != self.domain.dimension:
            raise ValueError(
                f"UniformGrid: expected one rule, or {self.domain.dimension} of them for "
                f"{self.domain}, got {len(self.rules)}"
            )
        if len(set(self.rules)) == 1:  # so that grids with the same nodes are equal
            object.__setattr__(self, "rule", self.rules[0])

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The quadrature rule along each coordinate."""
        if isinstance(self.rule, tuple):
            return self.rule
        return (self.rule,) * self.domain.dimension

    @property
    def spacing(self) -> tuple[float, ...]:
        """h, the edge lengths of a cell."""
        return tuple(e / n for e, n in zip(self.domain.extents, self.cells, strict=True))

    @functools.cached_property
    def axes(self) -> tuple[np.ndarray, ...]:
        """The node coordinates along each axis, float64."""
        return tuple(
            low + h * rule.nodes(n)
            for low, h, n, rule in zip(
                self.domain.lower, self.spacing, self.cells, self.rules, strict=True
            )
        )

    @functools.cached_property
    def nodes(self) -> np.ndarray:
        """All nodes: shape (size,) in one dimension, (size, dimension) otherwise."""
        if len(self.axes) == 1:
            return self.axes[0]
        mesh = np.meshgrid(*self.axes, indexing="ij")
        return np.stack([m.reshape(-1) for m in mesh], axis=-1)

    @functools.cached_property
    def weights(self) -> np.ndarray:
        """The quadrature weights, shape (size,); they sum to |Omega|."""
        along = [
            h * rule.weights(n)
            for h, n, rule in zip(self.spacing, self.cells, self.rules, strict=True)
        ]
        return functools.reduce(np.multiply.outer, along).reshape(-1)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of nodes along each coordinate."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.weights)

    @property
    def equal_weights(self) -> bool:
        """Whether every node weighs the same, so that weights cancel in means."""
        return bool(np.all(self.weights == self.weights[0]))

    def mean(self, values: Any) -> Any:
        """(1 / |Omega|) int v over the last axis, which stays with length one.

        Of an array of NumPy or of jax, and the same kind comes back.
        """
        if self.equal_weights:
            return values.mean(axis=-1, keepdims=True)
        weights = (self.weights / self.weights.sum()).astype(values.dtype)
        return (values * weights).sum(axis=-1, keepdims=True)

    def integrate(self, values: Array) -> Array:
        """Int v over the last axis: values (..., size) -> (...)."""
        return jnp.sum(values * jnp.asarray(self.weights, values.dtype), axis=-1)

    def sample(self, function: Callable[..., Array]) -> Array:
        """The values of ``function`` at the nodes, shape (size,)."""
        return jnp.broadcast_to(jnp.asarray(function(self.nodes)), (self.size,))

    def refine(self, factor: int) -> "UniformGrid":
        """The grid with every cell cut into ``factor`` along each coordinate."""
        return UniformGrid(self.domain, tuple(n * factor for n in self.cells), self.rule)

    def of(self, tokens: int) -> "UniformGrid":
        """This grid, once the number of tokens is known to be its size.

        Raises:
            ValueError: if the state has another number of tokens.
        """
        if tokens != self.size:
            raise ValueError(
                f"expected a state with {self.size} tokens, the nodes of the grid on "
                f"{self.domain}, got {tokens}"
            )
        return self


@dataclasses.dataclass(frozen=True)
class AtomicGrid:
    """The grid of an Omega_x with atoms beside a box: atoms first, then the nodes of the box.

    Args:
        box: the grid of the box.
        atoms: how many atoms.
        weight: what each of them weighs; 1 as the domain has it, or as much as a cell where a
            model's key grid is coarser than its cells.

    Raises:
        ValueError: for fewer than one atom, or a weight that is not a finite number > 0.
    """

    box: UniformGrid
    atoms: int = 1
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Check the atoms."""
        if self.atoms < 1 or not 0.0 < self.weight < math.inf:
            raise ValueError(
                f"AtomicGrid: expected atoms >= 1 of a finite weight > 0, got {self.atoms} of "
                f"{self.weight}"
            )

    @property
    def domain(self) -> Domain:
        """The box and the atoms."""
        return dataclasses.replace(self.box.domain, atoms=self.atoms)

    @property
    def size(self) -> int:
        """Atoms and nodes."""
        return self.atoms + self.box.size

    @property
    def shape(self) -> tuple[int, ...]:
        """The grid is flat: atoms have no place among the nodes."""
        return (self.size,)

    @property
    def cells(self) -> tuple[int, ...]:
        """The cells of the box."""
        return self.box.cells

    @functools.cached_property
    def weights(self) -> np.ndarray:
        """The weights of atoms and nodes; they sum to |Omega| if the atoms weigh 1."""
        return np.concatenate([np.full(self.atoms, self.weight), self.box.weights])

    @property
    def equal_weights(self) -> bool:
        """Whether atoms and nodes weigh the same."""
        return bool(np.all(self.weights == self.weights[0]))

    @property
    def nodes(self) -> np.ndarray:
        """Not defined: an atom has no coordinates.

        Raises:
            ValueError: always.
        """
        raise ValueError(
            f"the atoms of {self.domain} have no coordinates; an operator that reads x needs an "
            "Omega_x without atoms"
        )

    def refine(self, factor: int) -> "AtomicGrid":
        """The grid with every cell cut into ``factor`` along each coordinate; atoms stay."""
        return dataclasses.replace(self, box=self.box.refine(factor))

    def of(self, tokens: int) -> "AtomicGrid":
        """This grid, once the number of tokens is known to be its size.

        Raises:
            ValueError: if the state has another number of tokens.
        """
        if tokens != self.size:
            raise ValueError(
                f"expected a state with {self.size} tokens ({self.atoms} atoms and the nodes of "
                f"{self.box.domain}), got {tokens}"
            )
        return self


#: A grid of Omega_x whose size is known.
FixedGrid: TypeAlias = UniformGrid | AtomicGrid


@dataclasses.dataclass(frozen=True)
class TokenGrid:
    """The grid of a token axis [0, N] whose extent the data decide.

    Args:
        refinement: nodes per unit cell; token i of the sequence is the cell [i, i + 1].
        symbol: the name of the domain in print.
        rule: the quadrature rule, one with a node per cell.
    """

    refinement: int = 1
    symbol: str = "Omega_x"
    rule: Rule = MIDPOINT

    def __post_init__(self) -> None:
        """Check the refinement and the rule."""
        if self.refinement < 1:
            raise ValueError(f"TokenGrid: expected refinement >= 1, got {self.refinement}")
        if len(self.rule.nodes(2)) != 2:
            raise ValueError(
                f"TokenGrid: expected a rule with one node per cell, got {self.rule.name}; a token "
                "is a cell"
            )

    def refine(self, factor: int) -> "TokenGrid":
        """The grid with every cell cut into ``factor``."""
        return dataclasses.replace(self, refinement=self.refinement * factor)

    def of(self, tokens: int) -> UniformGrid:
        """The grid of a state with ``tokens`` nodes on the token axis.

        Raises:
            ValueError: if that is not a whole number of cells.
        """
        if tokens < 1 or tokens % self.refinement:
            raise ValueError(
                f"expected a positive multiple of {self.refinement} tokens (nodes per unit cell of "
                f"{self.symbol}), got {tokens}"
            )
        return UniformGrid(interval(tokens // self.refinement, self.symbol), (tokens,), self.rule)


@dataclasses.dataclass(frozen=True)
class Grid:
    """The grids of both coordinates of u(x, y, t).

    Args:
        tokens: the grid of Omega_x.
        features: the grid of Omega_y.
        head_cells: cells along the head coordinate; by default one per unit of Omega_h.
        head_rule: the quadrature rule along the head coordinate; None for midpoint.  The features
            inside a head have the rule of ``features``.
        head_refinement: parts that each cell along the head coordinate is cut into.

    Raises:
        ValueError: if ``head_cells`` or ``head_refinement`` is below one.
    """

    tokens: UniformGrid | AtomicGrid | TokenGrid
    features: UniformGrid
    head_cells: int | None = None
    head_rule: Rule | None = None
    head_refinement: int = 1

    def __post_init__(self) -> None:
        """Check the counts."""
        for name in ("head_cells", "head_refinement"):
            count = getattr(self, name)
            if count is not None and count < 1:
                raise ValueError(f"Grid: expected {name} >= 1, got {count}")

    def refine(self, tokens: int = 1, features: int = 1, heads: int = 1) -> "Grid":
        """Cut cells in x, in y and along the head coordinate into so many parts."""
        return dataclasses.replace(
            self,
            tokens=self.tokens.refine(tokens),
            features=self.features.refine(features),
            head_refinement=self.head_refinement * heads,
        )

    def auxiliary(self, domain: Domain) -> UniformGrid:
        """The grid of another feature-like domain, at the spacing of Omega_y.

        A domain of dimension two is Omega_h x Omega_eta: unit cells (or ``head_cells``) and the
        head rule along the first coordinate, spacing and rule of Omega_y along the second.

        Raises:
            ValueError: if the domain is not a whole number of cells long.
        """
        if domain == self.features.domain:
            return self.features
        *heads, features = domain.extents
        counts = [
            self.head_refinement * (self.head_cells or _count(domain, length, 1.0))
            for length in heads
        ]
        counts.append(_count(domain, features, self.features.spacing[0]))
        rules = (self.head_rule or MIDPOINT,) * len(heads) + self.features.rules
        return UniformGrid(domain, tuple(counts), rules)


def _count(domain: Domain, length: float, step: float) -> int:
    count = round(length / step)
    if count < 1 or abs(count * step - length) > 1e-9 * length:
        raise ValueError(
            f"{domain}: the length {length:g} is not a whole number of cells of {step:g}, the "
            "spacing of the feature grid; choose a grid whose spacing divides both"
        )
    return count

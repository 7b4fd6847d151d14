"""Kernels of low rank that are constant on cells: two thin tables instead of one full one."""

import equinox as eqx
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from continuum.domains import Domain
from continuum.kernels.base import Kernel
from continuum.kernels.cells import (
    _check_cells,
    cell_index,
    check_depth,
    depth_index,
    depth_position,
)
from continuum.precision import as_values


class LowRankKernel(Kernel):
    """k(xi, y, t) = sum_r left_r(xi, t) right_r(y, t), constant on cells like a ``CellKernel``.

    It stores r (n + m) numbers for a depth cell where a ``CellKernel`` stores n m.

    Args:
        left: shape (depth cells, source cells, r), flattened over coordinates in C order; a first
            axis of length one makes the kernel constant in t.
        right: shape (depth cells, r, target cells).
        source: the domain of xi.
        target: the domain of y.
        source_cells: cells along each coordinate of ``source``; by default all of a 1-D domain.
        target_cells: the same for ``target``.
        duration: the length in t of one depth cell [k duration, (k + 1) duration); times outside
            take the nearest cell.
        degree: 0 for values constant on depth cells, 1 for *kernels* (not factors) linear in t
            between the nodes t_k = k duration, and constant outside them.

    Raises:
        ValueError: if the two tables differ in depth or rank, the rank is 0, the shapes are not
            the product of the stated cells, or the depth axis is ill described.
    """

    left: Float[Array, "depth source rank"] = eqx.field(converter=as_values)
    right: Float[Array, "depth rank target"] = eqx.field(converter=as_values)
    source: Domain = eqx.field(static=True)
    target: Domain = eqx.field(static=True)
    source_cells: tuple[int, ...] = eqx.field(static=True, default=())
    target_cells: tuple[int, ...] = eqx.field(static=True, default=())
    duration: float = eqx.field(static=True, default=1.0)
    degree: int = eqx.field(static=True, default=0)

    def __post_init__(self) -> None:
        """Fill in the partition of one-dimensional domains."""
        self.source_cells = tuple(self.source_cells) or (self.left.shape[1],)
        self.target_cells = tuple(self.target_cells) or (self.right.shape[2],)

    def __check_init__(self) -> None:
        """Check that the factors fit together, the cells and the depth axis."""
        (depth, rows, rank), (other, inner, columns) = self.left.shape, self.right.shape
        if (depth, rank) != (other, inner) or rank < 1:
            raise ValueError(
                "LowRankKernel: expected left (depth, source cells, r) and right (depth, r, target "
                f"cells) with one depth and one rank r >= 1, got {self.left.shape} and "
                f"{self.right.shape}"
            )
        check_depth("LowRankKernel", depth, self.duration, self.degree)
        _check_cells("LowRankKernel source", rows, self.source, self.source_cells)
        _check_cells("LowRankKernel target", columns, self.target, self.target_cells)

    @property
    def rank(self) -> int:
        """The number of products."""
        return self.left.shape[2]

    @property
    def time_dependent(self) -> bool:
        """Whether there is more than one depth cell."""
        return self.left.shape[0] > 1

    def __call__(self, xi, y, t) -> Array:
        """The values at (xi, y, t)."""
        rows = cell_index(self.source, self.source_cells, xi)
        columns = cell_index(self.target, self.target_cells, y)
        count = self.left.shape[0]
        if self.degree == 0:
            return self._products(depth_index(t, self.duration, count), rows, columns)
        index, weight = depth_position(t, self.duration, count)
        weight = jnp.asarray(weight, self.left.dtype)
        after = self._products(jnp.minimum(index + 1, count - 1), rows, columns)
        return (1.0 - weight) * self._products(index, rows, columns) + weight * after

    def _products(self, index, rows, columns) -> Array:
        """The sums of products at indices of depth, source and target that broadcast."""
        index, rows, columns = jnp.broadcast_arrays(index, rows, columns)
        right = jnp.swapaxes(self.right, 1, 2)
        return jnp.sum(self.left[index, rows] * right[index, columns], axis=-1)

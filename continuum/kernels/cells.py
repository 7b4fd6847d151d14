"""Kernels and fields that are constant on cells: what a discrete model's weights are."""

import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from continuum.domains import Domain
from continuum.kernels.base import Field, Kernel
from continuum.precision import as_values

#: A node this close below the end of a cell (in cells) lies on it, but for rounding.
_NODE_SLACK = 1e-12

#: A time this close below the end of a cell (in cells) counts as the next cell's beginning,
#: because t = n dt is rounded.
_TIME_SLACK = 1e-6


class CellKernel(Kernel):
    """k(xi, y, t) constant on the cells of uniform partitions of source, target and depth.

    Args:
        values: shape (depth cells, source cells, target cells), flattened over coordinates in
            C order; a first axis of length one makes the kernel constant in t.
        source: the domain of xi.
        target: the domain of y.
        source_cells: cells along each coordinate of ``source``; by default all of a 1-D domain.
        target_cells: the same for ``target``.
        duration: the length in t of one depth cell [k duration, (k + 1) duration); times outside
            take the nearest cell.

    Raises:
        ValueError: if the array's shape is not the product of the stated cells.
    """

    values: Float[Array, "depth source target"] = eqx.field(converter=as_values)
    source: Domain = eqx.field(static=True)
    target: Domain = eqx.field(static=True)
    source_cells: tuple[int, ...] = eqx.field(static=True, default=())
    target_cells: tuple[int, ...] = eqx.field(static=True, default=())
    duration: float = eqx.field(static=True, default=1.0)

    def __post_init__(self) -> None:
        """Fill in the partition of one-dimensional domains."""
        self.source_cells = tuple(self.source_cells) or (self.values.shape[1],)
        self.target_cells = tuple(self.target_cells) or (self.values.shape[2],)

    def __check_init__(self) -> None:
        """Check the shape against the cells."""
        _check_cells("CellKernel source", self.values.shape[1], self.source, self.source_cells)
        _check_cells("CellKernel target", self.values.shape[2], self.target, self.target_cells)

    @property
    def time_dependent(self) -> bool:
        """Whether there is more than one depth cell."""
        return self.values.shape[0] > 1

    def __call__(self, xi, y, t) -> Array:
        """The values at (xi, y, t)."""
        rows = cell_index(self.source, self.source_cells, xi)
        columns = cell_index(self.target, self.target_cells, y)
        return self.values[depth_index(t, self.duration, self.values.shape[0]), rows, columns]


class CellField(Field):
    """b(y, t) constant on the cells of uniform partitions of ``domain`` and of depth.

    Args:
        values: shape (depth cells, cells), flattened over coordinates in C order.
        domain: the domain of y.
        cells: cells along each coordinate; by default all of a 1-D domain.
        duration: the length in t of one depth cell.
    """

    values: Float[Array, "depth cells"] = eqx.field(converter=as_values)
    domain: Domain = eqx.field(static=True)
    cells: tuple[int, ...] = eqx.field(static=True, default=())
    duration: float = eqx.field(static=True, default=1.0)

    def __post_init__(self) -> None:
        """Fill in the partition of a one-dimensional domain."""
        self.cells = tuple(self.cells) or (self.values.shape[1],)

    def __check_init__(self) -> None:
        """Check the shape against the cells."""
        _check_cells("CellField", self.values.shape[1], self.domain, self.cells)

    @property
    def time_dependent(self) -> bool:
        """Whether there is more than one depth cell."""
        return self.values.shape[0] > 1

    def __call__(self, y, t) -> Array:
        """The values at (y, t)."""
        where = cell_index(self.domain, self.cells, y)
        return self.values[depth_index(t, self.duration, self.values.shape[0]), where]


def cell_index(domain: Domain, cells: tuple[int, ...], points):
    """The flat (C order) index of the cell each point lies in; points outside take the nearest.

    NumPy points give NumPy indices, so that indices of a fixed grid stay on the host.
    """
    xp = np if isinstance(points, np.ndarray | float | int) else jnp
    points = xp.asarray(points)
    columns = [points] if domain.dimension == 1 else [points[..., i] for i in range(len(cells))]
    flat = 0
    for column, low, extent, count in zip(
        columns, domain.lower, domain.extents, cells, strict=True
    ):
        index = xp.floor((column - low) * (count / extent) + _NODE_SLACK).astype(int)
        flat = flat * count + xp.clip(index, 0, count - 1)
    return flat


def depth_index(t, duration: float, count: int):
    """The index of the depth cell that holds time ``t``, for host or traced times alike."""
    xp = np if isinstance(t, np.ndarray | float | int) else jnp
    index = xp.floor(xp.asarray(t) / duration + _TIME_SLACK).astype(int)
    return xp.clip(index, 0, count - 1)


def _check_cells(owner: str, size: int, domain: Domain, cells: tuple[int, ...]) -> None:
    if len(cells) != domain.dimension or math.prod(cells) != size:
        raise ValueError(
            f"{owner}: expected {domain.dimension} cell counts (the dimension of {domain}) whose "
            f"product is the array's {size} cells, got {cells}"
        )
    if not math.isfinite(domain.measure):
        raise ValueError(f"{owner}: cells need a bounded domain, got {domain}")

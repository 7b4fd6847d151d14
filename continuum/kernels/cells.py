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
        degree: 0 for values constant on depth cells, 1 for values linear in t between the nodes
            t_k = k duration, where row k is taken on, and constant outside them.

    Raises:
        ValueError: if the array's shape is not the product of the stated cells, or the duration is
            not a finite number > 0, or the degree neither 0 nor 1.
    """

    values: Float[Array, "depth source target"] = eqx.field(converter=as_values)
    source: Domain = eqx.field(static=True)
    target: Domain = eqx.field(static=True)
    source_cells: tuple[int, ...] = eqx.field(static=True, default=())
    target_cells: tuple[int, ...] = eqx.field(static=True, default=())
    duration: float = eqx.field(static=True, default=1.0)
    degree: int = eqx.field(static=True, default=0)

    def __post_init__(self) -> None:
        """Fill in the partition of one-dimensional domains."""
        self.source_cells = tuple(self.source_cells) or (self.values.shape[1],)
        self.target_cells = tuple(self.target_cells) or (self.values.shape[2],)

    def __check_init__(self) -> None:
        """Check the shape against the cells, and the depth axis."""
        check_depth("CellKernel", self.values.shape[0], self.duration, self.degree)
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
        return at_depth(self.values, self.duration, self.degree, t, rows, columns)


class CellField(Field):
    """b(y, t) constant on the cells of uniform partitions of ``domain`` and of depth.

    Args:
        values: shape (depth cells, cells), flattened over coordinates in C order.
        domain: the domain of y.
        cells: cells along each coordinate; by default all of a 1-D domain.
        duration: the length in t of one depth cell.
        degree: 0 for values constant on depth cells, 1 for linear between t_k = k duration.

    Raises:
        ValueError: see :class:`CellKernel`.
    """

    values: Float[Array, "depth cells"] = eqx.field(converter=as_values)
    domain: Domain = eqx.field(static=True)
    cells: tuple[int, ...] = eqx.field(static=True, default=())
    duration: float = eqx.field(static=True, default=1.0)
    degree: int = eqx.field(static=True, default=0)

    def __post_init__(self) -> None:
        """Fill in the partition of a one-dimensional domain."""
        self.cells = tuple(self.cells) or (self.values.shape[1],)

    def __check_init__(self) -> None:
        """Check the shape against the cells, and the depth axis."""
        check_depth("CellField", self.values.shape[0], self.duration, self.degree)
        _check_cells("CellField", self.values.shape[1], self.domain, self.cells)

    @property
    def time_dependent(self) -> bool:
        """Whether there is more than one depth cell."""
        return self.values.shape[0] > 1

    def __call__(self, y, t) -> Array:
        """The values at (y, t)."""
        where = cell_index(self.domain, self.cells, y)
        return at_depth(self.values, self.duration, self.degree, t, where)


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


def depth_position(t, duration: float, count: int):
    """Where time ``t`` lies between the nodes t_k = k duration, k = 0 ... count - 1.

    Args:
        t: times, on the host (NumPy arrays and numbers) or traced; the results are alike.
        duration: the distance of two nodes.
        count: the number of nodes.

    Returns:
        Whole numbers i and weights w in [0, 1): the linear interpolant of values v_k at the nodes
        is (1 - w) v_i + w v_(i+1).  Before t = 0 and after the last node i is that node and w = 0.
    """
    xp = np if isinstance(t, np.ndarray | float | int) else jnp
    position = xp.clip(xp.asarray(t) / duration, 0.0, count - 1.0)
    index = xp.floor(position).astype(int)
    return index, position - index


def at_depth(values: Array, duration: float, degree: int, t, *where) -> Array:
    """The values at depth ``t`` (and at the indices ``where``) of rows known along depth.

    Args:
        values: (depth cells or nodes, ...).
        duration: the length of a depth cell.
        degree: 0 for constant on depth cells, 1 for linear between the nodes t_k = k duration.
        t: the times; they broadcast with ``where``.
        where: indices into the other axes.
    """
    count = values.shape[0]
    if degree == 0:
        return values[depth_index(t, duration, count), *where]
    index, weight = depth_position(t, duration, count)
    here, after = values[index, *where], values[jnp.minimum(index + 1, count - 1), *where]
    weight = jnp.asarray(weight, values.dtype)
    weight = weight.reshape(weight.shape + (1,) * (0 if where else values.ndim - 1))
    return (1.0 - weight) * here + weight * after


def check_depth(owner: str, count: int, duration: float, degree: int) -> None:
    """Check the description of the depth axis of a kernel or field.

    Raises:
        ValueError: if there are no rows, the duration is not a finite number > 0, or the degree is
            neither 0 nor 1.
    """
    if count < 1:
        raise ValueError(f"{owner}: expected at least one row in depth, got none")
    if not 0.0 < duration < math.inf:
        raise ValueError(f"{owner}: expected a finite duration > 0, got {duration}")
    if degree not in (0, 1):
        raise ValueError(
            f"{owner}: expected degree 0 (constant on depth cells) or 1 (linear between their "
            f"beginnings), got {degree}"
        )


def _check_cells(owner: str, size: int, domain: Domain, cells: tuple[int, ...]) -> None:
    if len(cells) != domain.dimension or math.prod(cells) != size:
        raise ValueError(
            f"{owner}: expected {domain.dimension} cell counts (the dimension of {domain}) whose "
            f"product is the array's {size} cells, got {cells}"
        )
    if not math.isfinite(domain.measure):
        raise ValueError(f"{owner}: cells need a bounded domain, got {domain}")

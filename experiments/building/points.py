"""Functions of separate variables as functions of points."""

import dataclasses
import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from continuum.kernels import on_host


@dataclasses.dataclass(frozen=True)
class OnPoints:
    """A function of scalars, called with points whose coordinates stand in the last axis.

    Equal ones hash alike, so that what jax has compiled for one serves the other.

    Args:
        function: f(a1, ..., an, b1, ...), hashable, of arrays that broadcast.
        dimensions: the number of coordinates of each argument; an argument of dimension one has no
            axis for them.
    """

    function: Callable[..., Array]
    dimensions: tuple[int, ...]

    def __call__(self, *points) -> Array:
        """The values at the points: their common shape without the axes of coordinates."""
        return _values(self, *points)


@functools.partial(jax.jit, static_argnums=0, inline=True)
def _values(function: OnPoints, *points) -> Array:
    """Compiled once for all equal functions and each shape, not operation by operation."""
    return function.function(*_columns(function, [jnp.asarray(point) for point in points]))


def _columns(function: OnPoints, points) -> list:
    columns = []
    for argument, dimension in zip(points, function.dimensions, strict=True):
        if dimension == 1:
            columns.append(argument)
        else:
            columns += [argument[..., i] for i in range(dimension)]
    return columns


@on_host.register
def _(function: OnPoints, *points: np.ndarray) -> np.ndarray | None:
    return on_host(function.function, *_columns(function, points))


@dataclasses.dataclass(frozen=True)
class ConstantInTime:
    """A function of points as one of points and t."""

    function: Callable[..., Array]

    def __call__(self, *points) -> Array:
        """The values at the points, whatever the time, which comes last."""
        return self.function(*points[:-1])


@on_host.register
def _(function: ConstantInTime, *points: np.ndarray) -> np.ndarray | None:
    return on_host(function.function, *points[:-1])

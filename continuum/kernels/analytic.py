"""Kernels and fields given by a callable."""

from collections.abc import Callable
from functools import singledispatch

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from continuum.domains import Domain
from continuum.kernels.base import Field, Kernel


class AnalyticKernel(Kernel):
    """k(xi, y, t) = function(xi, y, t), a callable of arrays that broadcast.

    Args:
        function: written with ``jax.numpy``; on a domain of dimension n >= 2 the points carry
            their coordinates in a last axis.
        source: the domain of xi.
        target: the domain of y.
        time_dependent: set False when ``function`` ignores t, so that it is sampled once.
    """

    function: Callable[..., Array] = eqx.field(static=True)
    source: Domain = eqx.field(static=True)
    target: Domain = eqx.field(static=True)
    time_dependent: bool = eqx.field(static=True, default=True)

    def __call__(self, xi, y, t) -> Array:
        """The values at (xi, y, t)."""
        return jnp.asarray(self.function(xi, y, t))


class AnalyticField(Field):
    """b(y, t) = function(y, t), a callable of arrays.

    Args:
        function: written with ``jax.numpy``.
        domain: the domain of y.
        time_dependent: set False when ``function`` ignores t.
    """

    function: Callable[..., Array] = eqx.field(static=True)
    domain: Domain = eqx.field(static=True)
    time_dependent: bool = eqx.field(static=True, default=True)

    def __call__(self, y, t) -> Array:
        """The values at (y, t)."""
        return jnp.asarray(self.function(y, t))


@singledispatch
def on_host(function: Callable[..., Array], *points: np.ndarray) -> np.ndarray | None:
    """The values of a function at points on the host by NumPy, or None if only jax can have them.

    Sampling a kernel on a grid by NumPy saves compiling it, which for small grids is most of the
    work.  Register the types of functions that know how.

    Args:
        function: of a kernel or field.
        points: arrays that broadcast, once coordinates in last axes are taken apart.
    """
    del function, points
    return None

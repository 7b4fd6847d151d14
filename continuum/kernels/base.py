"""What a kernel and a field are.

Points of a domain of dimension one are arrays of any shape ``(...)``; points of a domain of
dimension n >= 2 carry the coordinates in a last axis, ``(..., n)``.
"""

import abc
from typing import TYPE_CHECKING

import equinox as eqx
import jax
from jax import Array

from continuum.domains import Domain


class Kernel(eqx.Module):
    """A kernel k(xi, y, t): xi in ``source``, y in ``target``, t the depth.

    It acts as (W u)(x, y) = int_source k(xi, y, t) u(x, xi) dxi.
    """

    if TYPE_CHECKING:  # a type checker would take an AbstractVar for a constructor argument

        @property
        def source(self) -> Domain:
            """What the map reads from."""
            ...

        @property
        def target(self) -> Domain:
            """What the map goes to."""
            ...

        @property
        def time_dependent(self) -> bool:
            """Whether the values change with t."""
            ...

    else:
        source: eqx.AbstractVar[Domain]
        target: eqx.AbstractVar[Domain]
        time_dependent: eqx.AbstractVar[bool]

    @abc.abstractmethod
    def __call__(
        self, xi: jax.typing.ArrayLike, y: jax.typing.ArrayLike, t: float | Array
    ) -> Array:
        """The values at points ``xi`` and ``y`` (broadcast against each other) and depth ``t``."""


class Field(eqx.Module):
    """A function b(y, t) on ``domain``: a bias, a learned scale, an initial profile."""

    if TYPE_CHECKING:  # a type checker would take an AbstractVar for a constructor argument

        @property
        def domain(self) -> Domain:
            """The domain of y."""
            ...

        @property
        def time_dependent(self) -> bool:
            """Whether the values change with t."""
            ...

    else:
        domain: eqx.AbstractVar[Domain]
        time_dependent: eqx.AbstractVar[bool]

    @abc.abstractmethod
    def __call__(self, y: jax.typing.ArrayLike, t: float | Array) -> Array:
        """The values at points ``y`` and depth ``t``."""

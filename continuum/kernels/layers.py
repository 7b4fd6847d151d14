"""Kernels and fields that are another function on every piece of depth."""

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from continuum.domains import Domain
from continuum.kernels.base import Field, Kernel
from continuum.kernels.cells import at_depth, check_depth


class LayeredKernel(Kernel):
    """k(xi, y, t) = k_n(xi, y) on depth cell n, or linear in t between k_n and k_(n+1).

    Args:
        children: k_0, k_1, ..., constant in t and on the same domains.
        duration: the length in t of one depth cell; times outside take the nearest child.
        degree: 0 for constant on the cells [n duration, (n + 1) duration), 1 for linear between
            the nodes t_n = n duration, where child n is taken on.

    Raises:
        ValueError: if there are no children, one depends on t or their domains differ, or the
            depth axis is ill described.
    """

    children: tuple[Kernel, ...]
    duration: float = eqx.field(static=True, default=1.0)
    degree: int = eqx.field(static=True, default=0)

    def __check_init__(self) -> None:
        """Check children and depth."""
        domains = [(child.source, child.target) for child in self.children]
        _check_children("LayeredKernel", self.children, domains)
        check_depth("LayeredKernel", len(self.children), self.duration, self.degree)

    @property
    def source(self) -> Domain:
        """The domain of xi."""
        return self.children[0].source

    @property
    def target(self) -> Domain:
        """The domain of y."""
        return self.children[0].target

    @property
    def time_dependent(self) -> bool:
        """Whether there is more than one child."""
        return len(self.children) > 1

    def __call__(self, xi, y, t) -> Array:
        """The values at (xi, y) and the single time t."""
        values = jnp.broadcast_arrays(*(child(xi, y, 0.0) for child in self.children))
        return at_depth(jnp.stack(values), self.duration, self.degree, t)


class LayeredField(Field):
    """b(y, t) = b_n(y) on depth cell n, or linear in t; see :class:`LayeredKernel`.

    Args:
        children: b_0, b_1, ..., constant in t and on one domain.
        duration: the length in t of one depth cell.
        degree: 0 for constant on depth cells, 1 for linear between t_n = n duration.

    Raises:
        ValueError: see :class:`LayeredKernel`.
    """

    children: tuple[Field, ...]
    duration: float = eqx.field(static=True, default=1.0)
    degree: int = eqx.field(static=True, default=0)

    def __check_init__(self) -> None:
        """Check children and depth."""
        domains = [child.domain for child in self.children]
        _check_children("LayeredField", self.children, domains)
        check_depth("LayeredField", len(self.children), self.duration, self.degree)

    @property
    def domain(self) -> Domain:
        """The domain of y."""
        return self.children[0].domain

    @property
    def time_dependent(self) -> bool:
        """Whether there is more than one child."""
        return len(self.children) > 1

    def __call__(self, y, t) -> Array:
        """The values at y and the single time t."""
        values = jnp.broadcast_arrays(*(child(y, 0.0) for child in self.children))
        return at_depth(jnp.stack(values), self.duration, self.degree, t)


def _check_children(owner: str, children: tuple[Kernel | Field, ...], domains: list) -> None:
    if not children:
        raise ValueError(f"{owner}: expected at least one child, got none")
    for k, (child, domain) in enumerate(zip(children, domains, strict=True)):
        if child.time_dependent:
            raise ValueError(
                f"{owner}: expected children that are constant in t, but child {k} depends on t; "
                "write the dependence into one kernel, or take more layers"
            )
        if domain != domains[0]:
            raise ValueError(f"{owner}: child {k} lives on other domains than child 0")

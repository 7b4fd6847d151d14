"""Kernels and fields in a basis: finitely many coefficients that a trained model can keep.

A basis has functions phi_0, phi_1, ... of s in [0, 1], the coordinate of an interval [a, b] mapped
by s = (y - a) / (b - a), so that a coefficient means the same whatever the interval is.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from continuum.domains import Domain
from continuum.kernels.base import Field, Kernel
from continuum.kernels.cells import at_depth, check_depth
from continuum.precision import as_values


@dataclasses.dataclass(frozen=True)
class Basis:
    """A sequence of functions on [0, 1].

    Args:
        name: its name in ``BASES``.
        functions: (points s of any shape, count n) -> the first n functions, in a new last axis;
            NumPy points give a NumPy array in float64, others are traced.
    """

    name: str
    functions: Callable[[Any, int], Any]


def _fourier(s: Any, count: int) -> Any:
    xp = _library(s)
    angles = [2.0 * math.pi * ((k + 1) // 2) * s for k in range(count)]
    waves = [(xp.cos if k % 2 else xp.sin)(angle) for k, angle in enumerate(angles)]
    return xp.stack([xp.ones_like(s), *(math.sqrt(2.0) * wave for wave in waves[1:])], axis=-1)


def _legendre(s: Any, count: int) -> Any:
    x = 2.0 * s - 1.0
    found = [_library(s).ones_like(x), x][:count]
    for n in range(1, count - 1):
        found.append(((2 * n + 1) * x * found[n] - n * found[n - 1]) / (n + 1))
    scaled = [math.sqrt(2.0 * n + 1.0) * p for n, p in enumerate(found)]
    return _library(s).stack(scaled, axis=-1)


def _chebyshev(s: Any, count: int) -> Any:
    x = 2.0 * s - 1.0
    found = [_library(s).ones_like(x), x][:count]
    for n in range(1, count - 1):
        found.append(2.0 * x * found[n] - found[n - 1])
    return _library(s).stack(found, axis=-1)


def _library(points: Any) -> Any:
    return np if isinstance(points, np.ndarray) else jnp


#: 1, sqrt2 cos(2 pi s), sqrt2 sin(2 pi s), sqrt2 cos(4 pi s), ...: orthonormal for the mean
#: (1 / |Omega|) int, and periodic.
FOURIER = Basis("fourier", _fourier)

#: sqrt(2 n + 1) P_n(2 s - 1): orthonormal for the mean (1 / |Omega|) int.
LEGENDRE = Basis("legendre", _legendre)

#: T_n(2 s - 1), not scaled: of size at most one, orthogonal with weight (s - s^2)^(-1/2) only.
CHEBYSHEV = Basis("chebyshev", _chebyshev)

#: The bases by name.
BASES = {basis.name: basis for basis in (FOURIER, LEGENDRE, CHEBYSHEV)}


def as_bases(basis: Basis | str | Sequence[Basis | str]) -> tuple[Basis, ...]:
    """The bases with the given names; a single one as a tuple of one.

    Raises:
        ValueError: for a name that is not in ``BASES``.
    """
    several = (basis,) if isinstance(basis, Basis | str) else tuple(basis)
    return tuple(_by_name(one) for one in several)


def _by_name(basis: Basis | str) -> Basis:
    if isinstance(basis, Basis):
        return basis
    if basis not in BASES:
        raise ValueError(f"unknown basis {basis!r}; expected one of {', '.join(BASES)}")
    return BASES[basis]


class BasisKernel(Kernel):
    """k(xi, y, t) = sum_ab C_ab(t) phi_a(xi) psi_b(y).

    On a domain of dimension two the functions are the products of those along the coordinates, the
    last coordinate's index running fastest.  Points outside a domain continue the functions.

    Args:
        coefficients: C, shape (depth, source functions, target functions); a first axis of length
            one makes the kernel constant in t.
        source: the domain of xi.
        target: the domain of y.
        source_basis: the basis phi or its name, one for all coordinates or one for each.
        target_basis: psi, likewise.
        duration: the length in t of one depth cell.
        degree: 0 for C constant on depth cells [k duration, (k + 1) duration), 1 for C linear
            between t_k = k duration, and constant outside the nodes.
        source_sizes: functions along each coordinate of ``source``; by default all of a 1-D one.
        target_sizes: the same for ``target``.

    Raises:
        ValueError: if sizes, bases and domains do not fit together, a domain is unbounded, or the
            depth axis is ill described.
    """

    coefficients: Float[Array, "depth source target"] = eqx.field(converter=as_values)
    source: Domain = eqx.field(static=True)
    target: Domain = eqx.field(static=True)
    source_basis: tuple[Basis, ...] = eqx.field(static=True, converter=as_bases)
    target_basis: tuple[Basis, ...] = eqx.field(static=True, converter=as_bases)
    duration: float = eqx.field(static=True, default=1.0)
    degree: int = eqx.field(static=True, default=0)
    source_sizes: tuple[int, ...] = eqx.field(static=True, default=())
    target_sizes: tuple[int, ...] = eqx.field(static=True, default=())

    def __post_init__(self) -> None:
        """Fill in what one coordinate leaves no choice of."""
        self.source_basis = _along(self.source_basis, self.source)
        self.target_basis = _along(self.target_basis, self.target)
        self.source_sizes = tuple(self.source_sizes) or (self.coefficients.shape[1],)
        self.target_sizes = tuple(self.target_sizes) or (self.coefficients.shape[2],)

    def __check_init__(self) -> None:
        """Check sizes, bases and the depth axis."""
        depth, rows, columns = self.coefficients.shape
        check_depth("BasisKernel", depth, self.duration, self.degree)
        for side, size, domain, bases, sizes in (
            ("source", rows, self.source, self.source_basis, self.source_sizes),
            ("target", columns, self.target, self.target_basis, self.target_sizes),
        ):
            _check_sizes(f"BasisKernel {side}", size, domain, bases, sizes)

    @property
    def time_dependent(self) -> bool:
        """Whether there is more than one row in depth."""
        return self.coefficients.shape[0] > 1

    def __call__(self, xi, y, t) -> Array:
        """The values at (xi, y, t)."""
        phi = self.source_functions(xi).astype(self.coefficients.dtype)
        psi = self.target_functions(y).astype(self.coefficients.dtype)
        now = at_depth(self.coefficients, self.duration, self.degree, t)
        return jnp.einsum("...a,...ab,...b->...", phi, now, psi, precision="highest")

    def source_functions(self, xi: Any) -> Any:
        """phi_a(xi), a in a new last axis."""
        return tensor_functions(self.source, self.source_basis, self.source_sizes, xi)

    def target_functions(self, y: Any) -> Any:
        """psi_b(y), b in a new last axis."""
        return tensor_functions(self.target, self.target_basis, self.target_sizes, y)


class BasisField(Field):
    """b(y, t) = sum_a c_a(t) phi_a(y); see :class:`BasisKernel`.

    Args:
        coefficients: c, shape (depth, functions).
        domain: the domain of y.
        basis: the basis phi or its name, one for all coordinates or one for each.
        duration: the length in t of one depth cell.
        degree: 0 for c constant on depth cells, 1 for c linear between t_k = k duration.
        sizes: functions along each coordinate; by default all of a 1-D domain.

    Raises:
        ValueError: see :class:`BasisKernel`.
    """

    coefficients: Float[Array, "depth functions"] = eqx.field(converter=as_values)
    domain: Domain = eqx.field(static=True)
    basis: tuple[Basis, ...] = eqx.field(static=True, converter=as_bases)
    duration: float = eqx.field(static=True, default=1.0)
    degree: int = eqx.field(static=True, default=0)
    sizes: tuple[int, ...] = eqx.field(static=True, default=())

    def __post_init__(self) -> None:
        """Fill in what one coordinate leaves no choice of."""
        self.basis = _along(self.basis, self.domain)
        self.sizes = tuple(self.sizes) or (self.coefficients.shape[1],)

    def __check_init__(self) -> None:
        """Check sizes, bases and the depth axis."""
        depth, size = self.coefficients.shape
        check_depth("BasisField", depth, self.duration, self.degree)
        _check_sizes("BasisField", size, self.domain, self.basis, self.sizes)

    @property
    def time_dependent(self) -> bool:
        """Whether there is more than one row in depth."""
        return self.coefficients.shape[0] > 1

    def __call__(self, y, t) -> Array:
        """The values at (y, t)."""
        phi = self.functions(y).astype(self.coefficients.dtype)
        now = at_depth(self.coefficients, self.duration, self.degree, t)
        return jnp.einsum("...a,...a->...", phi, now, precision="highest")

    def functions(self, y: Any) -> Any:
        """phi_a(y), a in a new last axis."""
        return tensor_functions(self.domain, self.basis, self.sizes, y)


def tensor_functions(
    domain: Domain, bases: tuple[Basis, ...], sizes: tuple[int, ...], points: Any
) -> Any:
    """The products of the bases' functions along the coordinates of a domain.

    Args:
        domain: a bounded box.
        bases: one for each coordinate.
        sizes: the number of functions along each coordinate.
        points: shape (...) in one dimension, (..., dimension) otherwise; NumPy points give a NumPy
            array in float64.

    Returns:
        Shape (..., product of sizes), the last coordinate's index fastest.
    """
    if isinstance(points, float | int):
        points = np.asarray(points)
    columns = [points] if domain.dimension == 1 else [points[..., i] for i in range(len(sizes))]
    along = [
        basis.functions((column - low) / extent, count)
        for basis, column, low, extent, count in zip(
            bases, columns, domain.lower, domain.extents, sizes, strict=True
        )
    ]
    return reduce(_products, along)


def _products(left: Any, right: Any) -> Any:
    product = left[..., :, None] * right[..., None, :]
    return product.reshape(*product.shape[:-2], -1)


def random_coefficients(
    rng: np.random.Generator, shape: Sequence[int], decay: float, scale: float = 1.0
) -> np.ndarray:
    """Independent normal numbers of mean zero that decay algebraically in every coordinate.

    The standard deviation of the coefficient with the indices (k_1, ..., k_n) is
    scale * prod_i (1 + k_i)^(-decay).  In a tensor basis give every coordinate its own axis and
    reshape the result.

    Args:
        rng: the source of randomness; the same one gives the same numbers.
        shape: (depth, k_1, ..., k_n); along depth nothing decays.
        decay: the exponent; above 1/2 the series converges in L2, above n + 1/2 its n-th
            derivative in a Fourier basis does.
        scale: the standard deviation of the first coefficient.
    """
    found = scale * rng.standard_normal(tuple(shape))
    for axis in range(1, len(shape)):
        sizes = (1.0 + np.arange(shape[axis])) ** -decay
        found = found * sizes.reshape(-1, *(1,) * (len(shape) - axis - 1))
    return found


def _along(basis: Basis | str | Sequence[Basis | str], domain: Domain) -> tuple[Basis, ...]:
    bases = as_bases(basis)
    return bases * domain.dimension if len(bases) == 1 else bases


def _check_sizes(
    owner: str, size: int, domain: Domain, bases: tuple[Basis, ...], sizes: tuple[int, ...]
) -> None:
    if len(sizes) != domain.dimension or math.prod(sizes) != size or size < 1:
        raise ValueError(
            f"{owner}: expected {domain.dimension} numbers of functions (the dimension of {domain})"
            f" whose product is the {size} coefficients, got {sizes}"
        )
    if len(bases) != domain.dimension:
        raise ValueError(
            f"{owner}: expected one basis, or {domain.dimension} of them for {domain}, got "
            f"{len(bases)}"
        )
    if not math.isfinite(domain.measure):
        raise ValueError(f"{owner}: a basis needs a bounded domain, got {domain}")

"""The linear integral operator as a matrix."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from continuum.kernels import Field, Kernel
from continuum.operators import LinearIntegral
from discretize.grids import Grid, UniformGrid
from discretize.operators.base import Coefficients, DiscreteOperator, discretize_operator
from discretize.operators.measure import TokenMeasure
from discretize.sampling import At, Table, sample_factors, sample_field, sample_kernel


class DiscreteLinear(DiscreteOperator):
    """(W u + b)_j = sum_i w_i k(xi_i, y_j, t) u_i + identity (E u)_j + b(y_j, t)."""

    kernel: Kernel
    bias: Field | None
    identity: float = eqx.field(static=True)
    source: UniformGrid = eqx.field(static=True)
    target: UniformGrid = eqx.field(static=True)

    def coefficients(self, at: At) -> Coefficients:
        """Tables without the identity part, and ``bias`` if there is one.

        Of a kernel of low rank ``left`` (source, rank), rows times w_i, and ``right`` (rank,
        target), if two products with them cost less than one with the matrix; else ``matrix``,
        rows w_i k(xi_i, y_j).
        """
        return (self._factors(at) or {"matrix": self.matrix(at)}) | self.shift(at)

    def matrix(self, at: At) -> Table:
        """The rows w_i k(xi_i, y_j), shape (source, target), whatever the kernel's rank is."""
        return self._weighted(
            sample_kernel(self.kernel, self.source, self.target, at.times, at.within)
        )

    def shift(self, at: At) -> Coefficients:
        """``bias``: the rows b(y_j), if there is one."""
        if self.bias is None:
            return {}
        return {"bias": sample_field(self.bias, self.target, at.times, at.within)}

    def step(self, at: At, dt: float) -> Coefficients:
        """E + dt W and dt b: one forward Euler step as an affine map, for :meth:`advance`.

        Either ``matrix`` = (1 + dt c) E + dt w k with ``identity = c``, for c = -1 and dt = 1 the
        dense layer's own matrix, without rounding; or, of a kernel of low rank, dt w k as ``left``
        and ``right``, and ``keep`` = 1 + dt c unless it is 0.  ``bias`` = dt b if there is one.
        """
        found = self._factors(at)
        if not found:
            found = {"matrix": self.step_matrix(at, dt)}
        else:
            found["left"] = _times(dt, found["left"])
            keep = 1.0 + dt * self.identity
            if keep != 0.0:
                found["keep"] = Table(np.full((1,), keep), False)
        return found | {name: _times(dt, table) for name, table in self.shift(at).items()}

    def step_matrix(self, at: At, dt: float) -> Table:
        """The rows (1 + dt c) E + dt w k, whatever the kernel's rank is."""
        table = _times(dt, self.matrix(at))
        keep = 1.0 + dt * self.identity
        return table if keep == 0.0 else table.map(lambda v: keep * self.inclusion(v.dtype) + v)

    def apply(self, coefficients: Coefficients, u: Array, measure: TokenMeasure) -> Array:
        """W u + b for (..., x, source) -> (..., x, target)."""
        image = _product(coefficients, u)
        if self.identity != 0.0:
            image = image + self.identity * self.include(u)
        return image + coefficients["bias"] if "bias" in coefficients else image

    def advance(
        self, coefficients: Coefficients, u: Float[Array, "*batch x y"]
    ) -> Float[Array, "*batch x z"]:
        """(E + dt W) u + dt b for the coefficients of :meth:`step` at one time."""
        image = _product(coefficients, u)
        if "keep" in coefficients:
            image = image + coefficients["keep"].astype(u.dtype) * self.include(u)
        return image + coefficients["bias"] if "bias" in coefficients else image

    def include(self, u: Array) -> Array:
        """E u: extension by zero to the larger domain, or restriction to the smaller one."""
        missing = self.target.size - self.source.size
        if missing <= 0:
            return u[..., : self.target.size]
        return jnp.pad(u, [(0, 0)] * (u.ndim - 1) + [(0, missing)])

    def _factors(self, at: At) -> Coefficients:
        """``left`` and ``right``, or nothing where the matrix is cheaper."""
        found = sample_factors(self.kernel, self.source, self.target, at.times, at.within)
        if found is None:
            return {}
        left, right = found
        rank, (n, m) = left.values.shape[2], (self.source.size, self.target.size)
        return {"left": self._weighted(left), "right": right} if rank * (n + m) < n * m else {}

    def _weighted(self, table: Table) -> Table:
        """Rows (source, ...) times the quadrature weights of their nodes."""
        weights = self.source.weights
        if np.all(weights == 1.0):
            return table
        return table.map(lambda v: v * np.asarray(weights, v.dtype)[:, None])

    def inclusion(self, dtype: np.dtype) -> np.ndarray:
        """E as a matrix of zeros and ones, shape (source, target).

        Raises:
            ValueError: if the two grids do not share their nodes where the domains overlap.
        """
        return _shared_nodes(self.source, self.target).astype(dtype)


def discretize_linear(operator: LinearIntegral, grid: Grid) -> DiscreteLinear:
    """The matrix form of a linear integral operator on the grids of its two domains."""
    found = DiscreteLinear(
        operator.kernel,
        operator.bias,
        operator.identity,
        grid.auxiliary(operator.source),
        grid.auxiliary(operator.target),
    )
    if found.identity != 0.0:
        _shared_nodes(found.source, found.target)
    return found


discretize_operator.register(LinearIntegral, discretize_linear)


def _product(coefficients: Coefficients, u: Array) -> Array:
    """U times the matrix, or times its two factors, one after the other."""
    if "matrix" in coefficients:
        return u @ coefficients["matrix"]
    return (u @ coefficients["left"]) @ coefficients["right"]


def _times(factor: float, table: Table) -> Table:
    return table if factor == 1.0 else table.map(lambda v: factor * v)


def _shared_nodes(source: UniformGrid, target: UniformGrid) -> np.ndarray:
    if (
        source.domain.dimension != 1
        or target.domain.dimension != 1
        or source.domain.lower != target.domain.lower
        or not np.allclose(source.spacing, target.spacing, rtol=1e-12)
    ):
        raise ValueError(
            "the inclusion E needs two intervals with the same lower end and the same spacing, got "
            f"{source.domain} with h = {source.spacing} and {target.domain} with h = "
            f"{target.spacing}"
        )
    return np.eye(source.size, target.size)

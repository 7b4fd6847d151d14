"""The linear integral operator as a matrix."""

import equinox as eqx
import numpy as np
from jax import Array

from continuum.kernels import Field, Kernel
from continuum.operators import LinearIntegral
from discretize.grids import Grid, UniformGrid
from discretize.operators.base import Coefficients, DiscreteOperator, discretize_operator
from discretize.operators.measure import TokenMeasure
from discretize.sampling import At, sample_field, sample_kernel


class DiscreteLinear(DiscreteOperator):
    """(W u + b)_j = sum_i w_i k(xi_i, y_j, t) u_i + identity (E u)_j + b(y_j, t)."""

    kernel: Kernel
    bias: Field | None
    identity: float = eqx.field(static=True)
    source: UniformGrid = eqx.field(static=True)
    target: UniformGrid = eqx.field(static=True)

    def coefficients(self, at: At) -> Coefficients:
        """``matrix``: rows w_i k(xi_i, y_j) without the identity part; ``bias`` if there is one."""
        table = sample_kernel(self.kernel, self.source, self.target, at.times, at.within)
        if not np.all(self.source.weights == 1.0):
            table = table.map(lambda v: v * np.asarray(self.source.weights, v.dtype)[:, None])
        found: Coefficients = {"matrix": table}
        if self.bias is not None:
            found["bias"] = sample_field(self.bias, self.target, at.times, at.within)
        return found

    def step(self, at: At, dt: float) -> Coefficients:
        """``matrix`` = E + dt W and ``bias`` = dt b: one forward Euler step as an affine map.

        With ``identity = c`` the matrix is (1 + dt c) E + dt w k: for c = -1 and dt = 1 the dense
        layer's own matrix, without rounding.
        """
        found = self.coefficients(at)
        if dt != 1.0:
            found = {name: table.map(lambda v: dt * v) for name, table in found.items()}
        keep = 1.0 + dt * self.identity
        if keep != 0.0:
            found["matrix"] = found["matrix"].map(lambda v: keep * self.inclusion(v.dtype) + v)
        return found

    def apply(self, coefficients: Coefficients, u: Array, measure: TokenMeasure) -> Array:
        """W u + b for (..., x, source) -> (..., x, target)."""
        image = u @ coefficients["matrix"]
        if self.identity != 0.0:
            image = image + self.identity * self.include(u)
        return image + coefficients["bias"] if "bias" in coefficients else image

    def include(self, u: Array) -> Array:
        """E u: extension by zero to the larger domain, or restriction to the smaller one."""
        if self.source == self.target:
            return u
        return u @ self.inclusion(u.dtype)

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

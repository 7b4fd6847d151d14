"""The singular value expansion of a kernel that is constant on cells."""

import dataclasses
import math

import numpy as np
from jaxtyping import Float

from continuum.domains import Domain
from continuum.kernels import CellKernel, LowRankKernel


@dataclasses.dataclass(frozen=True)
class Expansion:
    """k(xi, y, t) = sum_i sigma_i(t) a_i(xi, t) c_i(y, t) with falling sigma_i >= 0.

    The a_i are orthonormal in L2(source), the c_i in L2(target).  The sigma_i are the singular
    values of the matrix sqrt(w_xi) k sqrt(w_y), w the areas of the cells, and so those of the
    integral operator from L2(source) to L2(target): its norm is sigma_0, the Hilbert-Schmidt norm
    of the kernel is (sum sigma_i^2)^(1/2), on every grid that refines the cells.  No kernel of
    rank r is closer, in either norm, than the first r terms (Eckart and Young, Psychometrika 1,
    1936, DOI 10.1007/BF02288367; Mirsky, Q. J. Math. 11, 1960, DOI 10.1093/qmath/11.1.50).

    Args:
        kernel: what is expanded.
        left: a_i on the cells of the source, (depth, source cells, terms).
        values: sigma_i, (depth, terms), >= 0 and falling.
        right: c_i on the cells of the target, (depth, terms, target cells).
    """

    kernel: CellKernel
    left: Float[np.ndarray, "depth source terms"]
    values: Float[np.ndarray, "depth terms"]
    right: Float[np.ndarray, "depth terms target"]

    @property
    def terms(self) -> int:
        """The full rank: the smaller number of cells."""
        return self.values.shape[1]

    @property
    def norms(self) -> Float[np.ndarray, " depth"]:
        """The Hilbert-Schmidt norm of the kernel in every depth cell."""
        return self.tails[:, 0]

    @property
    def tails(self) -> Float[np.ndarray, "depth ranks"]:
        """(sum_(i >= r) sigma_i^2)^(1/2), r = 0 ... terms: the Hilbert-Schmidt error of rank r."""
        return tails(self.values)

    def ranks(self, rank: int | None, tolerance: float | None) -> list[int]:
        """The number of terms to keep in every depth cell, at least one.

        Args:
            rank: the number itself, or None.
            tolerance: of the relative Hilbert-Schmidt error, for as few terms as it allows.
        """
        if tolerance is None:
            assert rank is not None
            return [min(rank, self.terms)] * len(self.values)
        allowed = self.tails <= tolerance * self.norms[:, None]
        return [max(1, int(np.argmax(row))) for row in allowed]

    def truncate(self, ranks: list[int]) -> LowRankKernel:
        """The first terms of every depth cell, as one kernel that is padded with zeros.

        The factors are sqrt(sigma_i) a_i and sqrt(sigma_i) c_i, in the kernel's own precision.

        Args:
            ranks: the number of terms in each depth cell.
        """
        stored = max(ranks)
        kept = np.arange(stored)[None, :] < np.asarray(ranks)[:, None]
        scale = np.sqrt(self.values[:, :stored]) * kept
        kernel, dtype = self.kernel, self.kernel.values.dtype
        return LowRankKernel(
            (self.left[:, :, :stored] * scale[:, None, :]).astype(dtype),
            (self.right[:, :stored] * scale[:, :, None]).astype(dtype),
            kernel.source,
            kernel.target,
            kernel.source_cells,
            kernel.target_cells,
            kernel.duration,
            kernel.degree,
        )


def expand(kernel: CellKernel) -> Expansion:
    """The expansion, by a singular value decomposition in float64 for every depth cell.

    Raises:
        ValueError: if the kernel holds NaN or infinite values.
    """
    values = np.asarray(kernel.values, np.float64)
    if not np.all(np.isfinite(values)):
        raise ValueError(
            f"expand: the kernel on {kernel.source} x ({kernel.target}) holds NaN or infinite "
            "values, expected finite ones; repair the model first"
        )
    rows = math.sqrt(cell_area(kernel.source, kernel.source_cells))
    columns = math.sqrt(cell_area(kernel.target, kernel.target_cells))
    left, sigma, right = np.linalg.svd(rows * values * columns, full_matrices=False)
    return Expansion(kernel, left / rows, sigma, right / columns)


def cell_area(domain: Domain, cells: tuple[int, ...]) -> float:
    """The measure of one cell: the quadrature weight that each of them has."""
    return domain.measure / math.prod(cells)


def tails(values: Float[np.ndarray, "depth terms"]) -> Float[np.ndarray, "depth ranks"]:
    """(sum_(i >= r) values_i^2)^(1/2) along the last axis for r = 0 ... terms, so one more."""
    size = np.max(values, initial=0.0)
    if size == 0.0:
        return np.zeros((values.shape[0], values.shape[1] + 1))
    squares = np.cumsum((values[:, ::-1] / size) ** 2, axis=1)[:, ::-1]
    return size * np.sqrt(np.pad(squares, ((0, 0), (0, 1))))

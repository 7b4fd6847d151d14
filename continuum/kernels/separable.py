"""Separable (degenerate) kernels: finite sums of products."""

from jax import Array

from continuum.domains import Domain
from continuum.kernels.base import Field, Kernel


class SeparableKernel(Kernel):
    """k(xi, y, t) = sum_r a_r(xi, t) c_r(y, t), a kernel of rank at most r.

    Args:
        left: the factors a_r, fields on the source domain.
        right: the factors c_r, fields on the target domain, as many.

    Raises:
        ValueError: if there are no factors, or not as many on either side, or their domains differ.
    """

    left: tuple[Field, ...]
    right: tuple[Field, ...]

    def __check_init__(self) -> None:
        """Check the factors."""
        if len(self.left) != len(self.right) or not self.left:
            raise ValueError(
                f"SeparableKernel: expected as many left as right factors and at least one, got "
                f"{len(self.left)} and {len(self.right)}"
            )
        for side in (self.left, self.right):
            if any(factor.domain != side[0].domain for factor in side):
                raise ValueError(
                    "SeparableKernel: the factors of one side must share a domain, got "
                    f"{[str(f.domain) for f in side]}"
                )

    @property
    def source(self) -> Domain:
        """The domain of xi."""
        return self.left[0].domain

    @property
    def target(self) -> Domain:
        """The domain of y."""
        return self.right[0].domain

    @property
    def time_dependent(self) -> bool:
        """Whether any factor depends on t."""
        return any(f.time_dependent for f in (*self.left, *self.right))

    def __call__(self, xi, y, t) -> Array:
        """The values at (xi, y, t)."""
        terms = [a(xi, t) * c(y, t) for a, c in zip(self.left, self.right, strict=True)]
        return sum(terms[1:], start=terms[0])

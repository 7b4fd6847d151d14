"""Linear (affine) integral operators in the feature coordinate."""

import equinox as eqx

from continuum.domains import Domain
from continuum.kernels.base import Field, Kernel
from continuum.operators.base import Operator


class LinearIntegral(Operator):
    """(W u + b)(x, y) = int k(xi, y, t) u(x, xi) dxi + identity * (E u)(x, y) + b(y, t).

    E is the inclusion of the source into the target domain: extension by zero where the target is
    larger, restriction where it is smaller.  A substep of forward Euler multiplies by E + dt W, so
    the operator that a dense layer Wd discretises at dt = 1 is Wd - E, that is ``identity = -1``:
    kept apart from the kernel, it cancels exactly.

    Args:
        kernel: k(xi, y, t).
        bias: b(y, t) on the kernel's target, or None.
        identity: the multiple of E that is added.

    Raises:
        ValueError: if the bias lives on another domain than the kernel maps to.
    """

    kernel: Kernel
    bias: Field | None = None
    identity: float = eqx.field(static=True, default=0.0)

    def __check_init__(self) -> None:
        """Check the bias' domain."""
        if self.bias is not None and self.bias.domain != self.kernel.target:
            raise ValueError(
                f"LinearIntegral: expected a bias on {self.kernel.target}, got {self.bias.domain}"
            )

    @property
    def source(self) -> Domain:
        """The domain of xi."""
        return self.kernel.source

    @property
    def target(self) -> Domain:
        """The domain of y."""
        return self.kernel.target

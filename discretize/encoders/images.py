"""The initial state of an image model: patches of the image, a class token, positions."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike
from jaxtyping import Float

from continuum.domains import Domain
from discretize.encoders.live import to_numpy
from discretize.grids import AtomicGrid, UniformGrid


class PatchEmbedding(eqx.Module):
    """f(x, y) = int over the patch of x of kappa(x' - corner, c; y) image(x', c) dx' + b(y).

    An integral operator on the image's domain whose kernel is constant on pixels: its values on
    the unit cells of Omega_x = [0, rows] x [0, columns], with an atom for the class token.

    Args:
        kernel: (channels, patch rows, patch columns, features).
        bias: (features,).
        positions: (1 + patches, features), added to class token and patches.
        token: the class token's state (features,).
        shape: rows and columns of patches.
    """

    kernel: Float[Array, "channels height width y"]
    bias: Float[Array, " y"]
    positions: Float[Array, "tokens y"]
    token: Float[Array, " y"]
    shape: tuple[int, int] = eqx.field(static=True)

    def __call__(self, pixel_values: ArrayLike) -> Array:
        """u0 (batch, 1 + patches, features) for images (batch, channels, height, width).

        Raises:
            ValueError: for images of another shape.
        """
        images = jnp.asarray(to_numpy(pixel_values), self.kernel.dtype)
        channels, height, width, features = self.kernel.shape
        rows, columns = self.shape
        expected = (channels, rows * height, columns * width)
        if images.ndim != 4 or images.shape[1:] != expected:
            raise ValueError(
                f"pixel_values: expected shape (batch, {', '.join(map(str, expected))}), got "
                f"{images.shape}"
            )
        patches = images.reshape(-1, channels, rows, height, columns, width)
        patches = jnp.moveaxis(patches, (2, 4), (1, 2))
        flat = patches.reshape(len(images), rows * columns, channels * height * width)
        cells = flat @ self.kernel.reshape(-1, features) + self.bias
        token = jnp.broadcast_to(self.token, (len(images), 1, features))
        return jnp.concatenate([token, cells], axis=1) + self.positions


def patch_grid(shape: tuple[int, int], atoms: int) -> UniformGrid | AtomicGrid:
    """The unit grid of [0, rows] x [0, columns], with atoms beside it."""
    box = Domain((0.0, 0.0), (float(shape[0]), float(shape[1])), "Omega_x")
    cells = UniformGrid(box, shape)
    return AtomicGrid(cells, atoms) if atoms else cells


def pair(value: object) -> tuple[int, int]:
    """Height and width from one number or two.

    Raises:
        ValueError: for anything else.
    """
    sizes = np.atleast_1d(np.asarray(value))
    if sizes.dtype.kind != "i" or sizes.size not in (1, 2) or sizes.min() < 1:
        raise ValueError(f"expected one whole number >= 1 or two of them, got {value!r}")
    return int(sizes[0]), int(sizes[-1])

"""The guard between a model's dtype and jax's."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike


def require_precision(dtype: np.dtype, what: str) -> None:
    """Refuse to round silently.

    Raises:
        ValueError: for float64 data while jax runs without x64, or for a dtype that is neither
            float32 nor float64.
    """
    if dtype == np.float64 and not jax.config.read("jax_enable_x64"):
        raise ValueError(
            f"{what} is float64, but jax runs in float32 and would round it: call "
            "jax.config.update('jax_enable_x64', True) at the start of the program, or ask for "
            "float32 explicitly"
        )
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(
            f"{what}: expected float32 or float64, got {dtype}; half precision and quantised "
            "weights are not covered, convert them first"
        )


def as_values(values: ArrayLike) -> Array:
    """Values of a kernel or field as a jax array that was not rounded on the way.

    Raises:
        ValueError: see :func:`require_precision`.
    """
    if isinstance(values, np.ndarray):
        require_precision(values.dtype, "the array of values")
    return jnp.asarray(values)

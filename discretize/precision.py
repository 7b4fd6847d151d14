"""The guard between a model's dtype and jax's."""

import jax
import numpy as np


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

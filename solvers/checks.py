"""Checks of what a user hands to a solve: clear errors before anything is computed."""

import jax.core
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from discretize.problem import Problem


def check_state(u0: ArrayLike, problem: Problem, tokens: int) -> Array:
    """The initial state as a jax array of the problem's dtype.

    Raises:
        ValueError: for a shape that does not fit the grid, or values that are not finite.
        TypeError: for another dtype than the problem's.
    """
    features = problem.grid.features.size
    shape = np.shape(u0)
    if len(shape) not in (2, 3) or shape[-1] != features or shape[-2] != tokens:
        raise ValueError(
            f"u0: expected shape (tokens, {features}) or (batch, tokens, {features})"
            + (f" with {tokens} tokens" if len(shape) > 1 and shape[-2] != tokens else "")
            + f", got {tuple(shape)}"
        )
    if 0 in shape:
        raise ValueError(f"u0: expected at least one sample and one token, got shape {shape}")
    found = _dtype(u0)
    if found != problem.dtype:
        raise TypeError(
            f"u0: expected dtype {problem.dtype} (that of the problem), got {found}; convert it, "
            "or recover the model in the dtype you want"
        )
    state = jnp.asarray(u0)
    if not isinstance(state, jax.core.Tracer) and not bool(jnp.all(jnp.isfinite(state))):
        bad = np.argwhere(~np.isfinite(np.asarray(state)))[0]
        raise ValueError(
            f"u0: expected finite values, found NaN or infinity at {tuple(map(int, bad))}"
        )
    return state


def check_mask(mask: ArrayLike | None, shape: tuple[int, ...]) -> Array | None:
    """The mask as a boolean jax array of shape (tokens,) or (batch, tokens), or None.

    Raises:
        ValueError: for a shape that does not fit, or a sample all of whose tokens are hidden.
        TypeError: for a mask that is not boolean.
    """
    if mask is None:
        return None
    allowed = {shape[:-1], shape[-2:-1]}
    if np.shape(mask) not in allowed:
        expected = " or ".join(str(s) for s in sorted(allowed, key=len))
        raise ValueError(f"mask: expected shape {expected}, got {np.shape(mask)}")
    found = _dtype(mask)
    if found != np.bool_:
        raise TypeError(
            f"mask: expected booleans, True on valid tokens, got dtype {found}; "
            "use mask.astype(bool) on an attention mask of ones and zeros"
        )
    valid = jnp.asarray(mask)
    if not isinstance(valid, jax.core.Tracer):
        hidden = ~np.asarray(valid).any(axis=-1)
        if hidden.any():
            where = f" (sample {int(np.argmax(hidden))})" if hidden.ndim else ""
            raise ValueError(
                f"mask: every token of a sample is hidden{where}; an integral over nothing has no "
                "value. Leave at least one token valid, or drop the sample"
            )
    return valid


def _dtype(values: ArrayLike) -> np.dtype:
    """The dtype of an array, a traced one too, without a conversion by numpy."""
    return np.dtype(values.dtype if hasattr(values, "dtype") else np.asarray(values).dtype)  # type: ignore[union-attr]


def check_steps(count: int, total: int | None = None) -> int:
    """A step count; with ``total`` also a divisor of it.

    Raises:
        ValueError: for a count below 1 or one that does not divide ``total``.
    """
    name = "num_steps" if total is None else "save_every"
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ValueError(f"{name}: expected a whole number >= 1, got {count!r}")
    if total is not None and total % count:
        raise ValueError(f"save_every: expected a divisor of num_steps = {total}, got {count}")
    return int(count)

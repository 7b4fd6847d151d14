"""The initial state of a sequence model: what stands in front of the layers."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from discretize.encoders.live import to_numpy
from discretize.encoders.stacking import Tensors


class TokenEmbedding(eqx.Module):
    """f(x, y): word embeddings, plus positions and segments, normalised and projected.

    Args:
        words: (vocabulary, features).
        positions: (longest sequence, features), or None.
        segments: (segment types, features), or None.
        scale: of a layer normalisation, (features,), or None for no normalisation.
        shift: likewise.
        projection: (features, width) and its bias (width,), applied last, or None.
        eps: of the normalisation.
        padding: the id of the padding token where positions are counted over other tokens only,
            from ``padding + 1`` on (RoBERTa), else None.
    """

    words: Array
    positions: Array | None = None
    segments: Array | None = None
    scale: Array | None = None
    shift: Array | None = None
    projection: tuple[Array, Array] | None = None
    eps: float = eqx.field(static=True, default=0.0)
    padding: int | None = eqx.field(static=True, default=None)

    def __call__(self, input_ids: ArrayLike, token_type_ids: ArrayLike | None = None) -> Array:
        """u0 (batch, tokens, features) for integer token ids (batch, tokens) or (tokens,).

        Raises:
            ValueError: for ids outside the vocabulary, sequences longer than the position table,
                or segments where the model has none.
        """
        ids = _checked_ids("input_ids", input_ids, len(self.words))
        # the order of the sum is that of the models, so that rounding agrees
        u = self.words[ids]
        if self.segments is not None:
            kinds = np.zeros_like(ids) if token_type_ids is None else token_type_ids
            kinds = _checked_ids("token_type_ids", kinds, len(self.segments))
            if kinds.shape != ids.shape:
                raise ValueError(f"token_type_ids: expected shape {ids.shape}, got {kinds.shape}")
            u = u + self.segments[kinds]
        elif token_type_ids is not None:
            raise ValueError("token_type_ids: the model has no segment embeddings")
        if self.positions is not None:
            u = u + self.positions[self._places(ids)]
        if self.scale is not None:
            centred = u - jnp.mean(u, axis=-1, keepdims=True)
            variance = jnp.mean(centred**2, axis=-1, keepdims=True)
            u = centred / jnp.sqrt(variance + self.eps) * self.scale
            u = u if self.shift is None else u + self.shift
        if self.projection is not None:
            u = u @ self.projection[0] + self.projection[1]
        return u

    def _places(self, ids: np.ndarray) -> np.ndarray:
        """The row of the position table for each token."""
        assert self.positions is not None
        if self.padding is None:
            places, first = np.arange(ids.shape[-1]), 0
        else:
            valid = ids != self.padding
            places = np.cumsum(valid, axis=-1) * valid + self.padding
            first = self.padding + 1
        if places.size and places.max() >= len(self.positions):
            raise ValueError(
                f"input_ids: expected at most {len(self.positions) - first} tokens (the position "
                f"table), got {ids.shape[-1]}"
            )
        return places


def _checked_ids(name: str, ids: ArrayLike, size: int) -> np.ndarray:
    found = np.asarray(to_numpy(ids))
    if not np.issubdtype(found.dtype, np.integer) or found.ndim not in (1, 2) or found.size == 0:
        raise ValueError(
            f"{name}: expected integers of shape (tokens,) or (batch, tokens), got {found.dtype} "
            f"of shape {found.shape}"
        )
    if found.min() < 0 or found.max() >= size:
        raise ValueError(
            f"{name}: expected values from 0 to {size - 1}, got {found.min()} to {found.max()}"
        )
    return found


def embedding_tensors(
    tensors: Tensors, names: dict[str, str], width: int, check: Callable[[], None] | None = None
) -> dict[str, Any]:
    """Tables (rows, width) and vectors (width,) of an embedding, checked.

    Args:
        tensors: the model's tensors.
        names: our name -> the model's; ``scale`` and ``shift`` are vectors, all else tables.
        width: the features of the embedding.
        check: called once the tensors are known to exist, before their shapes are judged.

    Raises:
        ValueError: for missing tensors, other shapes, or values that are not finite.
    """
    found = {part: tensors.get(name) for part, name in names.items()}
    tensors.require()
    if check is not None:
        check()
    for part, values in found.items():
        expected = (width,) if part in ("scale", "shift") else (*values.shape[:1], width)
        if values.shape != expected:
            raise ValueError(
                f"{tensors.model}: {names[part]}: expected shape {expected}, got {values.shape}"
            )
        if not np.all(np.isfinite(values)):
            raise ValueError(
                f"{tensors.model}: the embeddings hold NaN or infinite values ({names[part]})"
            )
    return {part: jnp.asarray(values) for part, values in found.items()}

"""What depends on token positions: regions of integration, rotations, biases of the scores.

Every class here names the coordinate it reads.  ``"point"`` is x itself: a truly continuous
model, whose discretisation changes as the token grid is refined.  ``"cell"`` is the number of the
unit cell that x lies in: what a discrete model recovers to, unchanged under refinement because
everything is constant on cells.
"""

import abc
import dataclasses
import math
from typing import TYPE_CHECKING

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from continuum.precision import as_values

#: The coordinates that may be read: x, or the index of its unit cell.
COORDINATES = ("point", "cell")


def check_coordinate(owner: str, coordinate: str) -> None:
    """Refuse an unknown coordinate.

    Raises:
        ValueError: unless it is one of ``COORDINATES``.
    """
    if coordinate not in COORDINATES:
        raise ValueError(
            f"{owner}: expected coordinate to be one of {', '.join(COORDINATES)}, got "
            f"{coordinate!r}"
        )


@dataclasses.dataclass(frozen=True)
class Causal:
    """Integrate over x~ <= x only, for a one-dimensional Omega_x.

    Args:
        diagonal: the share of the cell at x~ = x that counts on a grid: 1 as causal models have it
            (order 1 in h), 1/2 for order 2 at fixed x (1.5 in the discrete L2 norm and 1 in the
            maximum norm, because of the tokens near the start).
        coordinate: ``"point"`` for the Volterra integral over x~ <= x; ``"cell"`` for
            cell(x~) <= cell(x), the causal mask of a discrete model on any grid.

    Raises:
        ValueError: unless 0 < diagonal <= 1, or for a diagonal other than 1 of cells.
    """

    diagonal: float = 1.0
    coordinate: str = "point"

    def __post_init__(self) -> None:
        """Check the share and the coordinate."""
        check_coordinate("Causal", self.coordinate)
        if not 0.0 < self.diagonal <= 1.0:
            raise ValueError(f"Causal: expected 0 < diagonal <= 1, got {self.diagonal}")
        if self.coordinate == "cell" and self.diagonal != 1.0:
            raise ValueError(
                "Causal: the diagonal has a share of its own only where x is read, expected 1 for "
                f"cells, got {self.diagonal}"
            )


class Rotary(eqx.Module):
    """Rotary position encoding: the coordinates of Q and K in pairs, turned by angles p(x) omega_k.

    With R(x) the rotation, s(x, x~) = c int (R(x) Q(x)) (R(x~) K(x~)) deta depends on positions
    through x - x~ only; it makes the query and key kernels functions of x (Su et al.,
    arXiv 2104.09864).

    Args:
        frequencies: omega_k in radians per token, shape (pairs,); the first 2 x pairs unit cells
            of a head's feature coordinate are rotated, the others are left alone.
        interleaved: whether pair k holds the cells 2 k and 2 k + 1 (GPT-J), or k and k + pairs.
        coordinate: ``"cell"``: p = the number of the cell; ``"point"``: p = x - 1/2, so that cell
            centres have whole numbers.
    """

    frequencies: Float[Array, " pairs"] = eqx.field(converter=as_values)
    interleaved: bool = eqx.field(static=True, default=False)
    coordinate: str = eqx.field(static=True, default="cell")

    def __check_init__(self) -> None:
        """Check the coordinate and the frequencies."""
        check_coordinate("Rotary", self.coordinate)
        if self.frequencies.ndim != 1 or not len(self.frequencies):
            raise ValueError(
                f"Rotary: expected frequencies of shape (pairs,), got {self.frequencies.shape}"
            )

    @property
    def pairs(self) -> int:
        """How many pairs are rotated."""
        return len(self.frequencies)


def rotary_frequencies(
    cells: int, base: float = 10000.0, dtype: str = "float64"
) -> Float[np.ndarray, " pairs"]:
    """omega_k = base^(-2 k / cells), k < cells / 2.

    Args:
        cells: how many unit cells of a head are rotated; an even number.
        base: the base, 10,000 by default.
        dtype: the precision that they are formed in; models form theirs in float32.
    """
    if cells < 2 or cells % 2:
        raise ValueError(f"rotary_frequencies: expected an even number >= 2, got {cells}")
    exponents = np.arange(0, cells, 2).astype(dtype) / np.asarray(cells, dtype)
    return np.asarray(1.0, dtype) / np.asarray(base, dtype) ** exponents


class ScoreBias(eqx.Module):
    """A term b(x - x~; zeta) added to the scores, which depends on the distance alone."""

    if TYPE_CHECKING:  # a type checker would take an AbstractVar for a constructor argument

        @property
        def heads(self) -> int:
            """The number of unit cells along the head coordinate."""
            ...

        @property
        def coordinate(self) -> str:
            """What of x is read."""
            ...

    else:
        heads: eqx.AbstractVar[int]
        coordinate: eqx.AbstractVar[str]

    @abc.abstractmethod
    def __call__(self, distance: np.ndarray) -> Float[Array, "heads x y"]:
        """The values for distances p(x~) - p(x) of keys from queries, in tokens."""


class LinearBias(ScoreBias):
    """ALiBi: b = -slope(zeta) |x - x~| (Press et al., arXiv 2108.12409).

    Args:
        slopes: one for each head, per token.
        coordinate: ``"cell"`` or ``"point"``.
    """

    slopes: Float[Array, " heads"] = eqx.field(converter=as_values)
    coordinate: str = eqx.field(static=True, default="cell")

    def __check_init__(self) -> None:
        """Check the coordinate."""
        check_coordinate("LinearBias", self.coordinate)

    @property
    def heads(self) -> int:
        """The number of heads."""
        return len(self.slopes)

    def __call__(self, distance: np.ndarray) -> Float[Array, "heads x y"]:
        """-slope |distance|."""
        return -self.slopes[:, None, None] * jnp.abs(jnp.asarray(distance, self.slopes.dtype))


class BucketBias(ScoreBias):
    """T5's relative bias: a table over buckets of distances, finer near zero.

    Half of the buckets (of each direction, where both are seen) hold the distances 0, 1, 2, ...
    one by one, the others are logarithmic up to ``furthest`` (Raffel et al., arXiv 1910.10683).

    Args:
        table: (buckets, heads).
        furthest: the distance, in tokens, from which on all share the last bucket.
        both: whether keys after the query have buckets of their own (an encoder), or are not seen.
        coordinate: ``"cell"`` or ``"point"``; of real distances the buckets take the whole part.
    """

    table: Float[Array, "buckets heads"] = eqx.field(converter=as_values)
    furthest: int = eqx.field(static=True, default=128)
    both: bool = eqx.field(static=True, default=True)
    coordinate: str = eqx.field(static=True, default="cell")

    def __check_init__(self) -> None:
        """Check the coordinate and the counts."""
        check_coordinate("BucketBias", self.coordinate)
        smallest = 4 if self.both else 2
        if self.table.shape[0] < smallest or self.furthest <= self._exact:
            raise ValueError(
                f"BucketBias: expected at least {smallest} buckets and furthest > {self._exact}, "
                f"got {self.table.shape[0]} and {self.furthest}"
            )

    @property
    def heads(self) -> int:
        """The number of heads."""
        return self.table.shape[1]

    @property
    def _each_way(self) -> int:
        return self.table.shape[0] // 2 if self.both else self.table.shape[0]

    @property
    def _exact(self) -> int:
        return self._each_way // 2

    def __call__(self, distance: np.ndarray) -> Float[Array, "heads x y"]:
        """The entries of the buckets of the distances."""
        return jnp.moveaxis(self.table[self.bucket(distance)], -1, 0)

    def bucket(self, distance: np.ndarray) -> np.ndarray:
        """The number of the bucket of each distance p(x~) - p(x)."""
        away = np.abs(distance) if self.both else np.maximum(-distance, 0)
        offset = np.where(distance > 0, self._each_way, 0) if self.both else 0
        count, exact = self._each_way, self._exact
        # float32, as models form it: at a border between buckets the rounding decides
        ratio = np.log(np.maximum(away, exact).astype(np.float32) / np.float32(exact))
        scaled = ratio / np.float32(math.log(self.furthest / exact)) * np.float32(count - exact)
        far = np.minimum(exact + scaled.astype(int), count - 1)
        return offset + np.where(away < exact, np.floor(away).astype(int), far)

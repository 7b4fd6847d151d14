"""A given source: a term of the equation that does not depend on the state."""

from collections.abc import Callable

import equinox as eqx
from jax import Array

from continuum.domains import Domain
from continuum.operators.maps import OneDomain


class Source(OneDomain):
    """u -> g(x, y, t), whatever u is.

    Args:
        function: g, written with ``jax.numpy`` for arrays that broadcast: x has the shape
            (tokens, 1), or (tokens, 1, n) with coordinates last on an Omega_x of dimension n >= 2;
            y has the shape (1, features); t is a number.
        domain: the feature domain.
        time_dependent: set False when ``function`` ignores t, so that it is sampled once.
    """

    function: Callable[..., Array] = eqx.field(static=True)
    domain: Domain = eqx.field(static=True)
    time_dependent: bool = eqx.field(static=True, default=True)

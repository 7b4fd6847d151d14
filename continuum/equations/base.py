"""What an equation is."""

import math
from collections.abc import Mapping

import equinox as eqx

from continuum.domains import Domain, token_axis
from continuum.operators import Affine, Operator
from continuum.structure import Structure, term_names


class Equation(eqx.Module):
    """An evolution equation for u(x, y, t): named terms and the structure that composes them.

    Args:
        name: a word for printed output.
        terms: the operators, by name.
        structure: how one time step composes them, over those names.
        features: Omega_y.
        horizon: T; the depth t runs over [0, T].
        tokens: Omega_x; by default [0, N] with N decided by the data.
        observed: when the equation advances another variable z, the map u = observed(z, t) back to
            the state of the model (section on affine norms in the documentation), else None.

    Raises:
        ValueError: if the structure names a term that is missing, a term is never used, or T <= 0.
    """

    name: str = eqx.field(static=True)
    terms: Mapping[str, Operator]
    structure: Structure = eqx.field(static=True)
    features: Domain = eqx.field(static=True)
    horizon: float = eqx.field(static=True)
    tokens: Domain = eqx.field(static=True, default=token_axis())
    observed: Affine | None = None

    def __check_init__(self) -> None:
        """Check names and horizon."""
        used, given = set(term_names(self.structure)), set(self.terms)
        if used != given:
            raise ValueError(
                f"Equation {self.name!r}: the structure uses the terms {sorted(used)}, but the "
                f"terms given are {sorted(given)}"
            )
        if not (self.horizon > 0.0 and math.isfinite(self.horizon)):
            raise ValueError(
                f"Equation {self.name!r}: expected a finite horizon > 0, got {self.horizon}"
            )

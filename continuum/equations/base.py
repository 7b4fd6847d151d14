"""What an equation is."""

import math
from collections.abc import Mapping

import equinox as eqx

from continuum.domains import Domain, token_axis
from continuum.operators import Affine, LinearIntegral, Operator
from continuum.structure import Average, Flow, Sequence, Structure, term_names


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
        ValueError: if the structure names a term that is missing, a term is never used, the terms'
            domains do not follow each other, or T <= 0.
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
        end = self._domain_after(self.structure, self.features)
        if end != self.features:
            raise ValueError(
                f"Equation {self.name!r}: a step must return to {self.features}, but ends on {end}"
            )
        if not (self.horizon > 0.0 and math.isfinite(self.horizon)):
            raise ValueError(
                f"Equation {self.name!r}: expected a finite horizon > 0, got {self.horizon}"
            )

    def _domain_after(self, node: Structure, domain: Domain) -> Domain:
        """The feature domain the state lives on after ``node``, when it lived on ``domain``."""
        if isinstance(node, Sequence):
            for child in node.children:
                domain = self._domain_after(child, domain)
            return domain
        if isinstance(node, Average):
            self._expect(node.name, self._domain_after(node.branch, domain), domain)
            return domain
        names = node.terms if isinstance(node, Flow) else (node.term,)
        for name in names:
            self._expect(name, self.terms[name].source, domain)
        targets = {self.terms[name].target for name in names}
        if len(targets) > 1:
            raise ValueError(
                f"Equation {self.name!r}: the terms {', '.join(names)} of one flow go to different "
                f"domains: {sorted(map(str, targets))}"
            )
        target = targets.pop()
        if isinstance(node, Flow) and target != domain and not self._has_inclusion(names):
            raise ValueError(
                f"Equation {self.name!r}: the flow of {', '.join(names)} leads from {domain} to "
                f"{target}; only a single LinearIntegral has the inclusion E that this needs"
            )
        return target

    def _has_inclusion(self, names: tuple[str, ...]) -> bool:
        return len(names) == 1 and isinstance(self.terms[names[0]], LinearIntegral)

    def _expect(self, name: str, found: Domain, expected: Domain) -> None:
        if found != expected:
            raise ValueError(
                f"Equation {self.name!r}: at {name} the state lives on {expected}, but {name} "
                f"has {found}"
            )

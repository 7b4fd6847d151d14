"""What an operator is."""

from typing import TYPE_CHECKING

import equinox as eqx

from continuum.domains import Domain


class Operator(eqx.Module):
    """A map from functions on Omega_x x ``source`` to functions on Omega_x x ``target``.

    ``a + b`` adds two operators and ``a @ b`` composes them (b first), by building operator
    objects.
    """

    if TYPE_CHECKING:  # a type checker would take an AbstractVar for a constructor argument

        @property
        def source(self) -> Domain:
            """What the map reads from."""
            ...

        @property
        def target(self) -> Domain:
            """What the map goes to."""
            ...

    else:
        source: eqx.AbstractVar[Domain]
        target: eqx.AbstractVar[Domain]

    def __add__(self, other: "Operator") -> "Operator":
        """The operator u -> self(u) + other(u)."""
        from continuum.operators.algebra import Sum

        return Sum((self, other))

    def __matmul__(self, other: "Operator") -> "Operator":
        """The operator u -> self(other(u))."""
        from continuum.operators.algebra import Composition

        return Composition((other, self))

"""[domains]: the boxes that the state and the kernels live on."""

from typing import Annotated

from pydantic import Field

from experiments.config.base import Interval, Part, Positive


class Domains(Part):
    """Omega_x, Omega_y, and the domains inside attention and feedforward.

    Args:
        tokens: Omega_x: [lower, upper] for each of one or two coordinates.
        features: Omega_y.
        hidden: the domain between the layers of the feedforward network; by default Omega_y.
        heads: the length of Omega_h.
        head_features: Omega_eta; by default Omega_y.
    """

    tokens: Annotated[tuple[Interval, ...], Field(min_length=1, max_length=2)]
    features: Interval
    hidden: Interval | None = None
    heads: Positive = 1.0
    head_features: Interval | None = None

    @property
    def dimension(self) -> int:
        """The number of coordinates of Omega_x."""
        return len(self.tokens)

    @property
    def inner(self) -> Interval:
        """The domain between the layers of the feedforward network."""
        return self.features if self.hidden is None else self.hidden

    @property
    def eta(self) -> Interval:
        """The domain of a head's features."""
        return self.features if self.head_features is None else self.head_features

"""What every part of an experiment is built with."""

import dataclasses
import zlib

import numpy as np

from continuum import AnalyticField, AnalyticKernel, Domain, interval, parse
from experiments.building.points import OnPoints
from experiments.config.errors import dotted
from experiments.config.locate import KeyPath
from experiments.config.root import Config
from experiments.config.slots import HEAD, XI, Y, token_variables


@dataclasses.dataclass(frozen=True)
class Setting:
    """Domains, parameters and random numbers of a config.

    Args:
        config: the config.
        dtype: of every array.
    """

    config: Config
    dtype: np.dtype

    @property
    def horizon(self) -> float:
        """T."""
        assert self.config.equation is not None
        return self.config.equation.horizon

    @property
    def tokens(self) -> Domain:
        """Omega_x."""
        lower, upper = zip(*self._domains.tokens, strict=True)
        return Domain(lower, upper, "Omega_x")

    @property
    def features(self) -> Domain:
        """Omega_y."""
        low, high = self._domains.features
        return Domain((low,), (high,), "Omega_y")

    @property
    def hidden(self) -> Domain:
        """The domain between the layers of the feedforward network."""
        low, high = self._domains.inner
        same = (low, high) == self._domains.features
        return self.features if same else Domain((low,), (high,), "Omega_v")

    @property
    def heads(self) -> Domain:
        """Omega_h x Omega_eta."""
        low, high = self._domains.eta
        return interval(self._domains.heads, "Omega_h") * Domain((low,), (high,), "Omega_eta")

    @property
    def _domains(self):
        assert self.config.domains is not None
        return self.config.domains

    def array(self, values) -> np.ndarray:
        """The values in the experiment's precision."""
        return np.asarray(values, self.dtype)

    def rng(self, seed: int | None, path: KeyPath) -> np.random.Generator:
        """The random numbers of a part: of the config's seed and its own, or its place."""
        own = zlib.crc32(dotted(path).encode()) if seed is None else seed
        return np.random.default_rng([self.config.seed, own])

    def kernel(self, text: str, source: Domain, target: Domain) -> AnalyticKernel:
        """The kernel of an expression."""
        names = (*variables(source, XI), *variables(target, Y))
        function, varies = self.function(text, (*names, "t"), (source.dimension, target.dimension))
        return AnalyticKernel(function, source, target, varies)

    def field(self, text: str, domain: Domain, names: tuple[str, ...]) -> AnalyticField:
        """The field of an expression in ``names`` and t."""
        function, varies = self.function(text, (*names, "t"), (domain.dimension,))
        return AnalyticField(function, domain, varies)

    def initial(self, text: str) -> OnPoints:
        """An expression in x (or x1, x2) and y as a function of points."""
        expression = parse(text, (*token_variables(self.config), "y"), self.config.parameters)
        return OnPoints(expression, (self.tokens.dimension, 1))

    def function(
        self, text: str, names: tuple[str, ...], dimensions: tuple[int, ...]
    ) -> tuple[OnPoints, bool]:
        """An expression as a function of points and t, and whether it depends on t."""
        expression = parse(text, names, self.config.parameters)
        return OnPoints(expression, (*dimensions, 1)), "t" in expression.names


def variables(domain: Domain, alone: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a point's coordinates: zeta and eta in two dimensions, else ``alone``."""
    return HEAD if domain.dimension == 2 else alone

"""Sums and compositions of operators."""

from continuum.domains import Domain
from continuum.operators.base import Operator


class Sum(Operator):
    """u -> sum_k T_k(u); all terms share source and target.

    Raises:
        ValueError: if the terms' domains differ or there are none.
    """

    terms: tuple[Operator, ...]

    def __check_init__(self) -> None:
        """Check that the terms can be added."""
        if not self.terms:
            raise ValueError("Sum: expected at least one operator, got none")
        for term in self.terms:
            if (term.source, term.target) != (self.source, self.target):
                raise ValueError(
                    f"Sum: expected operators {self.source} -> {self.target}, got "
                    f"{term.source} -> {term.target}"
                )

    @property
    def source(self) -> Domain:
        """The domain the terms read from."""
        return self.terms[0].source

    @property
    def target(self) -> Domain:
        """The domain the terms map to."""
        return self.terms[0].target


class Composition(Operator):
    """u -> T_n(...T_2(T_1(u))): ``stages`` in order of application.

    Raises:
        ValueError: if one stage's target is not the next one's source.
    """

    stages: tuple[Operator, ...]

    def __check_init__(self) -> None:
        """Check that the stages fit together."""
        if not self.stages:
            raise ValueError("Composition: expected at least one operator, got none")
        for first, second in zip(self.stages, self.stages[1:], strict=False):
            if first.target != second.source:
                raise ValueError(
                    f"Composition: a stage maps to {first.target}, but the next one reads "
                    f"{second.source}"
                )

    @property
    def source(self) -> Domain:
        """The domain of the first stage."""
        return self.stages[0].source

    @property
    def target(self) -> Domain:
        """The domain the last stage maps to."""
        return self.stages[-1].target

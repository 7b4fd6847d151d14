"""Sums, products and compositions of operators."""

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
        _check_alike("Sum", self.terms)

    @property
    def source(self) -> Domain:
        """The domain the terms read from."""
        return self.terms[0].source

    @property
    def target(self) -> Domain:
        """The domain the terms map to."""
        return self.terms[0].target


class Product(Operator):
    """u -> prod_k T_k(u), pointwise in x and y: what a gated feedforward multiplies.

    Raises:
        ValueError: if the factors' domains differ or there are none.
    """

    factors: tuple[Operator, ...]

    def __check_init__(self) -> None:
        """Check that the factors can be multiplied."""
        _check_alike("Product", self.factors)

    @property
    def source(self) -> Domain:
        """The domain the factors read from."""
        return self.factors[0].source

    @property
    def target(self) -> Domain:
        """The domain the factors map to."""
        return self.factors[0].target


def _check_alike(owner: str, operators: tuple[Operator, ...]) -> None:
    """Refuse operators between different domains, or none."""
    if not operators:
        raise ValueError(f"{owner}: expected at least one operator, got none")
    first = operators[0]
    for operator in operators:
        if (operator.source, operator.target) != (first.source, first.target):
            raise ValueError(
                f"{owner}: expected operators {first.source} -> {first.target}, got "
                f"{operator.source} -> {operator.target}"
            )


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

"""[grid]: how finely x, y and the head coordinate are resolved."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from experiments.config.base import Count, Names, Part, Text


class Rules(Part):
    """The quadrature rules.

    Args:
        tokens: along every coordinate of x, or one for each.
        features: along y, and along every other feature coordinate.
        heads: along the head coordinate.
    """

    tokens: Names = ("midpoint",)
    features: Text = "midpoint"
    heads: Text = "midpoint"


def _count_kind(value: Any) -> str:
    return "<counts>" if isinstance(value, list | tuple) else "<count>"


#: A number of cells, or one for each of two coordinates.
Cells = Annotated[
    Annotated[Count, Tag("<count>")]
    | Annotated[tuple[Count, ...], Field(min_length=1, max_length=2), Tag("<counts>")],
    Discriminator(_count_kind),
]


def _rule_kind(value: Any) -> str | None:
    if isinstance(value, str):
        return "<rule>"
    return "<rules>" if isinstance(value, Mapping | Rules) else None


#: The name of a quadrature rule, or a table of them.
RuleChoice = Annotated[
    Annotated[Text, Tag("<rule>")] | Annotated[Rules, Tag("<rules>")],
    Discriminator(
        _rule_kind,
        custom_error_type="kind",
        custom_error_message="expected the name of a rule in quotes, or a table with the keys "
        "tokens, features, heads",
    ),
]


class Grid(Part):
    """Cells along every coordinate.

    Args:
        tokens: cells in x, [m, n] in two dimensions; for a [model] the cells of one token.
        features: cells in y; for a [model] the cells of one feature.
        heads: cells along the head coordinate.
        rule: the quadrature rule of x and y (the head coordinate keeps midpoints), or a table of
            rules.
    """

    tokens: Cells
    features: Count
    heads: Count = 1
    rule: RuleChoice = "midpoint"

    @property
    def token_cells(self) -> tuple[int, ...]:
        """The cells along each coordinate of x."""
        return (self.tokens,) if isinstance(self.tokens, int) else self.tokens

    @property
    def rules(self) -> Rules:
        """The rule of every coordinate."""
        if isinstance(self.rule, Rules):
            return self.rule
        return Rules(tokens=(self.rule,), features=self.rule)

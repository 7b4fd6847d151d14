"""All checks, in a table."""

from collections.abc import Callable, Iterator

from experiments.wellposedness.compatibility import check_compatibility
from experiments.wellposedness.findings import Finding
from experiments.wellposedness.kinks import check_kinks
from experiments.wellposedness.norms import check_norms
from experiments.wellposedness.question import Question
from experiments.wellposedness.rates import check_pointwise_maps, check_rates
from experiments.wellposedness.scores import check_scores
from experiments.wellposedness.steps import check_steps

#: The checks, in the order of their findings; one of your own is one more row.
CHECKS: tuple[Callable[[Question], Iterator[Finding]], ...] = (
    check_compatibility,
    check_pointwise_maps,
    check_norms,
    check_rates,
    check_kinks,
    check_scores,
    check_steps,
)


def check(question: Question) -> tuple[Finding, ...]:
    """Everything that is to be said of a question, the worst first."""
    found = [finding for one in CHECKS for finding in one(question)]
    levels = ("ill-posed", "warning", "note")
    return tuple(sorted(found, key=lambda finding: levels.index(finding.level)))

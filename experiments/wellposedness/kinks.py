"""Does a method of high order meet data that are smooth enough for it?"""

from collections.abc import Iterator

from experiments.wellposedness.findings import Finding, Level
from experiments.wellposedness.orders import rules_of
from experiments.wellposedness.question import Question


def check_kinks(question: Question) -> Iterator[Finding]:
    """A kink caps quadrature at order 2 and makes time stepping above order 2 erratic."""
    kinks = question.kinks()
    if not kinks:
        return
    high = [f"the {rule.name} rule" for rule in rules_of(question) if rule.order > 2]
    if "time" in question.refined and question.scheme.order > 2:
        high.append(f"the scheme {question.scheme.name}")
    if high:
        yield Finding(
            Level.WARNING,
            "kink",
            f"{', '.join(high)} needs smooth data, but the equation has {' and '.join(kinks)}: "
            'order 2 at best, irregularly. Use activation = "gelu", smooth expressions, or a '
            "method of order at most 2",
        )

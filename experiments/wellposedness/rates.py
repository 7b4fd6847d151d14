"""Do the terms keep their rates as dt -> 0?"""

from collections.abc import Iterator

from continuum import Pointwise
from continuum.structure import Apply, walk
from experiments.wellposedness.findings import Finding, Level
from experiments.wellposedness.question import Question


def check_rates(question: Question) -> Iterator[Finding]:
    """A relaxation with omega * rate != 1 halves (say) its branch in the limit."""
    if question.scheme.name == "lie-consistent":
        return
    for average in question.averages():
        rate = average.limit_rate
        if abs(rate - 1.0) > 1e-12:
            yield Finding(
                Level.WARNING if "time" in question.refined else Level.NOTE,
                "literal-rate",
                f"the relaxation with omega = {average.omega:g} and branch rate {average.rate:g} "
                f"advances its branch at {rate:g} times the rate in the equation: as dt -> 0 the "
                f"steps follow u_t = A(u) + {rate:g} sum_j (W_j u + b_j). For the equation as "
                'written set equation.rate = "consistent", or the scheme "lie-consistent"',
            )


def check_pointwise_maps(question: Question) -> Iterator[Finding]:
    """A pointwise map that is no projection, applied after every small step, has no limit."""
    if not (question.literal and "time" in question.refined):
        return
    for node in walk(question.equation.structure):
        term = question.equation.terms[node.term] if isinstance(node, Apply) else None
        if isinstance(term, Pointwise) and term.name != "relu":
            yield Finding(
                Level.ILL_POSED,
                "iterated-activation",
                f"{term.name} is no projection: applied after every step it is iterated as dt -> "
                '0, and the steps have no limit. Use activation = "relu" (the projection onto S2), '
                "or the residual form, where the activation stands inside the tendency",
            )
            return

"""Do the constraint sets meet?"""

from collections.abc import Iterator

from continuum import NonnegativeCone, Normalisation, Projection, compatible
from continuum.constraints import MomentSet
from experiments.wellposedness.findings import Finding, Level
from experiments.wellposedness.question import Question, is_affine


def check_compatibility(question: Question) -> Iterator[Finding]:
    """S1 must have a member on the grid; with S2, on functions of the same domain, a common one.

    Continuously that takes sigma1 > 0; on a grid also sigma2^2 <= (|Omega_y| / w_min - 1) sigma1^2
    (section "What happens as dt goes to 0" of the documentation).
    """
    features = question.problem.grid.features
    if features.size == 1 and any(moments.deviation > 0 for moments in _targets(question)):
        yield Finding(
            Level.ILL_POSED,
            "incompatible-constraints",
            "a function on one node in y is constant, so that none has a deviation above 0: "
            "expected at least two cells along the features, found one; take a larger "
            "grid.features",
        )
        return
    cones = [
        name
        for name in question.cones()
        if question.problem.terms[name].source.domain == features.domain
    ]
    if not cones:
        return
    for moments in _targets(question):
        found = compatible(
            moments,
            NonnegativeCone(),
            measure=features.domain.measure,
            smallest_weight=float(features.weights.min()),
        )
        if not found:
            yield Finding(
                Level.ILL_POSED,
                "incompatible-constraints",
                f"{found.reason}. Steps of any one size can be computed, but no solution exists "
                "that they could converge to, and self-convergence would prove nothing: choose a "
                "mean > 0, such as moments = { mean = 1.0, deviation = 0.3 }, or the residual form",
            )
            return


def _targets(question: Question) -> list[MomentSet]:
    """The moments that the maps of the structure prescribe."""
    found = []
    for _, term in question.maps():
        if isinstance(term, Projection) and isinstance(term.constraint, MomentSet):
            found.append(term.constraint)
        elif isinstance(term, Normalisation) and not is_affine(term):
            found.append(MomentSet())
    return found

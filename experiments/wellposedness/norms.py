"""Are the normalisations projections?"""

from collections.abc import Iterator

from experiments.wellposedness.findings import Finding, Level
from experiments.wellposedness.question import Question, is_affine


def check_norms(question: Question) -> Iterator[Finding]:
    """Affine norms iterate their affine map as dt -> 0; eps > 0 floors orders near eps."""
    for name, norm in question.norms():
        if is_affine(norm) and question.dt != 1.0 and question.literal:
            yield Finding(
                Level.ILL_POSED if "time" in question.refined else Level.WARNING,
                "affine-norm",
                f"{name} has a learned scale or shift, so it is no projection, and dt = "
                f"{question.dt:g}: applied after every step it iterates an affine map, and as dt "
                "-> 0 the answer stops depending on T. Keep dt = 1, or read the model with "
                'equation = "residual", whose flow has the affine part in the tendency',
            )
            return
    for name, norm in question.norms():
        if norm.eps > 0.0 and question.refined:
            yield Finding(
                Level.NOTE,
                "eps",
                f"{name} has eps = {norm.eps:g}: errors stop falling near it, and its result is "
                "only nearly on S1; set eps = 0 to measure orders",
            )
            return

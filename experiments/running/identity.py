"""What a result is of: precision, seed, versions, and settings that its bits depend on."""

from experiments.config import Config
from experiments.options import Options
from experiments.packages import versions
from experiments.results import Identity
from experiments.running.guard import Verdict


def identity_of(config: Config, options: Options, kind: str, verdict: Verdict) -> Identity:
    """The identity of a result.

    Args:
        config: tells the seed.
        options: tell precision and threads.
        kind: "run" or "convergence".
        verdict: an ill-posed one is part of the identity.
    """
    settings = {} if options.threads is None else {"threads": options.threads}
    return Identity(
        kind,
        options.precision.value,
        config.seed,
        versions(),
        settings,
        verdict.ill_posed,
    )

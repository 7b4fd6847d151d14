"""[time]: steps, the scheme, and what is saved."""

from experiments.config.base import Count, Part, Text


class Time(Part):
    """Steps of equal length over [0, T].

    Args:
        steps: how many.
        scheme: the name of a splitting or Runge-Kutta scheme.
        save_every: steps between saved states, a divisor of ``steps``.
        chunk: saved states in a chunk on disk; a run resumes where a chunk ends.
    """

    steps: Count
    scheme: Text = "lie"
    save_every: Count = 1
    chunk: Count = 16

"""[clusters]: how many clusters the tokens form, for several scales of the attention."""

from typing import Annotated

from pydantic import Field

from experiments.config.base import Part


class Clusters(Part):
    """Count clusters of tokens over t, once for each scale beta of the attention scores.

    Args:
        scales: the scales, increasing; each replaces ``equation.attention.scale``.
        distance: tokens this close, in the root mean square over y, are of one cluster.
    """

    scales: Annotated[tuple[Annotated[float, Field(gt=0.0)], ...], Field(min_length=1)]
    distance: Annotated[float, Field(gt=0.0)]

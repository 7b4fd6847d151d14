"""A coordinate of a picture: nodes, the interval they stand for, and words."""

from dataclasses import dataclass

import numpy as np

from experiments.figures.words import with_unit


@dataclass(frozen=True)
class Coordinate:
    """Nodes on an interval.

    Attributes:
        nodes: increasing, of shape (n,).
        interval: (lower, upper), which contains the nodes.
        label: in words, e.g. "token position x".
        unit: "" or "1" for none.
    """

    nodes: np.ndarray
    interval: tuple[float, float]
    label: str
    unit: str = ""

    def __post_init__(self) -> None:
        """Check the nodes.

        Raises:
            ValueError: if they do not increase or leave the interval.
        """
        nodes, (lower, upper) = np.asarray(self.nodes), self.interval
        slack = 1e-9 * (upper - lower)
        inside = nodes.ndim == 1 and nodes.size and lower < upper
        if not inside or nodes[0] < lower - slack or nodes[-1] > upper + slack:
            raise ValueError(
                f"{self.label}: expected nodes in the interval [{lower}, {upper}], got an array of "
                f"shape {nodes.shape} from {nodes.min(initial=np.inf)} to "
                f"{nodes.max(initial=-np.inf)}"
            )
        if np.any(np.diff(nodes) <= 0):
            raise ValueError(f"{self.label}: expected increasing nodes; sort them and the values")

    @property
    def title(self) -> str:
        """The label with its unit."""
        return with_unit(self.label, self.unit)

    @property
    def edges(self) -> np.ndarray:
        """Where the picture of one node ends and the next begins: half way; shape (n + 1,)."""
        nodes = np.asarray(self.nodes, dtype=float)
        return np.concatenate(
            [[self.interval[0]], (nodes[1:] + nodes[:-1]) / 2, [self.interval[1]]]
        )


def tokens(nodes: np.ndarray, interval: tuple[float, float], unit: str = "") -> Coordinate:
    """The token position x."""
    return Coordinate(nodes, interval, "token position x", unit)


def features(nodes: np.ndarray, interval: tuple[float, float], unit: str = "") -> Coordinate:
    """The feature coordinate y."""
    return Coordinate(nodes, interval, "feature coordinate y", unit)

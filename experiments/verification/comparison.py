"""From a case to the rows of a report."""

import numpy as np
from numpy.typing import NDArray

import solvers
from experiments.request import Equation
from experiments.verification.case import Case
from experiments.verification.correspondence import CORRESPONDENCES
from experiments.verification.report import Layer, Row, difference


def compare(case: Case, equation: Equation) -> tuple[tuple[Layer, ...], Row, Row | None]:
    """Advance the equation and hold every state against the encoder's.

    Returns:
        The layers, the encoder's output, and the embedding (None without one).

    Raises:
        ValueError: if the scheme's substeps are not those that the correspondence knows.
    """
    solution = solvers.solve(case.recovered, case.u0, mask=case.valid, save_every=1, substeps=True)
    records = {name: np.asarray(states) for name, states in solution.substeps}
    trajectory = np.asarray(solution.trajectory)
    layers = tuple(
        _layer(case, equation, k, {name: states[k] for name, states in records.items()}, after)
        for k, after in enumerate(trajectory[1:])
    )
    final = difference("output", "what it returns", solution.final, case.output, case.valid)
    embedding = None
    if case.embedding is not None:
        embedding = difference("embedding", "u0", case.u0, case.embedding, case.valid)
    return layers, final, embedding


def _layer(
    case: Case, equation: Equation, k: int, found: dict[str, NDArray], after: NDArray
) -> Layer:
    """The rows of layer k, whose output is ``after``."""
    known = CORRESPONDENCES[equation, case.norm]
    if list(found) != list(known):
        raise ValueError(f"expected the substeps {', '.join(known)}, got {', '.join(found)}")
    gamma, beta = case.attention_norms[k]
    last = list(known)[-1]
    rows = []
    for name, counterpart in known.items():
        state = after if name == last else counterpart.observe(found[name], gamma, beta)
        expected = counterpart.expected(case.layers[k])
        rows.append(difference(name, counterpart.words, state, expected, case.valid))
    return Layer(k + 1, tuple(rows))

"""Does the grid resolve the attention kernel?"""

from collections.abc import Iterator

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from continuum import CellKernel
from discretize import UniformGrid
from discretize.operators import DiscreteAttention, TokenMeasure
from discretize.operators.base import Coefficients
from discretize.sampling import At, is_table
from experiments.wellposedness.findings import Finding, Level
from experiments.wellposedness.question import Question

#: Second differences h^2 |s''| of the scores above this leave the softmax integral unresolved.
_SHARP = 1.0


def check_scores(question: Question) -> Iterator[Finding]:
    """Sharp scores need h << |s''|^(-1/2): h^2 |s''| at u0 is measured at the keys that matter.

    Kernels and tokens of a model are constant on cells, so their integrals are exact on any grid
    that subdivides the cells; they are not judged.
    """
    tokens = question.problem.grid.tokens
    smooth = not question.parts(CellKernel)
    if not (isinstance(tokens, UniformGrid) and tokens.domain.dimension == 1 and smooth):
        return
    attentions = [t for t in _leaves(question.problem.terms) if isinstance(t, DiscreteAttention)]
    if not attentions or tokens.size < 3:
        return
    at = At(np.zeros(1), tokens)
    measure = TokenMeasure.build(tokens, None, question.problem.dtype)
    worst = max(_sharpness(attention, at, question.u0, measure) for attention in attentions)
    if worst > _SHARP:
        cells = tokens.cells[0]
        needed = int(np.ceil(cells * np.sqrt(worst / (0.1 * _SHARP))))
        yield Finding(
            Level.WARNING,
            "sharp-scores",
            f"the scores bend by h^2 |s''| = {worst:.2g} between neighbouring keys, so a softmax "
            f"over {cells} cells of Omega_x misses its integral by percents: take about {needed} "
            "cells, a smaller attention scale, or smaller query and key kernels",
        )


def _sharpness(
    attention: DiscreteAttention, at: At, u0: np.ndarray, measure: TokenMeasure
) -> float:
    tables = attention.coefficients(at)
    now = jax.tree.map(lambda table: table.rows(1)[0], tables, is_leaf=is_table)
    return float(_largest_bend(attention, now, jnp.asarray(u0), measure))


@eqx.filter_jit
def _largest_bend(
    attention: DiscreteAttention, now: Coefficients, state: Array, measure: TokenMeasure
) -> Array:
    scores = attention.scores(now, state, measure)
    gamma = attention.kernel(now, state, measure)
    bend = jnp.abs(scores[..., 2:] - 2.0 * scores[..., 1:-1] + scores[..., :-2])
    peak = jnp.max(gamma, axis=-1, keepdims=True)
    return jnp.max(jnp.where(gamma[..., 1:-1] > 0.1 * peak, bend, 0.0))


def _leaves(terms) -> list:
    return jax.tree.leaves(terms, is_leaf=lambda node: isinstance(node, DiscreteAttention))

"""Attention kernels of a trajectory on disk."""

import jax
import jax.numpy as jnp
import numpy as np

from discretize.operators import DiscreteAttention, DiscreteComposition, TokenMeasure
from discretize.problem import Problem
from discretize.sampling import At, is_table
from experiments.building import build
from experiments.config import Config
from experiments.results import Run


def kernels_of(
    config: Config, run: Run, chosen: list[int]
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """gamma(x, x~) at some saved times, of the first sample: a density in x~.

    Args:
        config: of the run.
        run: on disk.
        chosen: which saved states.

    Returns:
        The kernels, shape (times, heads, x, x~), and the heads' names; None without attention.
    """
    precision = run.manifest.identity.precision or "float64"
    experiment = build(config, dtype=precision)
    problem = experiment.problem
    found = _attention(problem)
    if found is None:
        return None, ()
    before, attention = found
    grid = experiment.tokens
    data = run.dataset
    states = data["u"].isel(sample=0) if "sample" in data["u"].dims else data["u"]
    mask = None if experiment.mask is None else jnp.asarray(experiment.mask[0])
    measure = TokenMeasure.build(grid, mask, problem.dtype)
    kernels = []
    for index in chosen:
        u = jnp.asarray(states.isel(t=index).to_numpy())
        at = At(data["t"].to_numpy()[index : index + 1], grid)
        for stage in before:
            u = stage.apply(_rows(stage, at), u, measure)
        kernels.append(attention.kernel(_rows(attention, at), u, measure))
    density = np.asarray(jnp.stack(kernels)) / np.asarray(grid.weights)
    return density, tuple(f"head {k + 1}" for k in range(density.shape[1]))


def _rows(operator, at: At):
    return jax.tree.map(lambda t: t.rows(1)[0], operator.coefficients(at), is_leaf=is_table)


def _attention(problem: Problem) -> tuple[tuple, DiscreteAttention] | None:
    """The first attention, and what of its term acts on u before it.

    In the flow of an affine norm the trajectory holds u itself, so nothing acts before.
    """
    for term in problem.terms.values():
        stages = term.stages if isinstance(term, DiscreteComposition) else (term,)
        for k, stage in enumerate(stages):
            if isinstance(stage, DiscreteAttention):
                return (() if problem.observed is not None else stages[:k]), stage
    leaves = jax.tree.leaves(
        problem.terms, is_leaf=lambda node: isinstance(node, DiscreteAttention)
    )
    for leaf in leaves:
        if isinstance(leaf, DiscreteAttention):
            return (), leaf
    return None

"""Is the step short enough for an explicit method?"""

from collections.abc import Iterator

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discretize.operators import DiscreteOperator, TokenMeasure
from discretize.operators.base import Coefficients
from discretize.sampling import At, is_table
from experiments.wellposedness.findings import Finding, Level
from experiments.wellposedness.question import Question

#: Explicit methods of low order are stable up to dt |J| of about this.
_STABLE = 2.0

_ITERATIONS = 4


def check_steps(question: Question) -> Iterator[Finding]:
    """Estimate dt |J| for every flow at u0, J its Jacobian, by a few power iterations.

    At dt = 1 a model's step is the network itself, whatever its size; it is not judged.
    """
    if question.dt == 1.0:
        return
    tokens = question.problem.grid.tokens.of(question.u0.shape[-2])
    mask = None if question.mask is None else jnp.asarray(question.mask)
    measure = TokenMeasure.build(tokens, mask, question.problem.dtype)
    at = At(np.zeros(1), tokens)
    for name, _ in question.flows():
        operator = question.problem.terms[name]
        if operator.source != operator.target or operator.source != question.problem.grid.features:
            continue
        size = question.dt * _spread(operator, at, jnp.asarray(question.u0), measure)
        if not size <= _STABLE:
            steps = f"about {size / _STABLE:.0f} times as many" if np.isfinite(size) else "more"
            yield Finding(
                Level.WARNING,
                "large-steps",
                f"dt |J| of {name} is about {size:.2g} at the initial state, above the stability "
                f"limit {_STABLE:g} of explicit methods: take {steps} steps, or smaller kernels",
            )


def _spread(operator: DiscreteOperator, at: At, u: Array, measure: TokenMeasure) -> float:
    """|J| in the Euclidean norm, from below."""
    tables = operator.coefficients(at)
    now = jax.tree.map(lambda table: table.rows(1)[0], tables, is_leaf=is_table)
    start = jnp.asarray(np.random.default_rng(0).normal(size=u.shape), u.dtype)
    return float(_power_iteration(operator, now, measure, u, start))


@eqx.filter_jit
def _power_iteration(
    operator: DiscreteOperator, now: Coefficients, measure: TokenMeasure, u: Array, start: Array
) -> Array:
    _, forward = jax.linearize(lambda v: operator.apply(now, v, measure), u)
    backward = jax.linear_transpose(forward, u)

    def one(v: Array, _: None) -> tuple[Array, Array]:
        v = v / jnp.maximum(jnp.linalg.norm(v), jnp.finfo(v.dtype).tiny)
        (v,) = backward(forward(v))
        return v, jnp.sqrt(jnp.linalg.norm(v))

    return jax.lax.scan(one, start, length=_ITERATIONS)[1][-1]

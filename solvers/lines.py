"""The method of lines by an adaptive solver: a reference that shares no time stepping with us."""

from collections.abc import Sequence
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from continuum.constraints import NonnegativeCone
from discretize.encoders.live import to_numpy
from discretize.operators import DiscreteOperator, DiscreteProjection, TokenMeasure
from discretize.operators.base import Coefficients
from discretize.problem import Problem
from discretize.sampling import At, is_table
from solvers.checks import check_mask, check_state
from solvers.flows import tendency_of

#: Steps the adaptive solver may take between two jumps.
_MAX_STEPS = 1_000_000


def method_of_lines(
    problem: Problem,
    u0: Any,
    *,
    mask: Any = None,
    times: Sequence[float] | None = None,
    jumps: Sequence[float] = (),
    rtol: float = 1e-12,
    atol: float = 1e-12,
) -> Array:
    """Solve u_t = Pi_u T(u) (or u_t = T(u)) on the problem's grid by Dormand-Prince 8(7).

    T is the sum of the structure's flows, branches of a relaxation at ``omega * rate``; Pi_u is the
    tangent projection on S1.  The nonnegative cone is taken to be inactive, which is checked.

    Args:
        problem: the problem; only its grid and terms matter, not its scheme or steps.
        u0: the state at t = 0, (tokens, features) or (batch, tokens, features).
        mask: True on valid tokens.
        times: the depths at which the solution is wanted, increasing; by default T alone.
        jumps: depths inside (0, T) at which kernels jump; the solver restarts there.
        rtol: relative tolerance of the adaptive steps.
        atol: absolute tolerance.

    Returns:
        The solution, shape (times, *u0.shape).

    Raises:
        ValueError: in float32, for a structure without a tendency, or if the solution leaves a cone
            that was taken to be inactive.
    """
    if problem.dtype != np.float64:
        raise ValueError(
            f"method_of_lines: expected a problem in float64, got {problem.dtype}; a reference at "
            f"tolerance {rtol:g} needs it (run with precision float64)"
        )
    shape = np.shape(to_numpy(u0))
    grid = problem.grid.tokens.of(shape[-2] if len(shape) > 1 else 0)
    state = check_state(to_numpy(u0), problem, grid.size)
    measure = TokenMeasure.build(grid, check_mask(to_numpy(mask), state.shape), state.dtype)
    operator, constraint = tendency_of(problem, inactive=True)
    horizon = problem.equation.horizon
    wanted = np.array([horizon] if times is None else times, dtype=float)
    borders = [0.0, *sorted(t for t in jumps if 0.0 < t < horizon), horizon]
    found = []
    state = state if constraint is None else constraint.project(state)
    for begin, end in zip(borders, borders[1:], strict=False):
        inside = wanted[(wanted > begin) & (wanted <= end)]
        if begin == 0.0 and np.any(wanted == 0.0):
            found.append(state[None])
        saves = np.append(inside, end) if inside.size == 0 or inside[-1] != end else inside
        steady = _steady(operator, At(np.array([begin]), grid, np.array([0.5 * (begin + end)])))
        states = _integrate(
            operator,
            constraint,
            steady,
            measure,
            state,
            jnp.asarray(saves),
            (begin, end, 0.5 * (begin + end) if len(jumps) else None),
            (rtol, atol),
        )
        found.append(states[: inside.size])
        state = states[-1]
    solution = jnp.concatenate(found)
    _check_inactive(problem, solution)
    return solution


def _steady(operator: DiscreteOperator, at: At) -> Coefficients | None:
    """The coefficients, if they are the same at all times."""
    tables = operator.coefficients(at)
    if any(table.varying for table in jax.tree.leaves(tables, is_leaf=is_table)):
        return None
    return jax.tree.map(lambda table: table.values[0], tables, is_leaf=is_table)


@eqx.filter_jit
def _integrate(
    operator: DiscreteOperator,
    constraint: DiscreteProjection | None,
    steady: Coefficients | None,
    measure: TokenMeasure,
    u0: Array,
    saves: Array,
    span: tuple[float, float, float | None],
    tolerances: tuple[float, float],
) -> Array:
    begin, end, within = span

    def slope(t: Array, u: Array, args: None) -> Array:
        now = steady
        if now is None:
            times = jnp.reshape(t, (1,))
            inside = None if within is None else jnp.full((1,), within)
            tables = operator.coefficients(At(times, measure.grid, inside))  # type: ignore[arg-type]
            now = jax.tree.map(lambda table: table.rows(1)[0], tables, is_leaf=is_table)
        if constraint is None:
            return operator.apply(now, u, measure)
        point = constraint.project(u)
        return constraint.tangent(point, operator.apply(now, point, measure))

    with jax.default_matmul_precision("highest"):
        found = diffrax.diffeqsolve(
            diffrax.ODETerm(slope),  # type: ignore[arg-type]
            diffrax.Dopri8(),
            t0=begin,
            t1=end,
            dt0=None,
            y0=u0,
            saveat=diffrax.SaveAt(ts=saves),
            stepsize_controller=diffrax.PIDController(rtol=tolerances[0], atol=tolerances[1]),
            max_steps=_MAX_STEPS,
        )
    assert found.ys is not None
    return found.ys if constraint is None else constraint.project(found.ys)


def _check_inactive(problem: Problem, solution: Array) -> None:
    for name, term in problem.terms.items():
        if not (
            isinstance(term, DiscreteProjection) and isinstance(term.constraint, NonnegativeCone)
        ):
            continue
        lowest = float(jnp.min(solution))
        if lowest < 0.0:
            raise ValueError(
                f"{name}: the solution reaches {lowest:.3g}, so positivity is active and the "
                "equation is no ordinary differential equation; compare with the finest grid"
            )

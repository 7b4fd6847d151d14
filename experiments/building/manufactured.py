"""Manufactured solutions: the source that makes a chosen function solve the equation.

For u_t = T(u) + g, or u_t = Pi_u [T(u) + g] with u* on S1, the source is g = u*_t - T(u*).  The
integrals in T(u*) are taken by Gauss-Legendre rules with far more nodes than smooth data need, and
at any points x and y: the source knows nothing of the grid on which it will be used.
"""

import dataclasses
import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from continuum import (
    CellField,
    CellKernel,
    Domain,
    Equation,
    IntegralAttention,
    LinearIntegral,
    MomentSet,
    Operator,
    Source,
)
from discretize import Grid
from experiments.building.equations import build_equation, flow_equation
from experiments.building.initial import as_kernel, sampled
from experiments.building.references import manufactured_solution
from experiments.building.setting import Setting
from experiments.config.equation import FlowEquation

#: Gauss-Legendre nodes along each coordinate.
_NODES = 32

#: How far from S1 or S2 a manufactured solution may be, in units of round-off.
_ULPS = 1e5


def manufactured_equation(text: str, setting: Setting) -> Equation:
    """The config's equation with the source that makes an expression its solution.

    Args:
        text: u*, in x (or x1, x2), y and t.
        setting: the config, of form "flow", and the precision.

    Raises:
        ValueError: if the form is another one, a kernel is constant on cells (Gauss rules would
            not see the cells), the attention is causal, or u* leaves S1 or S2.
    """
    form = setting.config.equation
    if not isinstance(form, FlowEquation):
        raise ValueError('a manufactured solution adds a source: it needs form = "flow"')
    solution = manufactured_solution(text, setting)
    _check_sets(solution, form, setting)
    equation = build_equation(setting)
    _check_smooth(equation)
    terms = {name: t for name, t in equation.terms.items() if name not in ("s1", "s2")}
    source = Source(_Residual(solution, tuple(terms.values()), setting), setting.features)
    return flow_equation({**terms, "manufactured": source}, form, setting)


def manufactured_initial(text: str, setting: Setting) -> Callable[[Grid], Array]:
    """u*(., ., 0) on any grid."""
    solution = manufactured_solution(text, setting)
    return sampled(as_kernel(lambda x, y: solution(x, y, 0.0), setting), None, setting)


@dataclasses.dataclass(frozen=True, eq=False)
class _Residual:
    """g(x, y, t) = u*_t - T(u*)."""

    solution: Callable[..., Array]
    terms: tuple[Operator, ...]
    setting: Setting

    def __call__(self, x, y, t) -> Array:
        return _one_by_one(self, jnp.asarray(x), jnp.asarray(y), jnp.asarray(t, float))

    def at(self, x: Array, y: Array, t: Array) -> Array:
        """The values at one time."""
        u = self.solution
        speed = jax.jvp(lambda s: u(x, y, s), (t,), (jnp.ones_like(t),))[1]
        points = x[:, 0], y[0]
        return speed - sum(tendency(term, u, *points, t, self.setting) for term in self.terms)


@functools.partial(jax.jit, static_argnums=0)
def _one_by_one(residual: _Residual, x: Array, y: Array, t: Array) -> Array:
    """Many times are taken one after the other: the integrals of all at once need much memory."""
    return jax.custom_batching.sequential_vmap(residual.at)(x, y, t)


@functools.singledispatch
def tendency(operator: Operator, u, x, y, t, setting: Setting) -> Array:
    """T(u)(x, y) at points x (n,) or (n, 2) and y (m,), shape (n, m)."""
    raise TypeError(f"no tendency is known for {type(operator).__name__}")


@tendency.register
def _(operator: LinearIntegral, u, x, y, t, setting) -> Array:
    image = _image(operator, u, x, y, t)
    return image + operator.identity * u(x[:, None], y[None, :], t)


@tendency.register
def _(operator: Source, u, x, y, t, setting) -> Array:
    return operator.function(x[:, None], y[None, :], t)


@tendency.register
def _(operator: IntegralAttention, u, x, y, t, setting) -> Array:
    heads = operator.query.target
    zeta, eta = (Domain((a,), (b,)) for a, b in zip(heads.lower, heads.upper, strict=True))
    keys, mass = gauss(setting.tokens)
    inner, weights = gauss(heads)
    shape = (len(gauss(zeta)[0]), len(gauss(eta)[0]))

    def inward(part: LinearIntegral, points) -> Array:
        return _image(part, u, points, inner, t).reshape(-1, *shape)

    query, key, value = (
        inward(_linear(part), points)
        for part, points in ((operator.query, x), (operator.key, keys), (operator.value, keys))
    )
    scores = jnp.einsum("nze,kze,e->znk", query, key, gauss(eta)[1]) / operator.divisor
    gamma = jax.nn.softmax(scores + jnp.log(mass), axis=-1)
    mixed = jnp.einsum("znk,kze->nze", gamma, value).reshape(len(x), -1) * weights
    return _affine(_linear(operator.output), mixed, inner, y, t)


def _linear(operator: Operator) -> LinearIntegral:
    assert isinstance(operator, LinearIntegral)  # as every config builds them
    return operator


def _image(operator: LinearIntegral, u, x, y, t) -> Array:
    """Int k(xi, y, t) u(x, xi) dxi + b(y, t)."""
    xi, weights = gauss(operator.source)
    values = u(x[:, None], xi[None, :], t) * weights
    return _affine(operator, values, xi, y, t)


def _affine(operator: LinearIntegral, weighted: Array, xi, y, t) -> Array:
    image = jnp.matmul(weighted, operator.kernel(xi[:, None], y[None, :], t), precision="highest")
    return image if operator.bias is None else image + operator.bias(y, t)


@functools.lru_cache(maxsize=32)
def gauss(domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes (n,) or (n, 2) and weights (n,) on a box."""
    s, w = np.polynomial.legendre.leggauss(_NODES)
    axes = [a + 0.5 * e * (s + 1.0) for a, e in zip(domain.lower, domain.extents, strict=True)]
    weights = functools.reduce(np.multiply.outer, [0.5 * e * w for e in domain.extents])
    if domain.dimension == 1:
        return axes[0], weights
    mesh = np.meshgrid(*axes, indexing="ij")
    return np.stack([m.reshape(-1) for m in mesh], axis=-1), weights.reshape(-1)


def _check_sets(solution, form: FlowEquation, setting: Setting) -> None:
    """U* must lie in the sets at all times; looked at at nine of them."""
    (x, _), (y, weights) = gauss(setting.tokens), gauss(setting.features)
    shares = weights / weights.sum()

    def mean(values: Array) -> Array:
        return jnp.sum(values * shares, axis=-1, keepdims=True)

    for t in np.linspace(0.0, form.horizon, 9):
        values = jnp.broadcast_to(solution(x[:, None], y[None, :], t), (len(x), len(y)))
        if form.moments is not None:
            target = MomentSet(form.moments.mean, form.moments.deviation)
            off = float(jnp.max(target.violation(values, mean)))
            if not off <= _tolerance(values):
                raise ValueError(
                    "a manufactured solution must keep the equation's moments: at t = "
                    f"{t:g} mean or deviation is off by {off:.3g}"
                )
        if form.nonnegative and not float(jnp.min(values)) >= -_tolerance(values):
            raise ValueError(
                "a manufactured solution must be nonnegative, as the equation is: at t = "
                f"{t:g} it reaches {float(jnp.min(values)):.3g}"
            )


def _tolerance(values: Array) -> float:
    return _ULPS * float(jnp.finfo(values.dtype).eps)


def _check_smooth(equation: Equation) -> None:
    kinds = CellKernel | CellField
    leaves = jax.tree.leaves(equation.terms, is_leaf=lambda node: isinstance(node, kinds))
    if any(isinstance(leaf, kinds) for leaf in leaves):
        raise ValueError(
            "a manufactured solution needs smooth kernels, found one that is constant on cells"
        )
    for term in equation.terms.values():
        if isinstance(term, IntegralAttention) and term.causal is not None:
            raise ValueError("a manufactured solution for causal attention is not covered")

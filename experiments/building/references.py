"""Solutions to measure against: closed forms and manufactured ones, as functions of x, y and t."""

from collections.abc import Callable
from typing import TypeAlias

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from continuum import SeparableKernel
from continuum.kernels import Field
from continuum.operators import IntegralAttention, LinearIntegral
from continuum.solutions import MeanField, Reflection, SphereFlow
from continuum.solutions.integrals import integral
from discretize import Grid, UniformGrid
from experiments.building.equations import build_equation
from experiments.building.points import OnPoints
from experiments.building.setting import Setting
from experiments.config.closed_forms import misfit
from experiments.config.equation import FlowEquation
from experiments.config.initial import ExpressionInitial
from experiments.config.root import Config
from experiments.config.slots import token_variables
from experiments.config.studies import (
    ClosedFormReference,
    ManufacturedReference,
)

#: u(x, y, t) at points that broadcast, such as x (tokens, 1) or (tokens, 1, 2) and y (1, features).
Solution: TypeAlias = Callable[[ArrayLike, ArrayLike, float], ArrayLike]


def solution_of(config: Config, reference: ClosedFormReference | ManufacturedReference) -> Solution:
    """The exact solution that a study's reference names.

    Args:
        config: the experiment, a study's ``set`` applied.
        reference: of the study.

    Raises:
        ValueError: if the equation, or the initial state, has no such closed form.
    """
    setting = Setting(config, np.dtype(jnp.result_type(float)))
    if isinstance(reference, ManufacturedReference):
        return manufactured_solution(reference.solution, setting)
    assert config.equation is not None
    wrong = misfit(config.equation, reference.name)
    if wrong is not None:
        raise ValueError(wrong)
    return _CLOSED_FORMS[reference.name](setting)


def on_grid(solution: Solution, grid: Grid, t: float) -> np.ndarray:
    """A solution at the nodes, (tokens, features).

    Args:
        solution: u(x, y, t).
        grid: with a bounded Omega_x.
        t: the time.
    """
    assert isinstance(grid.tokens, UniformGrid)
    x, y = np.expand_dims(grid.tokens.nodes, 1), grid.features.nodes[None, :]
    shape = (grid.tokens.size, grid.features.size)
    return np.array(np.broadcast_to(np.asarray(solution(x, y, t)), shape))


def manufactured_solution(text: str, setting: Setting) -> OnPoints:
    """u* of an expression in x (or x1, x2), y and t."""
    names = (*token_variables(setting.config), "y", "t")
    return setting.function(text, names, (setting.tokens.dimension, 1))[0]


def _mean_field(setting: Setting) -> MeanField:
    attention = build_equation(setting).terms["attention"]
    assert isinstance(attention, IntegralAttention)
    assert isinstance(attention.value, LinearIntegral)
    assert isinstance(attention.output, LinearIntegral)
    kernel, output = attention.value.kernel, attention.output.kernel
    assert isinstance(kernel, SeparableKernel)
    _refuse_time(kernel.time_dependent or output.time_dependent)
    inner = _still(kernel.right[0])

    def right(y: ArrayLike) -> np.ndarray:
        """c(y) = int W^O(zeta, eta; y) c(zeta, eta) dzeta deta, for y of any shape."""
        flat = np.asarray(y).reshape(-1)

        def values(z: np.ndarray) -> np.ndarray:
            product = output(z[None], flat[:, None], 0.0) * inner(z)
            return np.broadcast_to(product, (len(flat), len(z)))

        return integral(values, setting.heads).reshape(np.shape(y))

    return MeanField(
        _initial(setting), _still(kernel.left[0]), right, setting.tokens, setting.features
    )


def _sphere(setting: Setting) -> SphereFlow:
    form, dense = setting.config.equation, build_equation(setting).terms["dense_1"]
    assert isinstance(form, FlowEquation) and form.moments is not None
    assert isinstance(dense, LinearIntegral)
    kernel = dense.kernel
    assert isinstance(kernel, SeparableKernel)
    _refuse_time(kernel.time_dependent)
    return SphereFlow(
        _initial(setting),
        tuple(_still(a) for a in kernel.left),
        tuple(_still(c) for c in kernel.right),
        setting.tokens,
        setting.features,
        form.moments.deviation,
    )


def _reflection(setting: Setting) -> Reflection:
    form = setting.config.equation
    assert isinstance(form, FlowEquation) and form.source is not None
    source = manufactured_solution(form.source.expression, setting)
    return Reflection(_initial(setting), source, setting.tokens)


_CLOSED_FORMS: dict[str, Callable[[Setting], Solution]] = {
    "mean-field": _mean_field,
    "sphere": _sphere,
    "reflection": _reflection,
}


def _still(field: Field) -> Callable[[ArrayLike], np.ndarray]:
    """A field that is constant in t, as a function of points."""
    return lambda y: np.asarray(field(y, 0.0))


def _initial(setting: Setting) -> OnPoints:
    initial = setting.config.initial
    if not isinstance(initial, ExpressionInitial):
        raise ValueError(
            "a closed form needs the initial state as an expression, found another kind; set "
            "initial = { expression = ... }"
        )
    return setting.initial(initial.expression)


def _refuse_time(varies: bool) -> None:
    if varies:
        raise ValueError("a closed form needs kernels that are constant in t, found one with t")

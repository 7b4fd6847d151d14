"""discretize(equation, grid): what it accepts, and the numbers it sets."""

import jax.numpy as jnp
import numpy as np
import pytest

from continuum import CellField, CellKernel, LinearIntegral, interval, prenorm_flow
from discretize import Grid, TokenGrid, UniformGrid, discretize

Y = interval(4, "Omega_y")


def equation(dtype=jnp.float64, horizon=3.0, tokens=None):
    operator = LinearIntegral(
        CellKernel(jnp.ones((1, 4, 4), dtype), Y, Y), CellField(jnp.ones((1, 4), dtype), Y)
    )
    return prenorm_flow(operator, operator, horizon=horizon, tokens=tokens)


def grid(tokens=None, features=None):
    return Grid(tokens or TokenGrid(), features or UniformGrid(Y, (4,)))


def test_one_step_per_unit_of_depth_unless_told():
    assert discretize(equation(), grid()).num_steps == 3
    assert discretize(equation(horizon=0.2), grid()).num_steps == 1
    assert discretize(equation(), grid(), num_steps=12).num_steps == 12


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_the_dtype_is_that_of_the_weights(dtype):
    assert discretize(equation(dtype), grid()).dtype == np.dtype(dtype)


def test_refine_keeps_the_equation_and_the_steps():
    problem = discretize(equation(), grid(), num_steps=5)
    fine = problem.refine(2, 3)
    assert fine.equation is problem.equation
    assert fine.num_steps == 5
    assert fine.grid == Grid(TokenGrid(2), UniformGrid(Y, (12,)))


BAD = {
    "features of another domain": (
        lambda: discretize(equation(), grid(features=UniformGrid(interval(5, "Omega_y"), (5,)))),
        r"a feature grid on Omega_y = \[0, 4\], got one on Omega_y = \[0, 5\]",
    ),
    "tokens of another domain": (
        lambda: discretize(
            equation(tokens=interval(2, "Omega_x")),
            grid(tokens=UniformGrid(interval(3, "Omega_x"), (3,))),
        ),
        r"a token grid on Omega_x = \[0, 2\], got one on Omega_x = \[0, 3\]",
    ),
    "no steps": (
        lambda: discretize(equation(), grid(), num_steps=0),
        "expected num_steps >= 1, got 0",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_grids_that_do_not_fit_are_refused(case):
    build, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        build()

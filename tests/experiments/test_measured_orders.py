"""Measuring orders: fits, norms, and the result of a study."""

import math

import numpy as np
import pytest
import scipy.integrate
from hypothesis import given
from hypothesis import strategies as st

from continuum import interval
from discretize import Grid, UniformGrid
from discretize.quadrature import SIMPSON, TRAPEZOID
from experiments.convergence.norms import l2, maximum
from experiments.convergence.orders import fit, local_orders
from experiments.convergence.result import StudyResult


@given(st.floats(0.5, 5), st.floats(1e-3, 10), st.integers(3, 8))
def test_a_power_has_its_exponent_as_order(order, factor, count):
    steps = 2.0 ** -np.arange(count)
    errors = factor * steps**order
    assert fit(steps, errors).order == pytest.approx(order, rel=1e-9)
    assert local_orders(steps, errors) == pytest.approx([order] * (count - 1), rel=1e-9)


def test_a_fit_takes_the_finest_five_above_the_floor():
    steps = 2.0 ** -np.arange(9)
    errors = np.maximum(steps**2, 1e-5)  # order 2, then a floor; the first two are spoiled
    errors[:2] = 7.0
    found = fit(steps, errors, floor=5e-6)
    assert found.used == (False,) * 3 + (True,) * 5 + (False,)
    assert found.order == pytest.approx(2, abs=0.01)
    clean = fit(steps, steps**2)
    assert clean.used == (False,) * 4 + (True,) * 5 and clean.order == pytest.approx(2)


def test_errors_that_are_no_numbers_are_left_out():
    steps, errors = [1.0, 0.5, 0.25, 0.125], [math.nan, 0.25, 0.0, 0.25 / 16]
    found = fit(steps, errors)
    assert found.used == (False, True, False, True) and found.order == pytest.approx(2)
    assert local_orders(steps, errors) == (None, None, None)
    assert fit([1.0, 0.5], [math.inf, 0.1]).order is None


def grid(rule):
    return Grid(
        UniformGrid(interval(2, "Omega_x"), (40,), rule),
        UniformGrid(interval(3, "Omega_y"), (40,), rule),
    )


@pytest.mark.parametrize("rule", [TRAPEZOID, SIMPSON])
def test_the_l2_norm_is_the_root_of_the_mean_square(rule):
    g = grid(rule)
    values = np.sin(g.tokens.nodes)[:, None] * np.exp(-g.features.nodes)
    square, _ = scipy.integrate.dblquad(lambda y, x: (np.sin(x) * np.exp(-y)) ** 2, 0, 2, 0, 3)
    # the rule's own error with 40 cells; weights left out would be off by 3 percent
    tolerance = 3e-3 if rule is TRAPEZOID else 1e-5
    assert l2(values, g) == pytest.approx(math.sqrt(square / 6), rel=tolerance)
    assert maximum(values, g) == np.abs(values).max()


def test_of_a_batch_the_worst_sample_counts_and_padding_does_not():
    g = grid(TRAPEZOID)
    values = np.ones((2, *[41, 41]))
    values[1] *= 3
    values[:, 20:] = 1e6
    mask = np.broadcast_to(np.arange(41) < 20, (2, 41))
    assert l2(values, g, mask) == pytest.approx(3)
    assert maximum(values, g, mask) == 3


def study(**changes):
    fields = {
        "name": "midpoint",
        "axis": "space",
        "sizes": (4, 8),
        "steps": (0.25, 0.125),
        "errors": (4e-2, 1e-2),
        "errors_l2": (4e-2, 1e-2),
        "errors_max": (8e-2, math.nan),
        "local_orders": (2.0,),
        "fitted_order": 2.0,
        "used": (True, True),
        "declared_order": 2.0,
        "violations": {"s1": (0.0, 1e-16)},
        "reference": "a closed form",
        "norm": "l2",
        "floor": 1e-14,
        "reason": "the midpoint rule in x",
    }
    return StudyResult(**fields | changes)


@pytest.mark.parametrize(
    ("changes", "passed"),
    [
        ({}, True),
        ({"fitted_order": 2.05}, True),
        ({"fitted_order": 2.06}, False),
        ({"fitted_order": 1.94}, False),
        ({"fitted_order": None}, False),
        ({"declared_order": None}, None),
        ({"declared_order": math.inf}, False),
        ({"declared_order": math.inf, "errors": (1e-3, 1e-13)}, True),
    ],
)
def test_a_study_passes_within_the_tolerance(changes, passed):
    assert study(**changes).passed is passed


def test_results_survive_json(tmp_path):
    from experiments.results import read_convergence, write_convergence

    results = [study(), study(name="periodic", declared_order=math.inf, ill_posed=("why",))]
    rows = [row for result in results for row in result.rows()]
    write_convergence(tmp_path, {"studies": [result.as_data() for result in results]}, rows)
    data = read_convergence(tmp_path)["studies"]
    keys = {"name", "axis", "sizes", "errors", "local_orders", "fitted_order", "declared_order"}
    assert keys | {"violations"} <= data[0].keys()
    assert data[1]["declared_order"] == "spectral" and data[0]["errors_max"][1] is None
    for result, stored in zip(results, data, strict=True):
        np.testing.assert_equal(vars(StudyResult.from_data(stored)), vars(result))
    table = (tmp_path / "convergence.csv").read_text().splitlines()
    assert len(table) == 5 and table[0].startswith("study,axis,size,step,error")
    assert table[1].split(",")[:5] == ["midpoint", "space", "4", "0.25", "0.04"]

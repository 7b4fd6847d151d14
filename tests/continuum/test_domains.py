"""Domains: measure, products, and what is refused."""

import math

import pytest

from continuum import Domain, interval, token_axis


def test_measure_is_the_product_of_the_edges():
    box = Domain((-1.0, 2.0, 0.0), (1.0, 2.5, 3.0), "Omega")
    assert box.dimension == 3
    assert box.extents == (2.0, 0.5, 3.0)
    assert box.measure == 3.0  # exact: the edges are dyadic


def test_interval_starts_at_zero():
    assert interval(4, "Omega_y") == Domain((0.0,), (4.0,), "Omega_y")


def test_product_puts_the_first_coordinates_first():
    product = interval(2, "Omega_h") * Domain((-1.0,), (3.0,), "Omega_eta")
    assert product == Domain((0.0, -1.0), (2.0, 3.0), "Omega_h x Omega_eta")
    assert product.measure == 8.0


def test_token_axis_has_no_end_until_data_decide():
    axis = token_axis()
    assert axis.lower == (0.0,) and math.isinf(axis.measure)
    assert str(axis) == "Omega_x = [0, N]"
    assert str(interval(384, "Omega_y")) == "Omega_y = [0, 384]"


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        (
            (1.0,),
            (1.0,),
            r"upper end must lie above a finite lower end, got lower=\(1.0,\) and upper=",
        ),
        ((0.0, 2.0), (1.0, 1.0), "upper end must lie above a finite lower end"),
        ((-math.inf,), (0.0,), "finite lower end"),
        ((0.0,), (math.nan,), "upper end must lie above"),
        ((0.0, 0.0), (1.0,), r"corners of one length, got lower=\(0.0, 0.0\) and upper=\(1.0,\)"),
    ],
)
def test_bad_corners_are_refused(lower, upper, message):
    with pytest.raises(ValueError, match=f"Omega_y: .*{message}"):
        Domain(lower, upper, "Omega_y")

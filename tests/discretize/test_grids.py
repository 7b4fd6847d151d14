"""Grids and quadrature: exact where they should be, and inexact where they should not."""

import jax.numpy as jnp
import numpy as np
import pytest

from continuum import Domain, interval, token_axis
from discretize import Grid, TokenGrid, UniformGrid
from discretize.quadrature import LEFT, MIDPOINT, RULES, SIMPSON, TRAPEZOID
from discretize.transfer import lift
from tests.helpers import UNEQUAL, slope

BOX = Domain((-1.0,), (2.0,), "Omega_y")
PLANE = Domain((0.0, -1.0), (2.0, 2.0), "Omega_x")
HEADS = interval(3, "Omega_h") * interval(2, "Omega_eta")


def integral(grid, function):
    return float(grid.integrate(grid.sample(function)))


def test_nodes_are_cell_centres_and_weights_cell_lengths():
    grid = UniformGrid(BOX, (4,))
    np.testing.assert_array_equal(grid.nodes, [-0.625, 0.125, 0.875, 1.625])
    np.testing.assert_array_equal(grid.weights, [0.75] * 4)
    assert (grid.size, grid.spacing) == (4, (0.75,))


def test_a_plane_is_flat_with_the_last_coordinate_fastest():
    grid = UniformGrid(PLANE, (2, 3))
    expected = [[0.5, -0.5], [0.5, 0.5], [0.5, 1.5], [1.5, -0.5], [1.5, 0.5], [1.5, 1.5]]
    np.testing.assert_array_equal(grid.nodes, expected)
    np.testing.assert_array_equal(grid.weights, [1.0] * 6)


ALL_RULES = {**RULES, "unequal": UNEQUAL}


@pytest.mark.parametrize("name", ALL_RULES)
@pytest.mark.parametrize(("domain", "cells"), [(BOX, (8,)), (PLANE, (4, 6))])
def test_weights_sum_to_the_measure(name, domain, cells):
    grid = UniformGrid(domain, cells, ALL_RULES[name])
    assert grid.weights.sum() == pytest.approx(domain.measure, rel=1e-15)  # round-off
    assert float(grid.mean(jnp.ones(grid.size))[0]) == pytest.approx(1.0, rel=1e-15)
    assert grid.size == grid.weights.size == len(grid.nodes) == np.prod(grid.shape)
    assert grid.equal_weights == (name in ("midpoint", "left", "periodic"))


def power(low, high, degree):
    """Int y^degree from low to high."""
    return (high ** (degree + 1) - low ** (degree + 1)) / (degree + 1)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_has_the_degree_it_declares_and_no_more(name):
    rule = RULES[name]
    for cells in (2, 6):
        grid = UniformGrid(BOX, (cells,), rule)
        for degree in range(rule.degree + 2):
            exact = power(-1.0, 2.0, degree)
            error = abs(integral(grid, lambda y, p=degree: y**p) - exact)
            if degree <= rule.degree:
                assert error < 1e-14  # round-off of a sum of numbers up to 8
            else:
                assert error > 1e-3


@pytest.mark.parametrize("name", RULES)
def test_on_a_plane_a_rule_has_its_degree_in_each_coordinate(name):
    """Exact for y1^p y2^q with both p and q up to the degree, and not one beyond in either."""
    rule = RULES[name]
    grid = UniformGrid(PLANE, (4, 6), rule)
    for p in range(rule.degree + 2):
        for q in range(rule.degree + 2):
            exact = power(0.0, 2.0, p) * power(-1.0, 2.0, q)
            error = abs(integral(grid, lambda x, p=p, q=q: x[..., 0] ** p * x[..., 1] ** q) - exact)
            if max(p, q) <= rule.degree:
                assert error < 1e-13  # round-off of a sum of numbers up to 64
            else:
                assert error > 1e-3


@pytest.mark.parametrize("cells", [1, 4, 7])
def test_periodic_nodes_integrate_waves_up_to_their_number(cells):
    """Frequencies below n exactly, n itself not: there every node sees the same value."""
    grid = UniformGrid(BOX, (cells,), RULES["periodic"])

    def wave(frequency, function):
        return integral(grid, lambda y: function(2 * np.pi * frequency * (y + 1.0) / 3.0))

    for frequency in range(1, cells):
        for function in (np.cos, np.sin):
            assert abs(wave(frequency, function)) < 1e-13  # round-off
    assert wave(cells, np.cos) == pytest.approx(-3.0, rel=1e-13)


def test_the_midpoint_error_is_the_known_one():
    """-h^3 / 12 for y^2 on every cell, and exact for products of linear functions on a plane."""
    for cells in (1, 2, 5):
        h = 3.0 / cells
        found = integral(UniformGrid(BOX, (cells,)), lambda y: y**2)
        assert found == pytest.approx(3.0 - cells * h**3 / 12, rel=1e-14)
    plane = UniformGrid(PLANE, (2, 3))
    bilinear = integral(plane, lambda x: (1.0 + x[..., 0]) * (2.0 + 2.0 * x[..., 1]))
    assert bilinear == pytest.approx(4.0 * 9.0, rel=1e-15)


ALGEBRAIC = [name for name, rule in RULES.items() if np.isfinite(rule.order)]


@pytest.mark.parametrize("name", ALGEBRAIC)
def test_a_rule_has_the_order_it_declares(name):
    rule, sizes = RULES[name], 2 ** np.arange(3, 8)
    exact = np.exp(2.0) - np.exp(-1.0)
    errors = [abs(integral(UniformGrid(BOX, (int(n),), rule), np.exp) - exact) for n in sizes]
    assert errors[-1] > 1e-10  # above round-off, so that the slope means something
    assert slope(sizes, errors) == pytest.approx(rule.order, abs=0.05)


@pytest.mark.parametrize("name", ALGEBRAIC)
def test_on_a_plane_too(name):
    rule, sizes = RULES[name], 2 ** np.arange(3, 7)
    exact = (np.exp(2.0) - 1.0) * (np.exp(2.0) - np.exp(-1.0))
    grids = [UniformGrid(PLANE, (int(n), 2 * int(n)), rule) for n in sizes]
    errors = [abs(integral(g, lambda x: np.exp(x[..., 0] + x[..., 1])) - exact) for g in grids]
    assert errors[-1] > 1e-7  # above round-off of sums of numbers up to 400
    assert slope(sizes, errors) == pytest.approx(rule.order, abs=0.05)


def test_the_periodic_rule_is_faster_than_any_power():
    """Int exp(cos) over a period is 2 pi I_0(1) / (2 pi) |Omega|; not periodic, it has order 2."""
    from scipy.special import iv

    def errors(function, exact, sizes):
        grids = [UniformGrid(BOX, (int(n),), RULES["periodic"]) for n in sizes]
        return np.array([abs(integral(g, function) - exact) for g in grids])

    sizes = np.array([2, 4, 6, 8, 10])
    found = errors(lambda y: np.exp(np.cos(2 * np.pi * y / 3)), 3 * iv(0, 1.0), sizes)
    local = np.log(found[:-1] / found[1:]) / np.log(sizes[1:] / sizes[:-1])
    assert np.all(np.diff(local) > 1.0) and local[-1] > 8
    finest = errors(lambda y: np.exp(np.cos(2 * np.pi * y / 3)), 3 * iv(0, 1.0), [16])
    assert finest[0] <= 1e-14
    sizes = 2 ** np.arange(3, 8)
    plain = errors(np.exp, np.exp(2.0) - np.exp(-1.0), sizes)
    assert slope(sizes, plain) == pytest.approx(2.0, abs=0.05)


def test_each_coordinate_may_have_its_own_rule():
    """Degree 1 in the first coordinate (trapezoid), 3 in the second (Simpson)."""
    grid = UniformGrid(PLANE, (3, 4), (TRAPEZOID, SIMPSON))
    assert grid.shape == (4, 5) and grid.rules == (TRAPEZOID, SIMPSON)
    assert grid.refine(2).rules == grid.rules
    exact = power(0.0, 2.0, 1) * power(-1.0, 2.0, 3)
    found = integral(grid, lambda x: x[..., 0] * x[..., 1] ** 3)
    assert found == pytest.approx(exact, rel=1e-14)
    exact = power(0.0, 2.0, 3) * power(-1.0, 2.0, 1)
    assert abs(integral(grid, lambda x: x[..., 0] ** 3 * x[..., 1]) - exact) > 0.1
    np.testing.assert_allclose(
        grid.weights,
        np.outer(grid.spacing[0] * TRAPEZOID.weights(3), [0.25, 1, 0.5, 1, 0.25]).ravel(),
        rtol=1e-15,
    )


def test_grids_with_the_same_rules_are_the_same_grid():
    one, other = UniformGrid(PLANE, (2, 4), SIMPSON), UniformGrid(PLANE, (2, 4), (SIMPSON, SIMPSON))
    assert one == other and hash(one) == hash(other) and other.rule is SIMPSON
    assert UniformGrid(BOX, (4,), (SIMPSON,)) == UniformGrid(BOX, (4,), SIMPSON)
    assert one != UniformGrid(PLANE, (2, 4), (MIDPOINT, SIMPSON))
    assert UniformGrid(PLANE, (2, 4)).rules == (MIDPOINT, MIDPOINT)


def test_means_need_the_weights_of_the_rule():
    """With end points of half weight the weighted mean has order 2 and the plain one order 1."""
    sizes = 2 ** np.arange(4, 9)
    exact = (np.exp(2.0) - np.exp(-1.0)) / 3.0
    grids = [UniformGrid(BOX, (int(n),), TRAPEZOID) for n in sizes]
    values = [grid.sample(np.exp) for grid in grids]
    weighted = [abs(float(g.mean(v)[0]) - exact) for g, v in zip(grids, values, strict=True)]
    plain = [abs(float(np.mean(v)) - exact) for v in values]
    assert slope(sizes, weighted) == pytest.approx(2.0, abs=0.05)
    assert slope(sizes, plain) == pytest.approx(1.0, abs=0.05)


def test_grids_are_midpoint_grids_unless_told():
    assert UniformGrid(BOX, (4,)).rule is TokenGrid().rule is MIDPOINT


@pytest.mark.parametrize("factor", [2, 3, 5])
def test_midpoint_nodes_nest_under_odd_factors_only(factor):
    coarse = UniformGrid(BOX, (4,))
    fine = coarse.refine(factor)
    assert fine.cells == (4 * factor,)
    gaps = np.abs(coarse.nodes[:, None] - fine.nodes).min(axis=1)
    if factor % 2:
        np.testing.assert_allclose(gaps, 0.0, atol=1e-15)  # round-off of nodes of size 1
        # the shared nodes are the middle ones of each group
        shared = fine.nodes.reshape(4, factor)[:, factor // 2]
        np.testing.assert_allclose(shared, coarse.nodes, atol=1e-15)
    else:
        assert gaps.min() > 0.1


def test_refined_cells_partition_the_coarse_ones():
    coarse, fine = UniformGrid(PLANE, (2, 3)), UniformGrid(PLANE, (2, 3)).refine(2)
    assert fine.cells == (4, 6)
    assert fine.weights.sum() == coarse.weights.sum()


def test_lift_repeats_cells():
    u = jnp.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(lift(u, 2, 1), [[1, 2], [1, 2], [3, 4], [3, 4]])
    np.testing.assert_array_equal(lift(u, 1, 3), [[1, 1, 1, 2, 2, 2], [3, 3, 3, 4, 4, 4]])


def test_the_token_grid_gives_every_token_its_unit_cell():
    grid = TokenGrid().of(5)
    assert grid.domain == interval(5, "Omega_x")
    np.testing.assert_array_equal(grid.nodes, np.arange(5) + 0.5)
    fine = TokenGrid().refine(3).of(15)
    assert fine.domain == interval(5, "Omega_x")
    np.testing.assert_allclose(fine.nodes[1::3], np.arange(5) + 0.5, atol=1e-15)
    np.testing.assert_allclose(fine.weights, 1 / 3, rtol=1e-15)


def test_auxiliary_grids_take_the_spacing_of_the_features():
    grid = Grid(TokenGrid(), UniformGrid(interval(4, "Omega_y"), (8,)))
    assert grid.auxiliary(interval(4, "Omega_y")) is grid.features
    assert grid.auxiliary(interval(6, "Omega_v")).cells == (12,)
    assert grid.auxiliary(HEADS).cells == (3, 4)  # a head is one cell, its features are refined
    assert grid.refine(features=3).auxiliary(HEADS).cells == (3, 12)
    assert grid.refine(tokens=5).tokens.refinement == 5
    fixed = Grid(TokenGrid(), grid.features, head_cells=6)
    assert fixed.auxiliary(HEADS).cells == (6, 4)


def test_the_head_coordinate_has_cells_and_a_rule_of_its_own():
    """Simpson's rule pairs cells of eta; a single head need not be two for it."""
    features = UniformGrid(interval(4, "Omega_y"), (8,), SIMPSON)
    heads = interval(1, "Omega_h") * interval(2, "Omega_eta")
    grid = Grid(TokenGrid(), features)
    found = grid.auxiliary(heads)
    assert found.cells == (1, 4) and found.rules == (MIDPOINT, SIMPSON) and found.shape == (1, 5)
    np.testing.assert_allclose(found.weights, 0.5 * SIMPSON.weights(4), rtol=1e-15)
    for rule, nodes in ((LEFT, 3), (TRAPEZOID, 4)):
        chosen = Grid(TokenGrid(), features, head_rule=rule).auxiliary(HEADS)
        assert chosen.rules == (rule, SIMPSON) and chosen.shape == (nodes, 5)
    assert Grid(TokenGrid(), features, head_rule=SIMPSON).refine(heads=2).auxiliary(HEADS).rule is (
        SIMPSON
    )


def test_heads_are_refined_like_the_other_axes():
    grid = Grid(TokenGrid(), UniformGrid(interval(4, "Omega_y"), (8,)))
    assert grid.refine(heads=2).auxiliary(HEADS).cells == (6, 4)
    assert grid.refine(heads=2).refine(features=3, heads=3).auxiliary(HEADS).cells == (18, 12)
    fixed = Grid(TokenGrid(), grid.features, head_cells=5)
    assert fixed.refine(heads=2).auxiliary(HEADS).cells == (10, 4)
    assert grid.refine(heads=2).features == grid.features


def test_a_coarse_feature_grid_leaves_the_heads_whole():
    """The spacing of the features (2 here) has no say along the head coordinate (3 long)."""
    grid = Grid(TokenGrid(), UniformGrid(interval(4, "Omega_y"), (2,)))
    assert grid.auxiliary(HEADS).cells == (3, 1)


FEATURES = UniformGrid(interval(4, "Omega_y"), (8,))
BAD = {
    "an unbounded domain": (
        lambda: UniformGrid(token_axis(), (4,)),
        r"expected a bounded domain, got Omega_x = \[0, N\]",
    ),
    "one count for a plane": (
        lambda: UniformGrid(PLANE, (4,)),
        r"expected 2 positive cell counts for Omega_x = .*, got \(4,\)",
    ),
    "no cells": (lambda: UniformGrid(BOX, (0,)), r"expected 1 positive cell counts .* got \(0,\)"),
    "refinement 0": (lambda: TokenGrid(0), "expected refinement >= 1, got 0"),
    "a broken unit cell": (
        lambda: TokenGrid(3).of(7),
        r"expected a positive multiple of 3 tokens .* got 7",
    ),
    "no tokens": (lambda: TokenGrid().of(0), "expected a positive multiple of 1 tokens .* got 0"),
    "a rule with other nodes than cells": (
        lambda: TokenGrid(rule=TRAPEZOID),
        "TokenGrid: expected a rule with one node per cell, got trapezoid",
    ),
    "two rules for one coordinate": (
        lambda: UniformGrid(BOX, (4,), (MIDPOINT, SIMPSON)),
        "expected one rule, or 1 of them for Omega_y .* got 2",
    ),
    "no head cells": (
        lambda: Grid(TokenGrid(), FEATURES, head_cells=0),
        "Grid: expected head_cells >= 1, got 0",
    ),
    "an odd number of cells for pairs": (
        lambda: UniformGrid(BOX, (5,), RULES["simpson"]).weights,
        "expected an even number of cells, got 5; use 4 or 6",
    ),
    "a fixed grid and other tokens": (
        lambda: UniformGrid(PLANE, (2, 3)).of(5),
        "expected a state with 6 tokens, the nodes of the grid on Omega_x .* got 5",
    ),
    "a length between cells": (
        lambda: Grid(TokenGrid(), FEATURES).auxiliary(interval(5.25, "Omega_v")),
        r"Omega_v = \[0, 5.25\]: the length 5.25 is not a whole number of cells of 0.5",
    ),
    "a length below a cell": (
        lambda: Grid(TokenGrid(), FEATURES).auxiliary(interval(0.1, "Omega_v")),
        "the length 0.1 is not a whole number of cells of 0.5",
    ),
    "a broken head": (
        lambda: Grid(TokenGrid(), FEATURES).auxiliary(
            interval(2.5, "Omega_h") * interval(2, "Omega_eta")
        ),
        r"the length 2.5 is not a whole number of cells of 1",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_grids_are_refused(case):
    build, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        build()

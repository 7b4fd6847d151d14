"""States moved between grids: exact at shared nodes, exact for cell values, refused otherwise."""

import jax.numpy as jnp
import numpy as np
import pytest

from continuum import Domain
from discretize import UniformGrid
from discretize.quadrature import LEFT, MIDPOINT, PERIODIC, SIMPSON, TRAPEZOID
from discretize.transfer import average, inject, lift, lift_cells

BOX = Domain((-1.0,), (2.0,), "Omega_y")
PLANE = Domain((0.0, -1.0), (2.0, 2.0), "Omega_x")


def bumpy(points):
    return np.sin(3 * points) if points.ndim == 1 else np.sin(3 * points[:, 0]) + points[:, 1] ** 3


NESTING = [
    (MIDPOINT, (3, 9)),
    (PERIODIC, (3, 5)),
    (TRAPEZOID, (2, 3)),
    (LEFT, (2, 3)),
    (SIMPSON, (2, 3)),
]


@pytest.mark.parametrize(("rule", "factors"), NESTING, ids=[rule.name for rule, _ in NESTING])
@pytest.mark.parametrize(("domain", "cells"), [(BOX, (4,)), (PLANE, (2, 4))], ids=["box", "plane"])
def test_injection_takes_the_values_at_shared_nodes(rule, factors, domain, cells):
    coarse = UniformGrid(domain, cells, rule)
    for factor in factors:
        fine = coarse.refine(factor)
        # the nodes agree but for rounding, and |f'| is up to 12
        expected = bumpy(coarse.nodes)
        found = inject(bumpy(fine.nodes), fine, coarse, 0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
        # along any axis: the others are batches
        stacked = np.stack([bumpy(fine.nodes), 2 * bumpy(fine.nodes)])[:, :, None]
        found = inject(stacked, fine, coarse, -2)
        np.testing.assert_allclose(found[1, :, 0], 2 * expected, rtol=0, atol=1e-13)


def test_injection_from_one_rule_to_another():
    """Matching is by place: every second trapezoid node is a midpoint of cells twice as long."""
    fine, coarse = UniformGrid(BOX, (8,), TRAPEZOID), UniformGrid(BOX, (4,))
    found = inject(bumpy(fine.nodes), fine, coarse, 0)
    np.testing.assert_allclose(found, bumpy(coarse.nodes), atol=1e-14)


def test_coordinates_may_be_refined_by_different_factors():
    fine = UniformGrid(PLANE, (6, 12), (MIDPOINT, TRAPEZOID))
    coarse = UniformGrid(PLANE, (2, 6), (MIDPOINT, TRAPEZOID))
    found = inject(bumpy(fine.nodes), fine, coarse, 0)
    np.testing.assert_allclose(found, bumpy(coarse.nodes), atol=1e-13)


@pytest.mark.parametrize("rule", [MIDPOINT, LEFT, PERIODIC])
def test_averages_undo_lifting_and_are_the_means_of_cells(rule):
    coarse, fine = UniformGrid(PLANE, (2, 3), rule), UniformGrid(PLANE, (4, 9), rule)
    values = np.random.default_rng(0).standard_normal((5, 6, 2))
    lifted = lift_cells(values, coarse, fine, 1)
    assert lifted.shape == (5, 36, 2)
    # by hand: fine cell (i, j) lies in coarse cell (i // 2, j // 3)
    grid = np.asarray(lifted).reshape(5, 4, 9, 2)
    shaped = values.reshape(5, 2, 3, 2)
    for i in range(4):
        for j in range(9):
            np.testing.assert_array_equal(grid[:, i, j], shaped[:, i // 2, j // 3])
    np.testing.assert_allclose(average(lifted, fine, coarse, 1), values, rtol=1e-15)
    noise = np.random.default_rng(1).standard_normal((36,))
    expected = noise.reshape(2, 2, 3, 3).mean(axis=(1, 3)).reshape(6)
    np.testing.assert_allclose(average(noise, fine, coarse, 0), expected, rtol=1e-14)


def test_lifting_by_grids_is_lifting_by_factors():
    coarse, fine = UniformGrid(BOX, (3,)), UniformGrid(BOX, (6,))
    u = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(lift_cells(u, coarse, fine, -1), lift(jnp.asarray(u), 1, 2))


def test_the_average_of_a_smooth_function_is_off_by_its_curvature():
    """(h^2 - h_fine^2) / 24 f'' for f = y^2, exactly."""
    coarse, fine = UniformGrid(BOX, (3,)), UniformGrid(BOX, (12,))
    found = average(fine.nodes**2, fine, coarse, 0)
    np.testing.assert_allclose(found - coarse.nodes**2, (1 - 1 / 16) / 12, rtol=1e-13)


def grids(rule=MIDPOINT, fine=8, coarse=4, domain=BOX):
    return UniformGrid(domain, (fine,), rule), UniformGrid(BOX, (coarse,), rule)


OTHER = Domain((0.0,), (3.0,), "Omega_v")
REFUSED = {
    "an even factor of midpoints": (
        lambda: inject(np.zeros(8), *grids(), 0),
        r"of 4 cells \(midpoint\) are no nodes of 8 cells \(midpoint\) .* odd factor",
    ),
    "no whole factor": (
        lambda: inject(np.zeros(8), *grids(TRAPEZOID, 7, 3), 0),
        r"of 3 cells \(trapezoid\) are no nodes of 7 cells \(trapezoid\) .* whole factor",
    ),
    "another domain": (
        lambda: inject(np.zeros(12), *grids(fine=12, domain=OTHER), 0),
        "inject: expected two grids of one domain, got Omega_v",
    ),
    "another length": (
        lambda: inject(np.zeros((12, 2)), *grids(fine=12), 1),
        "inject: expected 12 values along axis 1, one for each node, got 2",
    ),
    "averages of other nodes": (
        lambda: average(np.zeros(9), *grids(TRAPEZOID), 0),
        "average: expected two grids of one domain with one node per cell",
    ),
    "averages over parts of cells": (
        lambda: average(np.zeros(8), *grids(coarse=3), 0),
        r"average: .* got \(8,\) cells .* and \(3,\)",
    ),
    "averages of another length": (
        lambda: average(np.zeros(4), *grids(), 0),
        "average: expected 8 values along axis 0, one for each node, got 4",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_grids_that_do_not_fit_are_refused(case):
    run, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        run()

"""Atoms beside a box: class tokens as points of measure one."""

import jax.numpy as jnp
import numpy as np
import pytest

from continuum import Domain, interval
from discretize import AtomicGrid, Grid, TokenGrid, UniformGrid
from discretize.operators import TokenMeasure
from discretize.operators.positions import places
from discretize.transfer import lift_state

PLANE = Domain((0.0, 0.0), (2.0, 3.0), "Omega_x")
BOX = UniformGrid(PLANE, (2, 3))
Y = interval(2, "Omega_y")


def test_an_atom_adds_its_own_measure():
    grid = AtomicGrid(BOX)
    assert str(grid.domain) == "Omega_x = 1 atom + [0, 2] x [0, 3]"
    assert grid.domain.measure == grid.weights.sum() == 7.0
    assert (grid.size, grid.shape, grid.of(7)) == (7, (7,), grid)


def test_cells_shrink_beside_an_atom_that_keeps_its_weight():
    fine = AtomicGrid(BOX, atoms=2).refine(3)
    np.testing.assert_array_equal(fine.weights[:2], 1.0)
    np.testing.assert_allclose(fine.weights[2:], 1 / 9, rtol=1e-15)
    assert fine.weights.sum() == pytest.approx(fine.domain.measure, rel=1e-14)
    assert not fine.equal_weights
    assert AtomicGrid(BOX).equal_weights
    # so the log weights that the softmax adds differ, and cancel on the unit grid
    assert TokenMeasure.build(AtomicGrid(BOX), None, np.dtype(float)).log_weights is None
    found = TokenMeasure.build(fine, None, np.dtype(float)).log_weights
    np.testing.assert_allclose(found, np.log(fine.weights), rtol=1e-15)


def test_states_are_lifted_with_atoms_first():
    coarse = Grid(AtomicGrid(BOX), UniformGrid(Y, (2,)))
    u = np.arange(14.0).reshape(7, 2)
    found = np.asarray(lift_state(u, coarse, coarse.refine(tokens=2, features=2)))
    np.testing.assert_array_equal(found[0], [0, 0, 1, 1])
    image = u[1:].reshape(2, 3, 2)
    expected = image.repeat(2, 0).repeat(2, 1).repeat(2, 2).reshape(24, 4)
    np.testing.assert_array_equal(found[1:], expected)


def test_states_of_a_token_axis_and_of_a_box_are_lifted():
    features = UniformGrid(Y, (2,))
    u = np.arange(12.0).reshape(6, 2)
    axis = Grid(TokenGrid(), features)
    np.testing.assert_array_equal(lift_state(u, axis, axis.refine(tokens=3)), u.repeat(3, 0))
    plane = Grid(BOX, features)
    image = u.reshape(2, 3, 2).repeat(2, 0).repeat(2, 1).reshape(24, 2)
    np.testing.assert_array_equal(lift_state(jnp.asarray(u), plane, plane.refine(tokens=2)), image)


BAD = {
    "no atoms": (lambda: AtomicGrid(BOX, 0), "expected atoms >= 1 .* got 0 of 1.0"),
    "an atom without weight": (lambda: AtomicGrid(BOX, 1, 0.0), "weight > 0, got 1 of 0.0"),
    "fewer than no atoms": (lambda: Domain((0.0,), (1.0,), atoms=-1), "atoms >= 0, got -1"),
    "another size": (lambda: AtomicGrid(BOX).of(6), r"7 tokens \(1 atoms .*got 6"),
    "coordinates": (lambda: AtomicGrid(BOX).nodes, "have no coordinates"),
    "positions of an image": (
        lambda: places(BOX, "cell"),
        "needs a one-dimensional Omega_x, got Omega_x",
    ),
    "positions beside an atom": (
        lambda: places(AtomicGrid(BOX), "cell"),
        "needs a one-dimensional Omega_x, got Omega_x = 1 atom",
    ),
    "grids of two kinds": (
        lambda: lift_state(
            np.zeros((7, 2)),
            Grid(AtomicGrid(BOX), UniformGrid(Y, (2,))),
            Grid(BOX, UniformGrid(Y, (2,))),
        ),
        "expected two token grids of one kind",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_refused(case):
    build, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        build()

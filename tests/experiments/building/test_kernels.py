"""Every kind of kernel and field has, on the nodes of a grid, the values that numpy computes."""

import zlib

import numpy as np
import pytest
from numpy.polynomial import chebyshev, legendre

from continuum import interval
from continuum.domains import Domain
from discretize import UniformGrid
from discretize.sampling import sample_field, sample_kernel
from experiments.building.kernels import build_field, build_kernel
from experiments.building.setting import Setting
from experiments.config.kernels import Cells, GivenBasis, Identity, Layers, RandomBasis, Separable
from tests.experiments.building.configs import built_config

Y = Domain((1.0,), (3.0,), "Omega_y")
HEADS = interval(2.0, "Omega_h") * Domain((-1.0,), (1.0,), "Omega_eta")
ON_Y, ON_HEADS = UniformGrid(Y, (4,)), UniformGrid(HEADS, (2, 3))
#: The same nodes, written out.
NODES = np.array([1.25, 1.75, 2.25, 2.75])
ZETA = np.repeat([0.5, 1.5], 3)
ETA = np.tile([-2 / 3, 0.0, 2 / 3], 2)
TIMES = np.array([0.0, 0.4, 1.0, 1.4])
PATH = ("equation", "dense", 0, "kernel")


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernels")
    return Setting(built_config(folder, parameters={"a": 0.5}), np.dtype(np.float64))


def kernel_rows(kernel, setting, source=ON_Y, target=ON_Y):
    built = build_kernel(kernel, PATH, source.domain, target.domain, setting)
    return np.asarray(sample_kernel(built, source, target, TIMES).rows(len(TIMES)))


def field_rows(field, setting, grid=ON_Y):
    built = build_field(field, PATH, grid.domain, setting)
    return np.asarray(sample_field(built, grid, TIMES).rows(len(TIMES)))


def close(found, expected):
    # a few roundings of numbers of size 100 at most
    np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), rtol=0, atol=1e-13)


T = TIMES[:, None, None]


def test_expressions(setting):
    close(kernel_rows("a*xi**2 - y*t", setting), 0.5 * NODES[:, None] ** 2 - NODES * T)
    close(
        kernel_rows("xi + 10*zeta + 3*eta*t", setting, ON_Y, ON_HEADS),
        NODES[:, None] + 10 * ZETA + 3 * ETA * T,
    )
    close(kernel_rows("zeta*y - eta", setting, ON_HEADS), ZETA[:, None] * NODES - ETA[:, None])
    close(field_rows("y + t", setting), NODES + TIMES[:, None])
    close(field_rows("zeta*eta", setting, ON_HEADS), ZETA * ETA)
    close(kernel_rows("2", setting), 2.0)


def test_separable_kernels(setting):
    pairs = (("xi", "zeta*t"), ("1", "eta"))
    expected = NODES[:, None] * ZETA * T + ETA
    close(kernel_rows(Separable(separable=pairs), setting, ON_Y, ON_HEADS), expected)


def test_given_coefficients(setting):
    table = np.random.default_rng(0).normal(size=(3, 2))
    kernel = GivenBasis(basis="chebyshev", coefficients=tuple(map(tuple, table)))
    s = NODES - 2.0  # [1, 3] -> [-1, 1]
    close(kernel_rows(kernel, setting), chebyshev.chebgrid2d(s, s, table))
    field = GivenBasis(basis="legendre", coefficients=tuple(table[:, 0]))
    scaled = table[:, 0] * np.sqrt(2 * np.arange(3) + 1)  # orthonormal for the mean
    close(field_rows(field, setting), legendre.legval(s, scaled))


def test_coefficients_over_heads_are_products_with_eta_fastest(setting):
    table = np.random.default_rng(1).normal(size=(2, 3))
    field = GivenBasis(basis="chebyshev", coefficients=tuple(table.reshape(-1)), head_size=2)
    expected = chebyshev.chebval2d(ZETA - 1.0, ETA, table)
    close(field_rows(field, setting, ON_HEADS), expected)


def test_coefficients_in_depth_are_constant_or_linear_on_equal_pieces(setting):
    rows = np.array([[1.0], [5.0], [7.0]])  # horizon 1.5: pieces of 0.5
    field = GivenBasis(basis="fourier", coefficients=tuple(map(tuple, rows)))
    close(field_rows(field, setting), np.array([1.0, 1.0, 7.0, 7.0])[:, None])
    linear = field.model_copy(update={"in_time": "linear"})
    # nodes at 0, 0.5, 1.0 and constant afterwards
    close(field_rows(linear, setting), np.array([1.0, 4.2, 7.0, 7.0])[:, None])


def test_random_coefficients_decay_and_have_their_own_seed(setting):
    kernel = RandomBasis(basis="chebyshev", size=3, decay=1.5, scale=0.2, seed=9)
    draw = np.random.default_rng([5, 9]).standard_normal((1, 3, 3))[0]
    decay = (1.0 + np.arange(3)) ** -1.5
    s = NODES - 2.0
    expected = chebyshev.chebgrid2d(s, s, 0.2 * draw * decay[:, None] * decay)
    close(kernel_rows(kernel, setting), expected)
    assert not np.allclose(kernel_rows(kernel.model_copy(update={"seed": 8}), setting), expected)


def test_without_a_seed_the_place_decides(setting):
    kernel = RandomBasis(basis="chebyshev", size=1, decay=0.0)
    own = zlib.crc32(b"equation.dense.0.kernel")
    close(kernel_rows(kernel, setting), np.random.default_rng([5, own]).standard_normal())


def test_cells_from_a_file(setting, tmp_path):
    table = np.random.default_rng(2).normal(size=(3, 2, 2))
    np.savez(tmp_path / "w.npz", w=table, other=np.ones(3))
    kernel = Cells(cells=str(tmp_path / "w.npz"), key="w")
    expected = np.repeat(np.repeat(table, 2, axis=1), 2, axis=2)
    close(kernel_rows(kernel, setting), expected[[0, 0, 2, 2]])
    linear = kernel.model_copy(update={"in_time": "linear"})
    between = 0.2 * expected[0] + 0.8 * expected[1]
    close(kernel_rows(linear, setting)[1], between)


def test_cells_over_heads(setting, tmp_path):
    np.save(tmp_path / "b.npy", np.arange(6.0))
    field = Cells(cells=str(tmp_path / "b.npy"), head_cells=2)
    close(field_rows(field, setting, ON_HEADS), np.arange(6.0))
    np.save(tmp_path / "w.npy", np.arange(8.0).reshape(2, 4))
    kernel = Cells(cells=str(tmp_path / "w.npy"), head_cells=4)
    fine = UniformGrid(HEADS, (4, 1))
    close(kernel_rows(kernel, setting, ON_Y, fine), np.repeat(np.arange(8.0).reshape(2, 4), 2, 0))


def test_the_identity_returns_what_it_gets(setting):
    rows = kernel_rows(Identity(identity=3.0, cells=4), setting)
    u = np.random.default_rng(3).normal(size=(5, 4))
    close(u @ (0.5 * rows[0]), 3.0 * u)  # 0.5 is the length of a cell
    on_heads = kernel_rows(Identity(identity=1.0, cells=3), setting, UniformGrid(Y, (3,)), ON_HEADS)
    u = np.random.default_rng(4).normal(size=(5, 3))
    close(u @ (2 / 3 * on_heads[0]), np.tile(u, 2))  # for every zeta


def test_the_identity_is_a_mean_over_its_cells_on_a_finer_grid(setting):
    rows = kernel_rows(Identity(identity=1.0, cells=2), setting)
    u = np.random.default_rng(5).normal(size=4)
    close(u @ (0.5 * rows[0]), np.repeat(u.reshape(2, 2).mean(axis=1), 2))


@pytest.mark.parametrize(
    ("in_time", "weights"), [("constant", (1, 0, 0)), ("linear", (0.2, 0.8, 0))]
)
def test_layers(setting, in_time, weights):
    layers = Layers(layers=("xi", "y", "1"), in_time=in_time)
    expected = weights[0] * NODES[:, None] + weights[1] * NODES + weights[2]
    close(kernel_rows(layers, setting)[1], expected)  # t = 0.4, pieces of 0.5
    close(kernel_rows(layers, setting)[3], 1.0)
    fields = Layers(layers=("y", "2*y", "1"), in_time=in_time)
    close(field_rows(fields, setting)[1], (weights[0] + 2 * weights[1]) * NODES)

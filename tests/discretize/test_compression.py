"""Kernels of low rank against plain NumPy: norms on grids, bounds, costs, round trips."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

import solvers
from continuum import (
    AnalyticKernel,
    CellField,
    CellKernel,
    LinearIntegral,
    describe,
    interval,
    prenorm_flow,
)
from continuum.kernels import LowRankKernel
from discretize import Grid, TokenGrid, UniformGrid, discretize, load_problem, save_problem
from discretize.compression import compress, decompose, linear_integrals, with_kernels
from discretize.encoders import recover
from discretize.encoders.reading import weights_of
from discretize.expansion import expand
from discretize.operators import TokenMeasure, discretize_operator
from discretize.sampling import At, sample_factors, sample_kernel
from solvers.substeps import Exponential, LinearEuler
from tests.helpers import relative_difference

RNG = np.random.default_rng(7)
HEADS = interval(2.0, "Omega_h") * interval(1.5, "Omega_eta")
TOKENS = TokenGrid().of(3)
#: sums of some ten products
ROUND_OFF = 1e-13


def cells(depth=1, n=6, m=8, heads=False, degree=0):
    """A random kernel from [0, 3] with n cells to [0, 0.7] with m, or to two heads."""
    source, target = interval(3.0, "Omega_y"), HEADS if heads else interval(0.7, "Omega_v")
    spread = 10.0 ** RNG.uniform(-3, 3)
    values = spread * RNG.standard_normal((depth, n, m)) @ np.diag(10.0 ** RNG.uniform(-3, 1, m))
    sizes = (2, m // 2) if heads else (m,)
    return CellKernel(values, source, target, (n,), sizes, 0.5, degree)


def low_rank(depth=3, n=6, m=8, r=2, length=6.0, degree=0):
    """Random factors on [0, length] and [0, m]."""
    left, right = RNG.standard_normal((depth, n, r)), RNG.standard_normal((depth, r, m))
    source = interval(length, "Omega_y")
    target = source if n == m else interval(m * length / n, "Omega_v")
    return LowRankKernel(left, right, source, target, duration=0.5, degree=degree)


def full(kernel):
    """The same kernel, as a table."""
    values = np.asarray(kernel.left) @ np.asarray(kernel.right)
    sizes = kernel.source_cells, kernel.target_cells
    return CellKernel(values, kernel.source, kernel.target, *sizes, kernel.duration, kernel.degree)


def grids(kernel, factor=1):
    """The grids of the kernel's own cells, each cut into ``factor``."""
    sides = (kernel.source, kernel.source_cells), (kernel.target, kernel.target_cells)
    return [UniformGrid(domain, tuple(factor * size for size in sizes)) for domain, sizes in sides]


def where(domain, sizes, grid):
    """The flat index of the cell that each node lies in, by hand."""
    nodes = grid.nodes.reshape(-1, domain.dimension)
    along = np.floor((nodes - domain.lower) / np.array(domain.extents) * sizes).astype(int)
    return np.ravel_multi_index(tuple(along.T), sizes)


def weighted(kernel, layer, factor=1):
    """sqrt(w_i) k(xi_i, y_j) sqrt(w_j) on a grid, in plain NumPy."""
    source, target = grids(kernel, factor)
    if isinstance(kernel, LowRankKernel):
        values = np.asarray(kernel.left)[layer] @ np.asarray(kernel.right)[layer]
    else:
        values = np.asarray(kernel.values)[layer]
    rows = where(kernel.source, kernel.source_cells, source)
    values = values[np.ix_(rows, where(kernel.target, kernel.target_cells, target))]
    return np.sqrt(source.weights)[:, None] * values * np.sqrt(target.weights)


def problem_with(kernel, bias=True, identity=0.0, steps=4, refinement=1):
    """u_t = W u + b + identity u with source = target."""
    field = CellField(RNG.standard_normal((1, kernel.target_cells[0])), kernel.target)
    term = LinearIntegral(kernel, field if bias else None, identity)
    zero = LinearIntegral(AnalyticKernel(lambda xi, y, t: 0.0 * xi * y, term.source, term.source))
    equation = prenorm_flow(term, zero, horizon=1.0)
    grid = Grid(TokenGrid(), UniformGrid(term.source, kernel.source_cells))
    return discretize(equation, grid, num_steps=steps).refine(features=refinement)


def encoder(layers=2, seed=0):
    """A random torch encoder in float64."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layer = torch.nn.TransformerEncoderLayer(12, 3, 20, dropout=0.0, batch_first=True)
        model = torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.4)
    return model.double().eval()


@pytest.fixture(scope="module")
def recovered():
    return recover(encoder())


def all_of_low_rank(model, rank=None):
    """The model with every kernel cut after ``rank`` terms (all), whatever is smaller."""
    kernels = {
        name: expansion.truncate([min(rank or 999, expansion.terms)] * len(expansion.values))
        for name, expansion in decompose(model).expansions.items()
    }
    return with_kernels(model, kernels)


# The kernel and its samples.


@pytest.mark.parametrize("degree", [0, 1])
def test_the_kernel_is_that_of_its_product(degree):
    kernel = low_rank(degree=degree)
    table = full(kernel)
    times = np.array([-1.0, 0.0, 0.2, 0.5, 0.7, 1.2, 9.0])
    xi, y = RNG.uniform(0, 6, (5, 1, 1)), RNG.uniform(0, 8, (4, 1))
    assert_allclose(kernel(xi, y, times), table(xi, y, times), rtol=1e-13, atol=1e-14)
    assert_allclose(kernel(1.0, y, 0.7), table(1.0, y, 0.7), rtol=1e-13, atol=1e-14)
    source, target = grids(kernel, 3)
    found = sample_kernel(kernel, source, target, times).rows(len(times))
    expected = sample_kernel(table, source, target, times).rows(len(times))
    assert_allclose(found, expected, rtol=1e-13, atol=1e-14)
    factors = sample_factors(kernel, source, target, times)
    if degree:
        assert factors is None
    else:
        left, right = (side.rows(len(times)) for side in factors)
        assert left.shape[2] == 2 and right.shape[1] == 2
        assert_allclose(left @ right, expected, rtol=1e-13, atol=1e-14)
    assert sample_factors(table, source, target, times) is None


def test_coarse_grids_take_means_of_the_product():
    kernel = low_rank(n=6, m=12)
    source, target = UniformGrid(kernel.source, (3,)), UniformGrid(kernel.target, (4,))
    values = np.asarray(kernel.left @ kernel.right)
    means = values.reshape(3, 3, 2, 4, 3).mean((2, 4))
    found = sample_kernel(kernel, source, target, np.array([0.0, 0.5, 1.0]))
    assert_allclose(found.rows(3), means, rtol=1e-13)


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        ((1, 6, 2), (1, 3, 8), r"one rank r >= 1, got \(1, 6, 2\) and \(1, 3, 8\)"),
        ((1, 6, 2), (2, 2, 8), "one depth"),
        ((1, 6, 0), (1, 0, 8), "r >= 1"),
        ((1, 6, 2), (1, 2, 8), "LowRankKernel target: expected 2 cell counts"),
    ],
)
def test_factors_that_do_not_fit_are_refused(left, right, words):
    with pytest.raises(ValueError, match=words):
        LowRankKernel(np.ones(left), np.ones(right), interval(6, "Omega_y"), HEADS)


def test_it_is_described():
    assert "k: rank 2, constant on 6 x 6 cells, 3 in t" in describe(
        problem_with(low_rank(m=6)).equation
    )


# The operator: cost, weights, any dt.


def applied(operator, tables, u, method="apply"):
    now = {name: table.rows(3)[1] for name, table in tables.items()}
    if method == "apply":
        return np.asarray(operator.apply(now, jnp.asarray(u), TokenMeasure()))
    return np.asarray(operator.advance(now, jnp.asarray(u)))


#: Every pair of two of the three occurs once.
STEPS = [
    (*((6, 8), (8, 6), (6, 6))[(i + k) % 3], dt, identity)
    for i, identity in enumerate((0.0, -1.0, 0.75))
    for k, dt in enumerate((1.0, 0.3, -0.5))
]


@pytest.mark.parametrize(("n", "m", "dt", "identity"), STEPS)
def test_a_step_is_that_of_the_full_kernel(n, m, dt, identity):
    kernel = low_rank(n=n, m=m, length=0.5 * n)  # weights 1/2, then 1/4
    bias = CellField(RNG.standard_normal((3, m)), kernel.target, duration=0.5)
    grid = Grid(TokenGrid(), UniformGrid(kernel.source, (2 * n,)))
    thin, thick = (
        discretize_operator(LinearIntegral(k, bias, identity), grid) for k in (kernel, full(kernel))
    )
    at = At(np.array([0.0, 0.5, 1.0]), TOKENS)
    u = RNG.standard_normal((2, 3, 2 * n))
    assert set(thin.coefficients(at)) == {"left", "right", "bias"}
    assert set(thick.coefficients(at)) == {"matrix", "bias"}
    expected = applied(thick, thick.coefficients(at), u)
    assert relative_difference(applied(thin, thin.coefficients(at), u), expected) <= ROUND_OFF
    step = thin.step(at, dt)
    assert ("keep" in step) == (1.0 + dt * identity != 0.0) and "matrix" not in step
    moved = np.zeros((2, 3, 2 * m))
    shared = min(2 * n, 2 * m)
    moved[..., :shared] = u[..., :shared]
    by_hand = moved + dt * expected  # E u + dt (W u + b), whatever the operator does of it
    assert relative_difference(applied(thin, step, u, "advance"), by_hand) <= ROUND_OFF
    found = applied(thick, thick.step(at, dt), u, "advance")
    assert relative_difference(found, by_hand) <= ROUND_OFF
    matrix = thin.step_matrix(at, dt).values
    assert relative_difference(matrix, thick.step(at, dt)["matrix"].values) <= ROUND_OFF


@pytest.mark.parametrize("identity", [-1.0, 0.0])
def test_the_cost_is_that_of_two_thin_products(identity):
    n, m, r = 24, 32, 3
    kernel = low_rank(depth=1, n=n, m=m, r=r)
    grid = Grid(TokenGrid(), UniformGrid(kernel.source, (n,)))
    operator = discretize_operator(LinearIntegral(kernel, None, identity), grid)
    tables = LinearEuler("w", operator).prepare(At(np.zeros(1), TOKENS), 1.0)
    now = {name: jnp.asarray(table.values[0]) for name, table in tables.items()}
    jaxpr = jax.make_jaxpr(operator.advance)(now, jnp.ones((5, n)))
    shapes = [
        [variable.aval.shape for variable in equation.invars]
        for equation in jaxpr.eqns
        if equation.primitive.name == "dot_general"
    ]
    assert shapes == [[(5, n), (n, r)], [(5, r), (r, m)]]
    assert sum(table.values.size for table in tables.values()) <= r * (n + m) + 1


def test_where_factors_save_nothing_the_matrix_is_used():
    kernel = low_rank(n=6, m=8, r=4)  # 4 (6 + 8) > 6 8
    grid = Grid(TokenGrid(), UniformGrid(kernel.source, (6,)))
    at = At(np.zeros(1), TOKENS)
    operator = discretize_operator(LinearIntegral(kernel), grid)
    assert set(operator.coefficients(at)) == {"matrix"}
    refined = discretize_operator(LinearIntegral(kernel), grid.refine(features=2))
    assert set(refined.coefficients(at)) == {"left", "right"}


def test_the_exponential_takes_low_rank_kernels():
    kernel = low_rank(depth=1, n=6, m=6, length=1.0)
    grid = Grid(TokenGrid(), UniformGrid(kernel.source, (6,)))
    bias = CellField(RNG.standard_normal((1, 6)), kernel.target)
    u, at = jnp.asarray(RNG.standard_normal((3, 6))), At(np.zeros(1), TOKENS)
    found = []
    for k in (kernel, full(kernel)):
        operator = discretize_operator(LinearIntegral(k, bias, 0.4), grid)
        substep = Exponential("w", operator)
        tables = substep.prepare(at, 0.3)
        now = {name: table.rows(1)[0] for name, table in tables.items()}
        found.append(substep.advance(now, u, TokenMeasure(), lambda name, state: None))
    assert relative_difference(*found) <= ROUND_OFF


# The expansion and its bounds.


def test_no_bound_is_ever_violated(budget):
    """Against NumPy's norms of the difference of values at points, on two grids."""
    for case in range(budget.examples):
        depth = int(RNG.integers(1, 4))
        n, m = int(RNG.integers(2, 9)), 2 * int(RNG.integers(1, 5))
        kernel = cells(depth, n, m, heads=case % 2 == 1, degree=case % 3 == 2)
        rank = int(RNG.integers(1, min(n, m) + 1))
        expansion = expand(kernel)
        cut = expansion.truncate([rank] * depth)
        for layer in range(depth):
            sigma = expansion.values[layer]
            for factor in (1, 2):
                whole = weighted(kernel, layer, factor)
                gap = weighted(cut, layer, factor) - whole
                slack = ROUND_OFF * np.linalg.norm(whole)
                norm, hs = np.linalg.norm(gap, 2), np.linalg.norm(gap)
                error = sigma[rank] if rank < len(sigma) else 0.0
                bound = expansion.tails[layer, rank]
                assert norm <= bound + slack and error <= bound + slack
                # not only bounds: these are the errors
                assert abs(norm - error) <= slack and abs(hs - bound) <= slack
                assert_allclose(np.linalg.norm(whole, 2), sigma[0], rtol=1e-13)
                assert_allclose(np.linalg.norm(whole), expansion.norms[layer], rtol=1e-13)


def test_no_other_kernel_of_that_rank_is_closer(budget):
    for _ in range(budget.examples):
        kernel = cells(1, int(RNG.integers(2, 8)), int(RNG.integers(2, 8)))
        expansion = expand(kernel)
        rank = int(RNG.integers(1, expansion.terms + 1))
        whole = weighted(kernel, 0)
        best = np.linalg.norm(weighted(expansion.truncate([rank]), 0) - whole)
        assert_allclose(best, expansion.tails[0, rank], atol=ROUND_OFF * np.linalg.norm(whole))
        left = np.linalg.svd(whole)[0][:, :rank]
        for size in (1e-3, 0.1, 10.0):  # near the best space, and anywhere
            other = left + size * RNG.standard_normal(left.shape)
            nearest = other @ np.linalg.lstsq(other, whole)[0]  # the best with that range
            assert np.linalg.norm(nearest - whole) >= best - ROUND_OFF * np.linalg.norm(whole)


def test_terms_are_orthonormal_in_the_weighted_sense():
    expansion = expand(cells(2, 6, 8, heads=True))
    source, target = grids(expansion.kernel)
    for a, c in zip(expansion.left, expansion.right, strict=True):
        assert_allclose(a.T @ (source.weights[:, None] * a), np.eye(6), atol=1e-13)
        assert_allclose(c @ (target.weights[:, None] * c.T), np.eye(6), atol=1e-13)


def test_a_kernel_of_zeros_has_no_error():
    kernel = CellKernel(np.zeros((1, 9, 9)), interval(9, "Omega_y"), interval(9, "Omega_y"))
    (row,) = [r for r in compress(problem_with(kernel), tolerance=0.1).report]
    assert (row.rank, row.operator_error, row.bound, row.hs_norm) == (1, 0.0, 0.0, 0.0)
    assert not row.kept_full


# Compressing models.


def test_full_rank_is_the_original(recovered):
    u = RNG.standard_normal((2, 5, 12))
    expected = solvers.solve(recovered, u).final
    whole = all_of_low_rank(recovered)
    kinds = {type(one.kernel) for one in linear_integrals(whole.problem.equation).values()}
    assert kinds == {LowRankKernel}
    assert relative_difference(solvers.solve(whole, u).final, expected) <= 1e-13
    less = all_of_low_rank(recovered, 11)
    assert relative_difference(solvers.solve(less, u).final, expected) > 1e-6


def test_a_model_of_low_rank_is_compressed_without_loss(recovered):
    """The thin products inside attention and feedforward, also with dt < 1 and on fine grids."""
    thin = all_of_low_rank(recovered, 3)
    small = {
        name: full(one.kernel) for name, one in linear_integrals(thin.problem.equation).items()
    }
    thick = with_kernels(thin, small)
    found = compress(thick, rank=3)
    assert not any(row.kept_full for row in found.report)
    assert found.stored_after == 2 * (4 * 3 * 24 + 2 * 3 * 32)
    assert found.stored_before == 2 * (4 * 144 + 2 * 240)
    u, mask = RNG.standard_normal((2, 5, 12)), np.arange(5) < np.array([[5], [3]])
    expected = solvers.solve(thick, u, mask=mask, num_steps=6).final  # dt = 1/3: E remains
    outcome = solvers.solve(found.model, u, mask=mask, num_steps=6).final
    assert relative_difference(outcome, expected, mask) <= 1e-13
    fine = RNG.standard_normal((5, 24))  # constant on cells: any refinement
    expected = solvers.solve(thick.problem.refine(features=2), fine).final
    outcome = solvers.solve(found.problem.refine(features=2), fine).final
    assert relative_difference(outcome, expected) <= 1e-13
    for ours, theirs in zip(jax.tree.leaves(vars(weights_of(found.model))),
                            jax.tree.leaves(vars(weights_of(thick))), strict=True):  # fmt: skip
        if isinstance(ours, np.ndarray):
            assert_allclose(ours, theirs, atol=1e-13)


def test_the_report_says_what_was_done(recovered):
    found = compress(recovered, rank=6)
    names = ["attention.query", "attention.key", "attention.value", "attention.output"]
    assert [(r.name, r.layer) for r in found.report] == [
        (name, layer) for name in [*names, "dense_1", "dense_2"] for layer in (0, 1)
    ]
    after = linear_integrals(found.problem.equation)
    for name, before in linear_integrals(recovered.problem.equation).items():
        kept_full = name in names  # 6 (12 + 12) = 12 12, but 6 (12 + 20) < 12 20
        assert (after[name].kernel is before.kernel) == kept_full
        for row in (r for r in found.report if r.name == name):
            values = np.asarray(before.kernel.values)[row.layer]  # unit cells: weights 1
            sigma = np.linalg.svd(values)[1]
            assert row.full_rank == 12 and row.kept_full == kept_full
            assert row.stored_before == values.size
            assert_allclose([row.operator_norm, row.hs_norm], [sigma[0], np.linalg.norm(values)])
            if kept_full:
                expected = (12, values.size, 0.0, 0.0)
            else:
                assert_allclose(row.operator_error, sigma[6])
                assert_allclose(row.bound, np.linalg.norm(sigma[6:]))
                expected = (6, 6 * 32, row.operator_error, row.bound)
            assert (row.rank, row.stored_after, row.operator_error, row.bound) == expected
    everything = compress(recovered, rank=999)
    assert everything.stored_after == everything.stored_before
    assert all(row.kept_full and row.rank == 12 for row in everything.report)


def test_a_tolerance_keeps_as_few_terms_as_it_allows_in_every_layer():
    values = np.stack([np.diag(10.0 ** -np.arange(9.0)), np.diag(2.0 ** -np.arange(9.0))])
    y = interval(9, "Omega_y")
    problem = problem_with(CellKernel(values, y, y, duration=0.5))
    found = compress(problem, tolerance=0.2)
    assert [row.rank for row in found.report] == [1, 3]  # 0.1 and 1 / 8 of the whole
    assert all(row.bound <= 0.2 * row.hs_norm for row in found.report)
    kernel = linear_integrals(found.problem.equation)[found.report[0].name].kernel
    assert kernel.rank == 3 and not np.any(kernel.left[0, :, 1:])
    assert found.report[0].stored_after == 3 * 18
    for row, layer in zip(found.report, values, strict=True):
        before = np.linalg.norm(np.diag(layer)[row.rank - 1 :])
        assert before > 0.2 * row.hs_norm  # one term less would not do


def test_a_compressed_problem_survives_the_disk(recovered, tmp_path):
    problem = compress(recovered, rank=4).problem
    again = load_problem(save_problem(problem, tmp_path / "problem"))
    for one, other in zip(jax.tree.leaves(problem), jax.tree.leaves(again), strict=True):
        assert_array_equal(one, other)
    assert jax.tree.structure(problem) == jax.tree.structure(again)
    u = RNG.standard_normal((5, 12))
    assert_array_equal(solvers.solve(problem, u).final, solvers.solve(again, u).final)
    whole = save_problem(recovered.problem, tmp_path / "full")
    name = "arrays.safetensors"
    size, before = ((path / name).stat().st_size for path in (tmp_path / "problem", whole))
    assert size < before


def test_what_is_no_kernel_on_cells_stays(recovered):
    found = compress(recovered, rank=2)
    assert type(found.model) is type(recovered) and found.model.embed is recovered.embed
    for name, before in linear_integrals(recovered.problem.equation).items():
        after = linear_integrals(found.problem.equation)[name]
        assert after.bias is before.bias and after.identity == before.identity
        assert after.kernel.left.dtype == before.kernel.values.dtype
    problem = problem_with(cells_on_unit(9))
    before = linear_integrals(problem.equation)
    after = linear_integrals(compress(problem, rank=2).problem.equation)
    kinds = [type(one.kernel) for one in after.values()]
    assert sorted(kind.__name__ for kind in kinds) == ["AnalyticKernel", "LowRankKernel"]
    assert len(before) == 2


def cells_on_unit(size):
    y = interval(size, "Omega_y")
    return CellKernel(RNG.standard_normal((1, size, size)), y, y)


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({}, ValueError, "expected exactly one of rank and tolerance, got neither"),
        ({"rank": 2, "tolerance": 0.1}, ValueError, "got rank 2 and tolerance 0.1"),
        ({"rank": 0}, ValueError, "rank: expected a whole number >= 1, got 0"),
        ({"tolerance": 1.0}, ValueError, "tolerance: expected .* less than 1, got 1.0"),
        ({"tolerance": -0.1}, ValueError, "at least 0"),
        ({"tolerance": float("nan")}, ValueError, "got nan"),
        ({"rank": True}, TypeError, "expected a whole number, got True"),
    ],
)
def test_bad_requests_are_refused(recovered, options, kind, words):
    with pytest.raises(kind, match=words):
        compress(recovered, **options)


def test_bad_models_are_refused(recovered):
    analytic = AnalyticKernel(lambda xi, y, t: xi * y, *[interval(9, "Omega_y")] * 2)
    equation = prenorm_flow(LinearIntegral(analytic), LinearIntegral(analytic), horizon=1.0)
    grid = Grid(TokenGrid(), UniformGrid(interval(9, "Omega_y"), (9,)))
    with pytest.raises(ValueError, match="at least one linear integral .* found none"):
        compress(discretize(equation, grid), rank=2)
    broken = cells_on_unit(9)
    broken = dataclasses.replace(broken, values=broken.values.at[0, 1, 2].set(np.nan))
    with pytest.raises(ValueError, match="NaN or infinite"):
        compress(problem_with(broken), rank=2)

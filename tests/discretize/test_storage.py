"""Problems on disk: exact there and back, all or nothing, and damage is named."""

import json
import math
import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from continuum import (
    AnalyticField,
    AnalyticKernel,
    Apply,
    BasisField,
    BasisKernel,
    Causal,
    CellField,
    CellKernel,
    Domain,
    Equation,
    Flow,
    IntegralAttention,
    LayeredField,
    LayeredKernel,
    LinearIntegral,
    MomentSet,
    Pointwise,
    Projection,
    SeparableKernel,
    Sequence,
    Source,
    interval,
    parse,
    prenorm_flow,
)
from continuum.kernels import Basis
from discretize import Grid, TokenGrid, UniformGrid, discretize, load_problem, save_problem, storage
from discretize.encoders import recover
from discretize.quadrature import RULES, SIMPSON
from experiments.reference import random_encoder
from solvers import solve
from tests.references.translate import to_torch

Y, V = interval(4, "Omega_y"), interval(2, "Omega_v")
HEADS = interval(2, "Omega_h") * interval(2, "Omega_eta")
RNG = np.random.default_rng(12)


def random(*shape):
    return jnp.asarray(RNG.standard_normal(shape))


def by_hand():
    """Every class that recovery does not make: bounded tokens, own scale, separable, several t."""

    def linear(source, target, cells):
        return LinearIntegral(CellKernel(random(1, 4, 4), source, target, *cells))

    parts = [linear(Y, HEADS, ((4,), (2, 2))) for _ in range(3)]
    attention = IntegralAttention(*parts, linear(HEADS, Y, ((2, 2), (4,))), scale=1 / 3)
    left = (CellField(random(3, 4), Y, duration=0.1), CellField(random(1, 4), Y))
    right = (CellField(random(1, 4), Y), CellField(random(1, 4), Y))
    separable = LinearIntegral(SeparableKernel(left, right), identity=0.1)
    equation = Equation(
        "by hand",
        {
            "a": attention,
            "s": separable,
            "n": Projection(MomentSet(1.0, 0.3), Y),
            "g": Pointwise("silu", Y),
        },
        Sequence((Flow(("a", "s")), Sequence((Apply("g"), Apply("n")), name="maps"))),
        Y,
        horizon=0.3,
        tokens=Domain((-1.0, 0.0), (1.0, 0.1), "Omega_x"),
    )
    grid = Grid(UniformGrid(equation.tokens, (2, 3)), UniformGrid(Y, (8,)), head_cells=4)
    return discretize(equation, grid, num_steps=7)


def formulas():
    """Formulas, bases and layers, linear in t, a source, and rules of their own on every axis."""

    def formula(text, *names):
        return parse(text, (*names, "t"), {"a": 0.7, "b": 2.0})

    bias = LayeredField((BasisField(random(1, 4), HEADS, "legendre", sizes=(2, 2)),) * 2, 0.5)
    to_heads = BasisKernel(
        random(3, 2, 4), Y, HEADS, "fourier", ("legendre", "chebyshev"), 0.2, 1, (2,), (2, 2)
    )
    back = BasisKernel(random(1, 4, 2), HEADS, Y, "legendre", "fourier", source_sizes=(2, 2))
    part = LinearIntegral(to_heads, bias)
    layers = LayeredKernel(
        (
            AnalyticKernel(formula("a*xi*y", "xi", "y"), Y, Y, time_dependent=False),
            CellKernel(random(1, 4, 4), Y, Y),
        ),
        0.5,
        1,
    )
    equation = Equation(
        "formulas",
        {
            "a": IntegralAttention(part, part, part, LinearIntegral(back), causal=Causal(0.5)),
            "w": LinearIntegral(layers, AnalyticField(formula("b*y + t", "y"), Y)),
            "c": LinearIntegral(CellKernel(random(3, 4, 4), Y, Y, duration=0.4, degree=1)),
            "g": Source(formula("sin(x)*cos(y + t)", "x", "y"), Y),
        },
        Flow(("a", "w", "c", "g")),
        Y,
        horizon=1.0,
        tokens=interval(1.0, "Omega_x"),
    )
    tokens = UniformGrid(equation.tokens, (3,), RULES["periodic"])
    grid = Grid(tokens, UniformGrid(Y, (4,)), head_cells=2, head_rule=SIMPSON).refine(heads=2)
    return discretize(equation, grid, num_steps=5)


def recovered(norm, equation):
    model = to_torch(random_encoder(13, 2, 6, 3, 9, norm, "gelu"))
    return recover(model, equation=equation).problem


PROBLEMS = {
    "split": lambda: recovered("post", "split"),
    "residual": lambda: recovered("post", "residual"),
    "prenorm split": lambda: recovered("pre", "split"),
    "refined": lambda: recovered("post", "split").refine(3, 2),
    "by hand": by_hand,
    "formulas": formulas,
}


def assert_same(found, expected):
    """The same tree with the same static data, and the same bits and dtypes in the leaves."""
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.fixture
def problem():
    """A small problem with one array, 2 x 4 x 4, and a horizon that is no dyadic number."""
    operator = LinearIntegral(CellKernel(random(2, 4, 4), Y, Y))
    return discretize(prenorm_flow(operator, operator, horizon=0.3), Grid(TokenGrid(), Y_GRID))


Y_GRID = UniformGrid(Y, (4,))


@pytest.mark.parametrize("case", PROBLEMS)
def test_save_and_load_are_exact(case, tmp_path):
    original = PROBLEMS[case]()
    folder = save_problem(original, tmp_path / "deep" / "problem")
    loaded = load_problem(folder)
    assert_same(loaded, original)
    assert loaded.equation.terms.keys() == original.equation.terms.keys()
    assert loaded.grid == original.grid
    assert sorted(p.name for p in folder.iterdir()) == ["arrays.safetensors", "problem.json"]
    assert [p.name for p in folder.parent.iterdir()] == ["problem"]  # nothing else is left


@pytest.mark.parametrize("case", ["residual", "by hand", "formulas"])
def test_the_loaded_problem_has_the_same_solution(case, tmp_path):
    original = PROBLEMS[case]()
    loaded = load_problem(save_problem(original, str(tmp_path / "p")))
    tokens = 3 if case == "formulas" else 6
    u0 = np.random.default_rng(14).standard_normal((tokens, original.grid.features.size))
    np.testing.assert_array_equal(solve(loaded, u0).final, solve(original, u0).final)


def test_float32_stays_float32(tmp_path):
    model = to_torch(random_encoder(15, 1, 6, 3, 9))
    original = recover(model, dtype="float32").problem
    loaded = load_problem(save_problem(original, tmp_path / "p"))
    assert loaded.dtype == np.float32
    assert_same(loaded, original)


def test_an_open_domain_is_written_as_valid_json(problem, tmp_path):
    """Standard JSON has no infinity; the tokens' upper end is one."""

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    folder = save_problem(problem, tmp_path / "p")
    json.loads((folder / "problem.json").read_text(), parse_constant=refuse)
    assert load_problem(folder).equation.tokens.upper == (math.inf,)


def test_an_existing_folder_is_kept_unless_overwrite_is_asked_for(problem, tmp_path):
    folder = save_problem(problem, tmp_path / "p")
    before = (folder / "problem.json").read_bytes()
    other = by_hand()
    with pytest.raises(FileExistsError, match=r"p exists; pass overwrite=True to replace it"):
        save_problem(other, folder)
    assert (folder / "problem.json").read_bytes() == before
    save_problem(other, folder, overwrite=True)
    assert_same(load_problem(folder), other)
    assert [p.name for p in tmp_path.iterdir()] == ["p"]


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_overwrite_replaces_problems_only(problem, tmp_path, kind):
    """A slip of the path must not delete somebody's data."""
    target = tmp_path / "thesis"
    if kind == "folder":
        target.mkdir()
        (target / "chapter.txt").write_text("years of work")
    else:
        target.write_text("years of work")
    with pytest.raises(FileExistsError, match="thesis is not a saved problem; .* not replaced"):
        save_problem(problem, target, overwrite=True)
    kept = target / "chapter.txt" if kind == "folder" else target
    assert kept.read_text() == "years of work"
    assert [p.name for p in tmp_path.iterdir()] == ["thesis"]


def analytic():
    kernel = AnalyticKernel(lambda xi, y, t: xi * y, Y, Y)
    bias = AnalyticField(lambda y, t: y, Y)
    cells = CellKernel(random(1, 4, 4), Y, Y)
    return {
        "kernel": (LinearIntegral(kernel), "AnalyticKernel"),
        "field": (LinearIntegral(cells, bias), "AnalyticField"),
    }


@pytest.mark.parametrize("case", analytic())
def test_code_is_refused_and_nothing_is_left(case, tmp_path):
    operator, name = analytic()[case]
    equation = prenorm_flow(operator, operator, horizon=1.0)
    with pytest.raises(TypeError, match=rf"equation.terms.*: cannot save a {name}, which is code"):
        save_problem(discretize(equation, Grid(TokenGrid(), Y_GRID)), tmp_path / "deep" / "p")
    assert list(tmp_path.iterdir()) == []


def disk_full(*args, **kwargs):
    raise OSError(28, "No space left on device")


def broken_after(count):
    """os.rename that fails at its ``count``-th call and works before and after."""
    calls, rename = [], os.rename

    def fail_once(*args):
        calls.append(args)
        if len(calls) == count:
            disk_full()
        rename(*args)

    return fail_once


FAILURES = [
    *((failure, False) for failure in ("arrays", "json", "first rename")),
    *((failure, True) for failure in ("arrays", "json", "first rename", "second rename")),
]


@pytest.mark.parametrize(("failure", "existing"), FAILURES)
def test_a_failure_on_the_way_leaves_the_old_state(
    problem, tmp_path, monkeypatch, failure, existing
):
    folder = tmp_path / "p"
    old = by_hand()
    if existing:
        save_problem(old, folder)
    if failure == "arrays":
        monkeypatch.setattr(storage, "save_file", disk_full)
    elif failure == "json":
        monkeypatch.setattr(storage.Path, "write_text", disk_full)
    elif failure == "first rename":
        monkeypatch.setattr(storage.os, "rename", broken_after(1))
    else:
        monkeypatch.setattr(storage.os, "rename", broken_after(2))
    with pytest.raises(OSError, match="No space left"):
        save_problem(problem, folder, overwrite=existing)
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == (["p"] if existing else [])
    if existing:
        assert_same(load_problem(folder), old)


def test_what_cannot_be_put_back_is_not_deleted(problem, tmp_path, monkeypatch):
    """Renaming fails after the old folder was moved away, and again when it should go back."""
    old = by_hand()
    folder = save_problem(old, tmp_path / "p")
    rename, calls = os.rename, []

    def fail_from_the_second_on(*args):
        calls.append(args)
        if len(calls) > 1:
            disk_full()
        rename(*args)

    monkeypatch.setattr(storage.os, "rename", fail_from_the_second_on)
    with pytest.raises(OSError, match="No space left"):
        save_problem(problem, folder, overwrite=True)
    monkeypatch.undo()
    assert_same(load_problem(next(tmp_path.glob(".p-old-*/replaced"))), old)


@pytest.fixture
def folder(problem, tmp_path):
    return save_problem(problem, tmp_path / "p")


def edit(folder, change):
    """Rewrite problem.json with ``change`` applied to its content."""
    path = folder / "problem.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def edit_arrays(folder, change):
    path = folder / "arrays.safetensors"
    arrays = load_file(path)
    change(arrays)
    save_file(arrays, path)


def kernel_of(content):
    """The JSON node of the first term's kernel."""
    terms = content["equation"]["fields"]["terms"]["mapping"]
    return terms["attention"]["fields"]["kernel"]


def truncate(folder, name, size):
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[:size])


NAME = "equation.terms.attention.kernel.values"
DAMAGE = {
    "no description": (
        lambda f: (f / "problem.json").unlink(),
        FileNotFoundError,
        r"problem.json is missing: expected a folder written by save_problem",
    ),
    "no arrays": (
        lambda f: (f / "arrays.safetensors").unlink(),
        FileNotFoundError,
        r"arrays.safetensors is missing; .* holds problem.json",
    ),
    "a pickle instead of arrays": (
        lambda f: (f / "arrays.safetensors").rename(f / "arrays.pt"),
        FileNotFoundError,
        r"arrays.safetensors is missing, and arrays.pt stands there: a pickle can run code",
    ),
    "arrays cut in the data": (
        lambda f: truncate(f, "arrays.safetensors", -8),
        ValueError,
        r"arrays.safetensors: not a whole safetensors file .* truncated",
    ),
    "arrays cut in the header": (
        lambda f: truncate(f, "arrays.safetensors", 20),
        ValueError,
        "not a whole safetensors file",
    ),
    "empty arrays": (
        lambda f: truncate(f, "arrays.safetensors", 0),
        ValueError,
        "not a whole safetensors file",
    ),
    "JSON cut short": (
        lambda f: truncate(f, "problem.json", 200),
        ValueError,
        r"problem.json: not readable as JSON",
    ),
    "bytes that are no text": (
        lambda f: (f / "problem.json").write_bytes(b"\xff\xfe\x00"),
        ValueError,
        r"problem.json: not readable as JSON",
    ),
    "JSON of something else": (
        lambda f: (f / "problem.json").write_text("[1, 2]"),
        ValueError,
        r"expected a file of the format 'transformer-continuum problem'",
    ),
    "a later version": (
        lambda f: edit(f, lambda c: c.update(version=2)),
        ValueError,
        r"expected version 1, got 2; use the release that wrote it",
    ),
    "no version": (
        lambda f: edit(f, lambda c: c.pop("version")),
        ValueError,
        r"expected version 1, got None",
    ),
    "no grid": (
        lambda f: edit(f, lambda c: c.pop("grid")),
        ValueError,
        r"the description is incomplete or malformed: 'grid'",
    ),
    "an unknown class": (
        lambda f: edit(f, lambda c: c["equation"].update({"class": "Popen"})),
        ValueError,
        r"unknown class 'Popen' in the description",
    ),
    "an unknown field": (
        lambda f: edit(f, lambda c: c["equation"]["fields"].update(shell=True)),
        ValueError,
        r"incomplete or malformed: .*shell",
    ),
    "a grid where the equation belongs": (
        lambda f: edit(f, lambda c: c.update(equation=c["grid"])),
        ValueError,
        r"arrays that the description does not use|expected a grid and an equation",
    ),
    "an unknown rule": (
        lambda f: edit(
            f, lambda c: c["grid"]["fields"]["tokens"]["fields"].update(rule={"rule": "gauss"})
        ),
        ValueError,
        r"incomplete or malformed: 'gauss'",
    ),
    "an array by an unknown name": (
        lambda f: edit(f, lambda c: kernel_of(c)["fields"].update(values={"array": "x"})),
        ValueError,
        rf"the array 'x' is missing; found \['{NAME}",
    ),
    "a missing array": (
        lambda f: edit_arrays(f, lambda a: a.pop(NAME)),
        ValueError,
        rf"the array '{NAME}' is missing; found \[",
    ),
    "an extra array": (
        lambda f: edit_arrays(f, lambda a: a.update(more=np.ones(3))),
        ValueError,
        r"arrays that the description does not use: \['more'\]",
    ),
    "an array of another shape": (
        lambda f: edit_arrays(f, lambda a: a.update({NAME: np.ones((2, 4, 5))})),
        ValueError,
        r"CellKernel target: expected 1 cell counts .* product is the array's 5 cells, got \(4,\)",
    ),
    "NaN in an array": (
        lambda f: edit_arrays(f, lambda a: a[NAME].fill(np.nan)),
        ValueError,
        rf"the array '{NAME}' holds NaN or infinite values",
    ),
    "half precision": (
        lambda f: edit_arrays(f, lambda a: a.update({NAME: np.ones((2, 4, 4), np.float16)})),
        ValueError,
        r"expected float32 or float64 .*found half or quantised ones: .*F16",
    ),
    "steps that are no number": (
        lambda f: edit(f, lambda c: c.update(num_steps="many")),
        ValueError,
        r"num_steps: expected a whole number >= 1, got 'many'",
    ),
    "steps that are no whole number": (
        lambda f: edit(f, lambda c: c.update(num_steps=2.5)),
        ValueError,
        r"num_steps: expected a whole number >= 1, got 2.5",
    ),
}


def strip(node, names):
    """The description without some fields, as older releases wrote it."""
    if isinstance(node, dict):
        return {key: strip(value, names) for key, value in node.items() if key not in names}
    return [strip(item, names) for item in node] if isinstance(node, list) else node


def test_problems_without_the_newer_fields_still_load(tmp_path):
    newer = ("degree", "causal", "head_rule", "head_refinement")
    original = by_hand()
    folder = save_problem(original, tmp_path / "p")
    path = folder / "problem.json"
    text = path.read_text()
    assert all(f'"{name}"' in text for name in newer)
    path.write_text(json.dumps(strip(json.loads(text), newer)))
    assert_same(load_problem(folder), original)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("a*xi*y", "__import__('os').system('true')", "column 12: unexpected"),
        ("a*xi*y", "a*xi*z", "column 6: unknown name 'z'"),
        ('"legendre"', '"wavelets"', "incomplete or malformed: 'wavelets'"),
        ('"degree": 1', '"degree": 3', "expected degree 0"),
        ('"a", 0.7', '"a"', "malformed|dictionary update"),
    ],
    ids=["code", "name", "basis", "degree", "parameter"],
)
def test_damaged_formulas_and_bases_are_named(tmp_path, old, new, message):
    folder = save_problem(formulas(), tmp_path / "p")
    path = folder / "problem.json"
    text = json.dumps(json.loads(path.read_text()))
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(ValueError, match=message):
        load_problem(folder)


def test_a_basis_of_ones_own_is_code(tmp_path):
    hats = Basis("hats", lambda s, n: np.maximum(0, 1 - np.abs(s[..., None] * n - np.arange(n))))
    operator = LinearIntegral(BasisKernel(random(1, 2, 2), Y, Y, hats, hats))
    equation = prenorm_flow(operator, operator, horizon=1.0)
    with pytest.raises(TypeError, match="cannot save the basis 'hats', which is code; expected on"):
        save_problem(discretize(equation, Grid(TokenGrid(), Y_GRID)), tmp_path / "p")


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_named(folder, case):
    damage, error, message = DAMAGE[case]
    load_problem(folder)  # sound before
    damage(folder)
    with pytest.raises(error, match=message):
        load_problem(folder)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere/problem.json is missing: expected"):
        load_problem(tmp_path / "nowhere")


def test_float64_problems_do_not_load_into_float32(folder):
    message = rf"'{NAME}' is float64, but jax runs in float32 .*jax_enable_x64"
    with jax.enable_x64(False), pytest.raises(ValueError, match=message):
        load_problem(folder)

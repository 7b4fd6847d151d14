"""Every kind of mistake is answered with the key, the line, and what would be right."""

import numpy as np
import pytest

from experiments.config import ConfigError, load_config
from tests.experiments.config.texts import (
    MANUFACTURED,
    PAPER,
    SMALL,
    SPHERE,
    STUDY,
    line_of,
    refused,
    write,
)

#: text, what to replace in it, by what; then the key and the words of the message.  The line is
#: that of the replacement.
MISTAKES = {
    "unknown key": (SMALL, "horizon =", "horizn =", "equation.horizn", 'did you mean "horizon"?'),
    "unknown key, listed": (
        SMALL,
        "horizon =",
        "zz =",
        "equation.zz",
        "allowed here: form, horizon",
    ),
    "key of another form": (
        SMALL,
        "horizon = 1.0",
        "horizon = 1.0\nomega = 0.5",
        "equation.omega",
        'only form = "paper" relaxes',
    ),
    "kernel outside its key": (
        SMALL,
        'kernel = "xi*y"',
        'layers = ["xi"]',
        "equation.dense.0.layers",
        "kernel = { ... }",
    ),
    "unknown form": (
        SMALL,
        '"flow"',
        '"flaw"',
        "equation.form",
        'expected one of paper, residual, prenorm, flow, found "flaw"; did you mean "flow"?',
    ),
    "unknown axis": (
        SMALL + STUDY,
        '"time"',
        '"tme"',
        "studies.0.axis",
        'expected one of time, tokens, features, heads, space, joint, found "tme"; did you mean '
        '"time"?',
    ),
    "unknown reference": (
        SMALL + STUDY,
        '"lines"',
        '"line"',
        "studies.0.reference.kind",
        'expected one of finest, closed-form, manufactured, lines, found "line"; did you mean '
        '"lines"?',
    ),
    "number in quotes": (
        SMALL,
        "horizon = 1.0",
        'horizon = "1.0"',
        "equation.horizon",
        'expected a number, found "1.0"',
    ),
    "boolean for a number": (
        SMALL,
        "horizon = 1.0",
        "horizon = true",
        "equation.horizon",
        "expected a number, found true",
    ),
    "infinite number": (
        SMALL,
        "horizon = 1.0",
        "horizon = inf",
        "equation.horizon",
        "a finite number, found inf",
    ),
    "float for a count": (
        SMALL,
        "steps = 8",
        "steps = 8.0",
        "time.steps",
        "expected a whole number, found 8.0",
    ),
    "count of zero": (
        SMALL,
        "steps = 8",
        "steps = 0",
        "time.steps",
        "expected a value >= 1, found 0",
    ),
    "huge count": (
        SMALL,
        "steps = 8",
        "steps = 8000000000",
        "time.steps",
        "expected a value <= 1000000000",
    ),
    "number for text": (
        SMALL,
        '"x + y"',
        "3",
        "initial.expression",
        "expected text in quotes, found 3",
    ),
    "empty text": (SMALL, '"x + y"', '""', "initial.expression", "text that is not empty"),
    "number for a table": (
        SMALL,
        "[grid]\ntokens = 4\nfeatures = 6",
        "[grid]\nrule = 3\ntokens = 4\nfeatures = 6",
        "grid.rule",
        "expected the name of a rule in quotes, or a table",
    ),
    "interval the wrong way": (
        SMALL,
        "features = [0, 1.0]",
        "features = [1.0, 0]",
        "domains.features",
        "lower < upper",
    ),
    "too many coordinates": (
        SMALL,
        "[[0.0, 1.0]]",
        "[[0, 1], [0, 1], [0, 1]]",
        "domains.tokens",
        "expected at most 2 items, found 3",
    ),
    "no kind of kernel": (
        SMALL,
        '"xi*y"',
        "{ size = 3 }",
        "equation.dense.0.kernel",
        "separable, basis, cells, identity, layers, found a table with the keys size",
    ),
    "ragged coefficients": (
        PAPER,
        "[[1, 2], [3.5, 4]]",
        "[[1, 2], [3.5]]",
        "equation.dense.0.kernel.coefficients",
        "rows of equal length, of finite numbers",
    ),
    "flat coefficients of a kernel": (
        PAPER,
        "[[1, 2], [3.5, 4]]",
        "[1, 2]",
        "equation.dense.0.kernel.coefficients",
        "expected rows of numbers, [source][target], found a single list",
    ),
    "typo inside a kernel": (
        PAPER,
        "size = 4 }",
        "size = 4, decai = 2 }",
        "equation.attention.query.kernel.decai",
        'did you mean "decay"?',
    ),
    "head functions without heads": (
        PAPER,
        "coefficients = [[1, 2], [3.5, 4]]",
        "size = 3, head_size = 2",
        "equation.dense.0.kernel.head_size",
        "only functions of zeta",
    ),
    "identity between different domains": (
        PAPER,
        "heads = 2.0",
        "heads = 2.0\nhead_features = [0, 0.5]",
        "equation.attention.key.kernel",
        "needs domains.head_features = domains.features",
    ),
    "no initial state": (
        SMALL,
        '[initial]\nexpression = "x + y"',
        "[initial]\nproject = true",
        "initial",
        "expression, basis, cells, random, embeddings, minilm",
    ),
    "projection without moments": (
        SMALL,
        'expression = "x + y"',
        'expression = "x + y"\nproject = true',
        "initial.project",
        "the equation has no moments",
    ),
    "random cells of another dimension": (
        PAPER,
        'random = "normal"',
        'random = "normal"\ncells = [4, 4]',
        "initial.cells",
        "expected 3 counts",
    ),
    "save_every": (
        SMALL,
        "steps = 8",
        "steps = 8\nsave_every = 3",
        "time.save_every",
        "expected a divisor of time.steps = 8, found 3; take 1",
    ),
    "grid of another dimension": (
        SMALL,
        "tokens = 4",
        "tokens = [4, 4]",
        "grid.tokens",
        "expected 1 number of cells",
    ),
    "too few counts": (PAPER, "tokens = [8, 4]", "tokens = 8", "grid.tokens", "tokens = [16, 16]"),
    "rules of another dimension": (
        SMALL,
        "features = 6",
        'features = 6\nrule = { tokens = ["left", "left"] }',
        "grid.rule.tokens",
        "expected one rule or 1, found 2",
    ),
    "odd count for simpson": (
        SMALL,
        "features = 6",
        'features = 5\nrule = "simpson"',
        "grid.features",
        "expected an even number, found 5; take 4 or 6",
    ),
    "cells between nodes": (
        PAPER,
        'features = "periodic"',
        'features = "trapezoid"',
        "equation.attention.key.kernel.cells",
        "one node for each cell (midpoint, left, periodic), found grid.rule trapezoid",
    ),
    "state on cells between nodes": (
        PAPER,
        '["midpoint", "left"]',
        '["midpoint", "simpson"]',
        "initial",
        "one node for each cell (midpoint, left, periodic), found grid.rule simpson",
    ),
    "cells that do not nest": (
        PAPER,
        "{ identity = 1.0, cells = 8 }",
        "{ identity = 1.0, cells = 6 }",
        "equation.attention.key.kernel.cells",
        "6 cells and the 8 cells of the grid do not nest",
    ),
    "causal in two dimensions": (
        PAPER,
        "scale = 2",
        "scale = 2\ncausal = { diagonal = 0.5 }",
        "equation.attention.causal",
        "needs one coordinate in domains.tokens, found 2",
    ),
    "hidden domain off the grid": (
        PAPER,
        "hidden = [0.0, 2.0]",
        "hidden = [0.0, 2.1]",
        "domains.hidden",
        "a whole number of cells of 0.125",
    ),
    "hidden domain elsewhere": (
        PAPER,
        "hidden = [0.0, 2.0]",
        "hidden = [1.0, 2.0]",
        "domains.hidden",
        "to begin where features begins, expected 0, found 1",
    ),
    "name of a variable": (PAPER, "a = 0.7", "xi = 0.7", "parameters.xi", "the name of a variable"),
    "no name": (
        PAPER,
        'second = "u**2"',
        '"a-b" = "u**2"',
        "observables.a-b",
        "begins with a letter",
    ),
    "two dense layers": (
        PAPER,
        'form = "paper"',
        'form = "residual"\n#',
        "equation.rate",
        'only form = "paper"',
    ),
    "decreasing sizes": (
        SMALL + STUDY,
        "[4, 8, 16]",
        "[4, 16, 8]",
        "studies.0.sizes.2",
        "found 8 after 16",
    ),
    "one size": (
        SMALL + STUDY,
        "[4, 8, 16]",
        "[4]",
        "studies.0.sizes",
        "expected at least 2 items, found 1",
    ),
    "joint without steps": (SMALL + STUDY, '"time"', '"joint"', "studies.0.steps", "required"),
    "steps of another length": (
        PAPER,
        "steps = [8, 16]",
        "steps = [8, 16, 32]",
        "studies.1.steps",
        "expected as many steps as sizes, 2, found 3",
    ),
    "steps without joint": (
        PAPER,
        'axis = "joint"',
        'axis = "space"',
        "studies.1.steps",
        'only axis = "joint" has steps',
    ),
    "no order without a reason": (
        PAPER,
        'reason = "positivity is active"',
        "",
        "studies.0.reason",
        "why is there no order?",
    ),
    "a reason for an order": (
        SMALL + STUDY,
        'axis = "time"',
        'axis = "time"\nreason = "because"',
        "studies.0.reason",
        "only order = false has a reason",
    ),
    "order": (
        PAPER,
        "order = false",
        "order = 2",
        "studies.0.order",
        'expected "declared", or false',
    ),
    "heads without attention": (
        SMALL + STUDY,
        '"time"',
        '"heads"',
        "studies.0.axis",
        "no attention",
    ),
    "coarse reference": (PAPER, "size = 64", "size = 8", "studies.0.reference.size", "at least 16"),
    "odd size for simpson": (
        (SMALL + STUDY).replace('"time"', '"features"').replace('"lines"', '"finest"')
        + 'set = { "grid.rule" = "simpson" }',
        "[4, 8, 16]",
        "[4, 8, 15]",
        "studies.0.sizes.2",
        "expected an even number, found 15",
    ),
    "wrong value in set": (
        PAPER,
        '"time.steps" = 32',
        '"time.steps" = "many"',
        "studies.0.set.time.steps",
        'expected a whole number, found "many"',
    ),
    "wrong key in set": (
        PAPER,
        '"time.steps" = 32',
        '"time.stepz" = 32',
        "studies.0.set",
        'did you mean "steps"?',
    ),
    "set of a study": (
        PAPER,
        '"time.steps" = 32',
        '"studies.0.norm" = "max"',
        "studies.0.set",
        "a study cannot change studies",
    ),
    "closed form of another equation": (
        SMALL + STUDY,
        'kind = "lines"',
        'kind = "closed-form", name = "reflection"',
        "studies.0.reference.name",
        "a source and no other term",
    ),
    "manufactured for another form": (
        PAPER,
        'kind = "lines"',
        'kind = "manufactured", solution = "x1"',
        "studies.1.reference.kind",
        'needs form = "flow"',
    ),
    "model beside an equation": (
        SMALL,
        "[grid]",
        '[model]\ntexts = ["a"]\n[grid]',
        "equation",
        "leave out this table",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_its_key_its_line_and_the_remedy(tmp_path, mistake):
    text, old, new, key, words = MISTAKES[mistake]
    assert text.count(old) == 1
    load_config(write(tmp_path, text), library=False)  # sound before the change
    changed = text.replace(old, new)
    path = write(tmp_path, changed)
    error = refused(path)
    found = next(f for f in error.findings if ".".join(map(str, f.path)).startswith(key))
    message = str(error).split("\n")[error.findings.index(found)]
    assert found.message in message
    assert words in message
    assert message.startswith(f"{path}, line ")
    assert _stands_there(changed, found.path, int(message.split("line ")[1].split(":")[0]))


def _stands_there(text, path, line):
    """Whether the line names the key, or, of a missing or listed one, a table around it."""
    row = text.split("\n")[line - 1]
    return any(str(part) in row for part in path)


def test_lines_are_those_of_the_mistake(tmp_path):
    text = SMALL.replace("horizon = 1.0", "horizn = 1.0").replace("steps = 8", "steps = 8.5")
    error = refused(write(tmp_path, text))
    lines = [int(row.split("line ")[1].split(":")[0]) for row in str(error).split("\n")]
    assert lines == [line_of(text, "horizn"), line_of(text, "steps = 8.5")]


def test_a_missing_key_points_at_its_table(tmp_path):
    text = SMALL.replace("horizon = 1.0\n", "")
    message = str(refused(write(tmp_path, text)))
    assert f"line {line_of(text, '[equation]')}: equation.horizon: required, but missing" in message


def test_a_missing_table_points_at_the_end(tmp_path):
    text = SMALL[: SMALL.index("[time]")]
    message = str(refused(write(tmp_path, text)))
    assert message.endswith(f"line {text.rstrip().count(chr(10)) + 1}: time: required, but missing")


def test_many_mistakes_are_counted(tmp_path):
    text = SMALL + "[observables]\n" + "".join(f"o{k} = {k}\n" for k in range(20))
    assert str(refused(write(tmp_path, text))).endswith("\nand 12 more")


@pytest.mark.parametrize(
    ("content", "place", "words"),
    [
        (b'title = "a"\nx = = 2\n', "line 2, column 5", "not valid TOML: Invalid value"),
        (b'title = "a\n', "line 1, column 11", "not valid TOML: Illegal character"),
        (b"title = [1,\n2", "line 2, column 2", "not valid TOML: Unclosed array"),
        (b'title = "\xff"\n', "line 1, column 10", "expected UTF-8 text"),
        (b"a = 1\nb = " + b"9" * 5000, "line 2", "numbers of a few digits"),
        (b"a = " + b"[" * 20000, "config.toml", "nested too deeply"),
    ],
)
def test_text_that_is_no_toml(tmp_path, content, place, words):
    message = str(refused(write(tmp_path, content)))
    assert place in message and words in message


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("time.steps", "expected key.path=value"),
        ("=3", "expected key.path=value"),
        ("time..steps=3", "expected key.path=value"),
        (
            "time.steps=many",
            '--set time.steps=many: time.steps: expected a whole number, found "many"',
        ),
        (
            "time.stepz=3",
            "time.stepz: unknown key; allowed here: steps, scheme, save_every, chunk; did "
            'you mean "steps"?',
        ),
        ("studies.2.norm=max", 'expected an index from 0 to 0, or a name of halves, found "2"'),
        ("studies.halve.norm=max", 'did you mean "halves"?'),
        ("time.steps.x=3", "time.steps: expected a table or a list here, found 8"),
        ("time.save_every=3", "--set time.save_every=3: time.save_every: expected a divisor"),
        (
            "initial.cells=w.npy",
            "initial.cells: unknown key; allowed here: expression, project; an initial state is "
            "of one kind: leave out one of the two keys",
        ),
    ],
)
def test_overrides_that_do_not_fit(tmp_path, override, words):
    message = str(refused(write(tmp_path, SMALL + STUDY), [override]))
    assert words in message


def test_a_config_that_is_not_there(tmp_path):
    with pytest.raises(
        ConfigError, match=r'shipped config, one of .*found "jont"; did you mean "joint"'
    ):
        load_config("jont")
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read: No such file"):
        load_config(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="expected a TOML file, found something else"):
        load_config(tmp_path)


def _file_cases():
    object_array = np.array([{}, {}], dtype=object)
    return {
        "missing": (None, "expected a .npy or .npz file, found none at"),
        "damaged": (b"\x93NUMPY\x01\x00v\x00{'descr'", "is not readable as a .npy or .npz file"),
        "no array": (b"hello", "is not readable"),
        "objects": (object_array, "is not readable"),
        "text": (np.array([["a"]]), "expected real numbers, found the type <U1"),
        "NaN": (np.array([[np.nan]]), "expected finite numbers"),
        "rank": (
            np.ones(4),
            "expected an array of 2 dimensions, or 3 with depth first, found the shape (4,)",
        ),
    }


@pytest.mark.parametrize("case", _file_cases())
def test_files_that_hold_no_table(tmp_path, case):
    content, words = _file_cases()[case]
    if isinstance(content, bytes):
        (tmp_path / "w.npy").write_bytes(content)
    elif content is not None:
        np.save(tmp_path / "w.npy", content, allow_pickle=True)
    text = SMALL.replace('"xi*y"', '{ cells = "w.npy" }')
    message = str(refused(write(tmp_path, text)))
    assert words in message
    assert f"line {line_of(text, 'w.npy')}: equation.dense.0.kernel.cells: " in message


def test_the_key_of_an_archive(tmp_path):
    np.savez(tmp_path / "w.npz", a=np.ones((2, 2)), b=np.ones((3, 3)))
    text = SMALL.replace('"xi*y"', '{ cells = "w.npz" }')
    assert "expected a key that is one of a, b, found no key" in str(refused(write(tmp_path, text)))
    keyed = SMALL.replace('"xi*y"', '{ cells = "w.npz", key = "c" }')
    assert "one of a, b, found key = 'c'" in str(refused(write(tmp_path, keyed)))
    load_config(write(tmp_path, keyed.replace('"c"', '"a"')), library=False)


def test_head_cells_divide_the_table(tmp_path):
    np.save(tmp_path / "w.npy", np.ones((8, 9)))
    text = PAPER.replace("{ identity = 1.0, cells = 8 }", '{ cells = "w.npy", head_cells = 2 }')
    assert "a multiple of head_cells = 2 cells" in str(refused(write(tmp_path, text)))


def test_a_model_without_files(tmp_path):
    text = 'title = "m"\n[model]\npath = "nowhere"\ntexts = ["a"]\n[time]\nsteps = 6\n'
    message = str(refused(write(tmp_path, text)))
    assert 'line 3: model.path: expected "minilm" or a directory with config.json' in message


#: text, what to replace, by what; then key and words.  These checks need the library.
LIBRARY_MISTAKES = {
    "expression": (SMALL, '"x + y"', '"x + * y"', "initial.expression", "column 5: not a formula"),
    "variable": (SMALL, '"xi*y"', '"xi*z"', "equation.dense.0.kernel", "column 4: "),
    "attribute": (SMALL, '"xi*y"', '"xi.__class__"', "equation.dense.0.kernel", "column 1: "),
    "layer": (
        PAPER,
        '"eta*zeta"',
        '"eta*x"',
        "equation.attention.value.kernel.layers.1",
        "'eta*x'",
    ),
    "factor": (
        PAPER,
        '["eta", "a"]',
        '["y", "a"]',
        "equation.attention.output.kernel.separable.1.0",
        "'y'",
    ),
    "observable": (PAPER, '"u**2"', '"v**2"', "observables.second", "column 1: "),
    "parameter": (PAPER, "a = 0.7", "sin = 0.7", "parameters", "means something else already"),
    "scheme": (SMALL, '"euler"', '"ruler"', "time.scheme", 'found "ruler"; did you mean "euler"?'),
    "rule": (
        SMALL,
        "features = 6",
        'features = 6\nrule = "midpont"',
        "grid.rule",
        'expected one of midpoint, trapezoid, left, simpson, periodic, found "midpont"; did you '
        'mean "midpoint"?',
    ),
    "basis": (
        PAPER,
        '"chebyshev"',
        '"chebychev"',
        "equation.dense.0.kernel.basis",
        'one of fourier, legendre, chebyshev, found "chebychev"; did you mean "chebyshev"?',
    ),
    "activation": (
        PAPER,
        "horizon = 1.0",
        'horizon = 1.0\nactivation = "glu"',
        "equation.activation",
        'expected one of gelu, gelu_tanh, relu, silu, tanh, found "glu"; did you mean "gelu"?',
    ),
    "scheme of a reference": (
        PAPER,
        'size = 64, rule = "midpoint"',
        'size = 64, scheme = "lee"',
        "studies.0.reference.scheme",
        'found "lee"; did you mean "lie"?',
    ),
    "rule in set": (
        PAPER,
        '"grid.rule" = "left"',
        '"grid.rule" = "lft"',
        "studies.0.set",
        'found "lft"; did you mean "left"?',
    ),
    "closed form with t": (
        SPHERE,
        '"sin(2*pi*y)"',
        '"sin(2*pi*y)*t"',
        "studies.0.reference",
        "constant in t, found one with t",
    ),
    "factor with a mean": (
        SPHERE,
        '"sin(2*pi*y)"',
        '"sin(2*pi*y) + 1"',
        "studies.0.reference",
        "right factors of mean zero",
    ),
    "factor that is not finite": (
        SPHERE,
        '"sin(2*pi*y)"',
        '"sin(2*pi*y)*exp(800*y)"',
        "studies.0.reference",
        "did not converge",
    ),
    "solution that is not finite": (
        MANUFACTURED,
        "sin(2*pi*y + x + t)",
        "sin(2*pi*y + x + t) + log(y - 1)",
        "studies.0.reference",
        "must keep the equation's moments: at t = 0 ",
    ),
    "manufactured off the set": (
        MANUFACTURED,
        "sin(2*pi*y + x + t)",
        "sin(2*pi*y + x + t)*(1 + t)",
        "studies.0.reference",
        "must keep the equation's moments: at t = 0.125",
    ),
}


@pytest.mark.parametrize("mistake", LIBRARY_MISTAKES)
def test_what_the_library_does_not_know_gets_its_line_too(tmp_path, mistake):
    text, old, new, key, words = LIBRARY_MISTAKES[mistake]
    assert text.count(old) == 1
    load_config(write(tmp_path, text))  # sound before the change
    changed = text.replace(old, new)
    path = write(tmp_path, changed)
    error = refused(path, library=True)
    found, message = error.findings[0], str(error).split("\n")[0]
    assert ".".join(map(str, found.path)).startswith(key)
    assert message.startswith(f"{path}, line ") and words in message
    assert _stands_there(changed, found.path, int(message.split("line ")[1].split(":")[0]))


def test_an_override_of_a_list_is_blamed_for_its_items_alone(tmp_path):
    change = "studies.halves.sizes=[-1, 0, 2.5]"
    with pytest.raises(ConfigError) as error:
        load_config(write(tmp_path, SMALL + STUDY), [change])
    lines = str(error.value).split("\n")
    assert len(lines) == 3  # and none that counts the items that are left
    assert all(line.startswith(f"--set {change}: studies.0.sizes.") for line in lines)


def test_lines_are_a_reference_in_time_alone(tmp_path):
    text = SMALL + STUDY.replace('"time"', '"space"')
    with pytest.raises(ConfigError, match="sees errors in time alone"):
        load_config(write(tmp_path, text))


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    path = write(tmp_path, SMALL)
    expected = load_config(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_config(path) == expected

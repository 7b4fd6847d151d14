"""The line of a key is the line on which a reader finds it."""

import tomllib

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from experiments.config.locate import key_lines

#: Each `line = N` stands on line N.
DOCUMENT = '''\
# a comment with [brackets] and = signs
title = "a # in text, and \\" too"
"quoted.key" = 3
'single "quoted"' = 4
a.b.c = 5
text = """
[not.a.table]
x = 1 ""\\""""
other = \'\'\'
]] [[ '''  # the closing quotes come below
DOCUMENT += """'''
date = 1979-05-27 07:32:00
[table] # with a comment
line = 13
inline = { line = 14, deep = { line = 14, list = [1, { line = 14 }] } }
list = [
    1, # one ]
    [2,
     3],
    { line = 19 },
]
[table.sub.deeper]
line = 22
[[rows]]
line = 24
[[rows]]
line = 26
[[rows.cells]]
line = 28
[[rows.cells]]
line = 30
[rows.cells."x y"]
line = 32
[last]
line = 34"""


def leaves(data, path=()):
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from leaves(value, (*path, index))
    else:
        yield path, data


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_line_number_in_a_file_is_found_there(newline):
    text = DOCUMENT.replace("\n", newline)
    data = tomllib.loads(text)
    lines = key_lines(text)
    found = {path: value for path, value in leaves(data) if path[-1] == "line"}
    assert len(found) == 12
    assert {path: lines[path] for path in found} == found


def test_tables_strings_and_items_stand_where_they_begin():
    lines = key_lines(DOCUMENT)
    assert lines[("quoted.key",)] == 3 and lines[('single "quoted"',)] == 4
    assert lines[("a",)] == lines[("a", "b")] == lines[("a", "b", "c")] == 5
    assert lines[("text",)] == 6 and lines[("other",)] == 9 and lines[("date",)] == 11
    assert lines[("table",)] == 12 and lines[("table", "list")] == 15
    assert [lines[("table", "list", k)] for k in range(3)] == [16, 17, 19]
    assert lines[("table", "list", 1, 1)] == 18
    assert lines[("table", "sub")] == lines[("table", "sub", "deeper")] == 21
    assert lines[("rows",)] == lines[("rows", 0)] == 23 and lines[("rows", 1)] == 25
    assert lines[("rows", 1, "cells")] == 27 and lines[("rows", 1, "cells", 1)] == 29


#: Data whose leaves are told apart by numbers that occur nowhere else.
KEYS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=5)
TREES = st.recursive(
    st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=25,
)


def numbered(tree, count):
    """The tree with 1000000, 1000001, ... for its leaves."""
    if isinstance(tree, dict):
        return {key: numbered(value, count) for key, value in tree.items()}
    if isinstance(tree, list):
        return [numbered(value, count) for value in tree]
    count.append(1_000_000 + len(count))
    return count[-1]


@given(st.dictionaries(KEYS, TREES, max_size=4))
def test_any_document_is_located(tree):
    data = numbered(tree, [])
    text = tomli_w.dumps(data)
    # a Unicode line separator is no line end in TOML
    rows, lines = text.split("\n"), key_lines(text)
    for path, value in leaves(data):
        assert str(value) in rows[lines[path] - 1]

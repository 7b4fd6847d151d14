"""Whatever stands in the file: a config, or an error that names a place; never a traceback."""

import os
import re

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.config import ConfigError, load_config, shipped
from tests.experiments.config.texts import MANUFACTURED, PAPER, SMALL, SPHERE, STUDY, write

#: The issue asks for 500 in the soak, more than the profile draws.
EXAMPLES = 500 if os.environ.get("TEST_BUDGET") == "soak" else 8

SOURCES = [config.path.read_bytes() for config in shipped()]
SOURCES += [text.encode() for text in (PAPER, SMALL + STUDY, SPHERE, MANUFACTURED)]

FRAGMENTS = [
    *b'" \' """ [ ] [[ { } = . , # \n \r \r\n -1 0 nan inf 1e999 true [] {} "x" \xff \x00'.split(
        b" "
    ),
    *(b"1979-05-27 07:32:00", b"9" * 400, b"9" * 5000, b'"residual"', b"10000000", b"sin(", b"**"),
]


@st.composite
def mutated(draw):
    """A sound config with some bytes cut out, put in, or its lines exchanged."""
    text = bytearray(draw(st.sampled_from(SOURCES)))
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["cut", "insert", "swap", "value"]))
        at = draw(st.integers(0, max(len(text) - 1, 0)))
        rows = bytes(text).split(b"\n")
        row = draw(st.integers(0, len(rows) - 1))
        if kind == "cut":
            del text[at : at + draw(st.integers(1, 30))]
        elif kind == "insert":
            text[at:at] = draw(st.sampled_from(FRAGMENTS) | st.binary(min_size=1, max_size=4))
        elif kind == "swap":
            other = draw(st.integers(0, len(rows) - 1))
            rows[row], rows[other] = rows[other], rows[row]
            text = bytearray(b"\n".join(rows))
        else:
            rows[row] = rows[row].split(b"=")[0] + b"= " + draw(st.sampled_from(FRAGMENTS))
            text = bytearray(b"\n".join(rows))
    return bytes(text)


WORDS = sorted(set(re.findall(r"[a-z_]+", PAPER + SMALL + STUDY))) + ["", "a b", "\n", "é"]
VALUES = st.recursive(
    st.sampled_from(WORDS) | st.integers() | st.floats() | st.booleans() | st.dates() | st.times(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
    ),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=6)


def accepted(path):
    """Load; an error must name the file and a line, and a sound config must load back."""
    try:
        config = load_config(path)
    except ConfigError as error:
        first = str(error).split("\n")[0]
        assert re.match(re.escape(str(path)) + r", line \d+(, column \d+)?: .", first), first
        return False
    again = write(path.parent, config.resolved_toml(), "again.toml")
    assert load_config(again) == config
    return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("malformed")


@settings(max_examples=EXAMPLES)
@given(content=mutated())
def test_mutated_configs(folder, content):
    accepted(write(folder, content))


@settings(max_examples=EXAMPLES)
@given(data=DOCUMENTS)
def test_any_toml(folder, data):
    assert not accepted(write(folder, tomli_w.dumps(data)))


@settings(max_examples=EXAMPLES)
@given(content=st.binary(max_size=200))
def test_any_bytes(folder, content):
    assert not accepted(write(folder, content))


@settings(max_examples=EXAMPLES)
@given(override=st.text(max_size=30) | st.sampled_from(["time.steps", "studies", "grid"]).flatmap(
    lambda head: st.text(max_size=10).map(lambda tail: f"{head}{tail}")
))  # fmt: skip
def test_any_override(folder, override):
    path = write(folder, SMALL + STUDY)
    try:
        load_config(path, [override])
    except ConfigError as error:
        assert "--set" in str(error) or "line" in str(error)

"""The page on extending is followed to the letter: its OPT is recovered and judged."""

import importlib.util
import re
import sys
import textwrap
from pathlib import Path

import pytest

from discretize.encoders.registry import FAMILIES
from experiments.architectures.judging import TOLERANCE, difference
from experiments.architectures.row import Row

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
BLOCK = re.compile(r"<!-- file: (\S+) -->\n\n((?:    .*\n|\n)+)")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The files that the page shows, as modules."""
    folder = tmp_path_factory.mktemp("page")
    found = {}
    for name, text in BLOCK.findall(PAGE.read_text()):
        file = folder / name.replace("/", "_")
        file.write_text(textwrap.dedent(text))
        spec = importlib.util.spec_from_file_location(file.stem, file)
        found[name] = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = found[name]
        spec.loader.exec_module(found[name])
    yield found
    for module in found.values():
        sys.modules.pop(module.__name__)


@pytest.fixture
def row(written, monkeypatch) -> Row:
    family = written["discretize/encoders/opt.py"].FAMILY
    assert family.model_type not in FAMILIES
    monkeypatch.setitem(FAMILIES, family.model_type, family)
    return written["experiments/architectures/opt.py"].ROW


@pytest.mark.parametrize("k", range(3))
def test_the_page_s_architecture_is_its_reference(row, k):
    for parts in ((1, 1), (2, 2)):
        _, relative = difference(row, row.configurations[k], 0, parts)
        assert relative <= TOLERANCE, parts


def test_what_the_page_refuses_is_refused(row):
    settings = {**row.configurations[0], "do_layer_norm_before": False}
    with pytest.raises(TypeError, match="do_layer_norm_before False is not covered"):
        row.read(row.build(settings))

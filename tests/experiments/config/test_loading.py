"""What a sound config says after loading, overriding and writing."""

import importlib.util
import subprocess
import sys
import tomllib

import numpy as np
import pytest

from experiments.config import load_config, reference_config, refined, shipped, sized
from experiments.config.overrides import parse_override
from tests.experiments.config.texts import PAPER, SMALL, STUDY, write


@pytest.fixture
def small(tmp_path):
    return write(tmp_path, SMALL)


@pytest.fixture
def paper(tmp_path):
    return write(tmp_path, PAPER, "paper.toml")


def load(path, *overrides):
    return load_config(path, overrides, library=False)


def test_what_is_written_is_what_is_read(paper):
    config = load(paper)
    assert config.domains.tokens == ((0.0, 1.0), (0.0, 2.0))
    assert config.equation.form == "paper" and config.equation.rate == "consistent"
    assert config.equation.attention.scale == 2.0
    assert config.equation.attention.query.bias.coefficients == (1.0, 2.0, 3.0)
    assert config.equation.dense[0].kernel.coefficients == ((1.0, 2.0), (3.5, 4.0))
    assert config.equation.attention.output.kernel.separable == (("zeta", "y*t"), ("eta", "a"))
    assert config.grid.rules.tokens == ("midpoint", "left")
    assert config.study("space").set == {"grid.rule": "left", "time.steps": 32}


def test_defaults_that_depend_on_other_parts(small, paper):
    config = load(paper)
    assert config.initial.project is True  # the equation has moments
    assert config.initial.cells == (8, 4, 8)  # those of the grid
    assert config.domains.head_features == (0.0, 1.0)  # Omega_y
    assert config.grid.rules.heads == "midpoint"
    assert load(small).initial.project is False  # no moments to project onto
    assert load(small).domains.hidden == (0.0, 1.0)


@pytest.mark.parametrize("text", [SMALL, PAPER, SMALL + STUDY])
def test_the_resolved_text_loads_back(tmp_path, text):
    config = load(write(tmp_path, text))
    resolved = config.resolved_toml()
    assert tomllib.loads(resolved)["initial"]["project"] is config.initial.project
    assert load(write(tmp_path, resolved, "again.toml")) == config
    changed = load(write(tmp_path, resolved, "again.toml"), "time.steps=64")
    assert changed != config


def test_whole_numbers_are_numbers_and_nothing_else_is(small):
    assert load(small, "equation.horizon=2").equation.horizon == 2.0
    assert type(load(small, "equation.horizon=2").equation.horizon) is float


@pytest.mark.parametrize(
    ("override", "read"),
    [
        ("time.steps=16", lambda c: c.time.steps == 16),
        ("time.scheme=strang", lambda c: c.time.scheme == "strang"),
        ('time.scheme="rk4"', lambda c: c.time.scheme == "rk4"),
        ("grid.rule.tokens=left", lambda c: c.grid.rules.tokens == ("left",)),
        ("equation.dense.0.kernel=sin(xi)*y + t", lambda c: c.equation.dense[0].kernel[-1] == "t"),
        ("equation.source.expression=x == y", lambda c: c.equation.source.expression == "x == y"),
        ("studies.0.sizes=[2, 4]", lambda c: c.studies[0].sizes == (2, 4)),
        ("studies.halves.sizes.1=5", lambda c: c.studies[0].sizes == (4, 5, 16)),
        ('studies."halves".norm=max', lambda c: c.study("halves").norm == "max"),
        ('observables."mean_u" = u', lambda c: c.observables == {"mean_u": " u"}),
        ("domains.features.1=2", lambda c: c.domains.features == (0.0, 2.0)),
        ("equation.moments={mean = 1, deviation = 0}", lambda c: c.equation.moments.mean == 1.0),
        ("domains.tokens=[[0, 3]]", lambda c: c.domains.tokens == ((0.0, 3.0),)),
        ("parameters.b=1e-3", lambda c: c.parameters == {"b": 1e-3}),
    ],
)
def test_overrides(tmp_path, override, read):
    path = write(tmp_path, SMALL + STUDY)
    if override.startswith("grid.rule."):
        path = write(
            tmp_path, SMALL.replace("features = 6", 'features = 6\nrule = {heads = "left"}')
        )
    assert read(load(path, override))


def test_the_last_override_of_a_key_wins(small):
    assert load(small, "time.steps=16", "time.steps=32").time.steps == 32


def test_an_override_cannot_smuggle_in_a_second_key():
    assert parse_override("title=1\nseed = 2").value == "1\nseed = 2"


def test_names_beat_indices_and_both_reach_a_list(tmp_path):
    text = SMALL + STUDY.replace("halves", "1") + STUDY
    config = load(write(tmp_path, text), "studies.1.norm=max")
    assert [study.norm for study in config.studies] == ["max", "l2"]


def test_files_beside_the_config_become_absolute(tmp_path):
    np.save(tmp_path / "w.npy", np.ones((3, 2)))
    text = SMALL.replace('"xi*y"', '{ cells = "w.npy" }')
    config = load(write(tmp_path, text))
    assert config.equation.dense[0].kernel.cells == str(tmp_path / "w.npy")
    other = tmp_path / "elsewhere"
    other.mkdir()
    assert load(write(other, config.resolved_toml())) == config


def test_refining_sets_the_axis_of_the_study(paper):
    config = load(paper)
    space, joint = config.studies
    fine = refined(config, space, 2)
    assert fine.grid.tokens == (16, 16) and fine.grid.features == 8  # only the axis
    assert fine.grid.rule == "left"  # what the study sets
    assert (fine.time.steps, fine.time.save_every) == (32, 32)  # ends only
    finest = reference_config(config, space)
    assert finest.grid.tokens == (64, 64) and finest.grid.rule == "midpoint"
    assert finest.time.steps == 64
    both = refined(config, joint, 1)
    assert both.grid.tokens == (8, 8) and both.grid.features == 8 and both.time.steps == 16
    assert reference_config(config, joint) is None


@pytest.mark.parametrize(
    ("axis", "keys"),
    [
        ("time", {"time.steps": 10}),
        ("features", {"grid.features": 10, "time.steps": 8}),
        ("heads", {"grid.heads": 10, "time.steps": 8}),
        ("space", {"grid.tokens": 10, "grid.features": 10, "time.steps": 8}),
    ],
)
def test_sizes_by_axis(tmp_path, axis, keys):
    config = load(write(tmp_path, SMALL + STUDY))
    study = config.studies[0].model_copy(update={"axis": axis})
    found = sized(config, study, 10)
    assert {
        key: value
        for key, value in found.items()
        if key[:10] != "time.save_" and key != "time.chunk"
    } == keys


def test_a_changed_config_is_complete_and_another(small):
    config = load(small)
    changed = config.with_overrides({"time.steps": 32, "domains.features": [0, 2]})
    assert changed.time.steps == 32 and changed.domains.features == (0.0, 2.0)
    assert config.time.steps == 8
    assert changed.with_overrides({"time.steps": 8, "domains.features": (0.0, 1.0)}) == config


def test_every_shipped_config_loads_by_name():
    names = [config.name for config in shipped()]
    assert names == sorted(names) and {"joint", "exact-linear"} <= set(names)
    for config in shipped():
        found = load(config.name)
        assert found.title == config.title


def test_the_vocabulary_loads_nothing_heavy():
    """Start-up of the command line: neither jax nor numpy nor xarray."""
    code = (
        "import sys, experiments.config as c; c.load_config('joint', library=False); "
        "print(sorted({'jax', 'numpy', 'xarray', 'zarr', 'matplotlib'} & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert found.strip() == "[]"


def test_the_writer_is_installed():
    assert importlib.util.find_spec("tomli_w") is not None

"""The trajectory, as xarray reads it."""

import dataclasses
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
import xarray
import zarr
from hypothesis import given
from hypothesis import strategies as st

from experiments.results import Identity, RunDirectory, open_run, store
from experiments.results.layout import Constant, Layout, Observable
from experiments.results.writer import TrajectoryWriter, stream
from tests.experiments.results.comparison import assert_finished, assert_same_bits
from tests.experiments.results.example import Example, Piece

IDENTITY = Identity("run", "float32", 7, {"jax": "1.2"}, ill_posed=("S1 and S2 are disjoint",))


@pytest.fixture
def directory(tmp_path):
    with RunDirectory.create(tmp_path / "run", config_text="", identity=IDENTITY) as found:
        yield found


def layout(**changes):
    base = Layout(
        initial=np.arange(6.0, dtype=np.float32).reshape(3, 2),
        tokens=np.array([0.5, 1.5, 2.5]),
        features=np.array([0.25, 0.75]),
        horizon=2.0,
        steps=4,
    )
    return dataclasses.replace(base, **changes)


def piece(first, last, shape=(3, 2), observed=None, save_every=1):
    """Recognisable states in float32: the step is the integer part."""
    saved = [step for step in range(first + 1, last + 1) if step % save_every == 0]
    states = np.array([np.full(shape, step + 0.5, np.float32) for step in saved])
    return Piece(first, last, np.array(saved) / 2, states, observed or {}, np.zeros(1))


def test_coordinates_and_attributes_follow_cf(directory):
    watched = {"energy": Observable("energy of u", initial=1.5)}
    writer = TrajectoryWriter(
        directory, layout(title="A title", observables=watched, attributes={"comment": "short"})
    )
    writer.append(piece(0, 4, observed={"energy": np.arange(4.0)}))
    data = xarray.open_zarr(directory.path / store.NAME)
    assert data["u"].dims == ("t", "x", "y")
    assert data["u"].dtype == np.float32
    assert data["energy"].dims == ("step",)
    assert data["energy"].attrs == {"long_name": "energy of u", "units": "1"}
    assert data["energy"].values.tolist() == [1.5, 0, 1, 2, 3]
    for name, axis in {"t": "T", "x": "X", "y": "Y"}.items():
        assert data[name].dims == (name,)
        assert data[name].attrs["units"] == "1"
        assert data[name].attrs["axis"] == axis
        assert data[name].attrs["long_name"]
    assert data["t"].values.tolist() == [0, 0.5, 1, 1.5, 2]
    assert data["x"].values.tolist() == [0.5, 1.5, 2.5]
    assert data["y"].values.tolist() == [0.25, 0.75]
    assert data["step"].values.tolist() == [0, 1, 2, 3, 4]
    assert data["step_time"].dims == ("step",)
    assert "step_time" in data["energy"].coords
    assert data["step_time"].values.tolist() == [0, 0.5, 1, 1.5, 2]
    assert data.attrs == {
        "title": "A title",
        "Conventions": "CF-1.11",
        "source": "transformer-continuum (jax 1.2)",
        "precision": "float32",
        "seed": 7,
        "ill_posed": "S1 and S2 are disjoint",
        "comment": "short",
    }
    assert data["u"].sel(t=1.5, x=2.5, method="nearest").values.tolist() == [3.5, 3.5]
    assert zarr.open_group(directory.path / store.NAME, mode="r").metadata.zarr_format == 3


def test_two_token_coordinates_and_samples(directory):
    nodes = np.array(list(itertools.product([0.25, 0.75], [1.0, 2.0, 3.0])))
    initial = np.arange(24.0, dtype=np.float32).reshape(2, 6, 2)
    valid = np.array([[True] * 6, [True] * 4 + [False] * 2])
    places = layout(
        initial=initial,
        tokens=nodes,
        observables={"mean": Observable("mean of u", dimensions=("sample",), initial=[1, 2])},
        constants={"valid": Constant(valid, ("sample", "token"), "not padding")},
    )
    means = np.arange(8.0).reshape(4, 2)
    TrajectoryWriter(directory, places).append(piece(0, 4, (2, 6, 2), {"mean": means}))
    data = xarray.open_zarr(directory.path / store.NAME)
    assert data["u"].dims == ("t", "sample", "token", "y")
    assert_same_bits(data["u"][0], initial)
    for name, column in zip(("x1", "x2"), nodes.T, strict=True):
        assert data[name].dims == ("token",)
        assert_same_bits(data[name], column)
        assert name in data["u"].coords
        assert name in data["valid"].coords
    assert data["sample"].attrs["standard_name"] == "realization"
    assert_same_bits(data["valid"], valid)
    assert_same_bits(data["mean"], np.concatenate([[[1.0, 2.0]], means]))


def test_published_part_of_an_unfinished_run(directory):
    writer = TrajectoryWriter(directory, layout(observables={"a": Observable("a")}), share=1)
    assert writer.state is None
    writer.append(piece(0, 2, observed={"a": np.array([1.0, 2.0])}))
    run = open_run(directory.path)
    assert dict(run.dataset.sizes) == {"t": 3, "x": 3, "y": 2, "step": 3}
    assert run.dataset["u"][:, 0, 0].values.tolist() == [0, 1.5, 2.5]
    assert run.checkpoint().tolist() == [0]
    whole = xarray.open_zarr(directory.path / store.NAME)
    assert whole["u"].sizes["t"] == 5
    assert np.isnan(whole["u"][3:]).all()
    assert np.isnan(whole["a"][[0, 3, 4]]).all()


def test_publishing_takes_a_share_of_the_time(directory, monkeypatch):
    """A publication that takes 1 s with a share of a quarter: the next one 4 s after its start."""
    clock = [0.0]
    monkeypatch.setattr("experiments.results.writer.time.monotonic", lambda: clock[0])
    publish = directory.publish

    def slow(**changes):
        clock[0] += 1
        publish(**changes)

    monkeypatch.setattr(directory, "publish", slow)
    writer = TrajectoryWriter(directory, layout(steps=8, horizon=4.0), share=0.25)
    clock[0], published = 0.0, []
    for step in range(8):
        writer.append(piece(step, step + 1))
        published.append(open_run(directory.path).manifest.trajectory.steps_done)
        clock[0] += 1.0
    # Starts at 0 and 4 by the clock, where 1 s of each is its own; the last piece always is.
    assert published == [1, 1, 1, 4, 4, 4, 7, 8]


def test_an_error_of_the_solver_keeps_what_came_before(directory):
    def pieces():
        yield piece(0, 1)
        yield piece(1, 2)
        raise ArithmeticError("NaN")

    seen = []
    writer = TrajectoryWriter(directory, layout(), share=1e-9)
    with pytest.raises(ArithmeticError, match="NaN"):
        stream(writer, pieces(), lambda done: seen.append(done.last_step))
    assert seen == [1, 2]
    assert open_run(directory.path).manifest.trajectory.steps_done == 2


@given(
    steps=st.integers(1, 12),
    save_every=st.integers(1, 4),
    chunk=st.integers(1, 5),
    shape=st.sampled_from([(1, 1), (3, 2), (2, 3, 2)]),
    stops=st.lists(st.integers(0, 12), max_size=3),
    share=st.sampled_from([1.0, 1e-9]),
    small=st.booleans(),
)
def test_every_layout_and_every_stop(
    tmp_path_factory, steps, save_every, chunk, shape, stops, share, small
):
    """Read back bit for bit, with chunks of any size, after stops at any pieces."""
    steps *= save_every
    example = Example(steps=steps, save_every=save_every, chunk=chunk, shape=shape)
    path = tmp_path_factory.mktemp("layouts") / "run"
    with pytest.MonkeyPatch.context() as patch:
        if small:
            patch.setattr(store, "LARGEST_CHUNK", 16)
            patch.setattr(store, "OBSERVABLE_CHUNK", 24)
        for stop in stops:
            with RunDirectory.resume(
                path, config_text=example.config_text, identity=example.identity
            ) as directory:
                writer = TrajectoryWriter(directory, example.layout, share=share)
                state = example.start if writer.state is None else writer.state
                for done in itertools.islice(example.pieces(state, writer.step), stop):
                    writer.append(done)
        example.resume(path, share=share)
    assert_finished(path, example)
    chunks = xarray.open_zarr(path / store.NAME)["u"].encoding["chunks"]
    if small:
        assert np.prod(chunks) * 8 <= max(16, 8 * chunks[0])
    else:
        assert chunks[0] == min(chunk, steps // save_every + 1)
        assert chunks[1:] == shape


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "Another"},
        {"tokens": np.array([0.5, 1.5, 2.75])},
        {"initial": np.arange(6.0).reshape(3, 2)},
        {"initial": -np.arange(6.0, dtype=np.float32).reshape(3, 2)},
        {"steps": 8},
        {"observables": {"a": Observable("a")}},
    ],
)
def test_another_trajectory_is_not_continued(directory, changes):
    TrajectoryWriter(directory, layout()).append(piece(0, 2))
    with pytest.raises(ValueError, match="expected the trajectory that this run began"):
        TrajectoryWriter(directory, layout(**changes))
    assert TrajectoryWriter(directory, layout()).step == 2


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"first": 1, "last": 2}, "expected a piece from step 0 to at most 4, got one from 1 to 2"),
        ({"first": 0, "last": 5}, "got one from 0 to 5"),
        ({"first": 0, "last": 2, "save_every": 2}, "expected 2 states saved from t = 0.5 to 1"),
        ({"first": 0, "last": 2, "shape": (2, 2)}, "u: expected at most 4 values of shape"),
        ({"first": 0, "last": 2, "observed": {"a": np.zeros(2)}}, "expected the observables"),
    ],
)
def test_pieces_that_do_not_fit(directory, wrong, words):
    with pytest.raises(ValueError, match=words):
        TrajectoryWriter(directory, layout()).append(piece(**wrong))
    assert TrajectoryWriter(directory, layout()).step == 0


def test_observables_of_another_shape(directory):
    writer = TrajectoryWriter(directory, layout(observables={"a": Observable("a")}))
    with pytest.raises(ValueError, match=r"a: expected shape \(2,\), got \(2, 3\)"):
        writer.append(piece(0, 2, observed={"a": np.zeros((2, 3))}))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tokens": np.zeros(4)}, "expected shape"),
        ({"tokens": np.zeros((3, 3))}, "expected shape"),
        ({"save_every": 3}, "expected a divisor of steps = 4, got 3"),
        ({"chunk": 0}, "chunk: expected at least 1, got 0"),
        ({"observables": {"u": Observable("u")}}, "expected a name of letters"),
        ({"observables": {"a/b": Observable("u")}}, "expected a name of letters"),
        ({"observables": {"a": Observable("u"), "A": Observable("u")}}, "more than case"),
        ({"observables": {"a": Observable("u", "1", ("z",))}}, "expected dimensions out of x, y"),
        (
            {"constants": {"a": Constant(np.zeros(3), ("x",), "a")}, "observables": {"A": None}},
            "more than case",
        ),
    ],
)
def test_layouts_that_make_no_sense(changes, words):
    with pytest.raises(ValueError, match=words):
        layout(**changes)


def test_a_state_of_other_numbers():
    with pytest.raises(TypeError, match="expected a state of real floats, got int64"):
        layout(initial=np.zeros((3, 2), np.int64))


def test_a_damaged_chunk_or_checkpoint_is_noticed(tmp_path):
    example, path = Example(), tmp_path / "run"
    example.create(path)
    chunk = path / store.NAME / "u" / "c" / "1" / "0" / "0"
    content = bytearray(chunk.read_bytes())
    content[-6] ^= 1
    chunk.write_bytes(content)
    with pytest.raises(ValueError, match="[Cc]hecksum"):
        open_run(path).dataset["u"].load()
    checkpoint = next(path.glob("checkpoint-*"))
    checkpoint.write_bytes(checkpoint.read_bytes()[:-1])
    with pytest.raises(ValueError, match="is missing or damaged; begin with --overwrite"):
        open_run(path).checkpoint()


def test_a_writer_that_failed_publishes_nothing_more(tmp_path, monkeypatch):
    example, path = Example(), tmp_path / "run"
    settings = {"config_text": example.config_text, "identity": example.identity}
    with RunDirectory.create(path, **settings) as directory:
        writer = TrajectoryWriter(directory, example.layout, share=1)
        done = list(example.pieces(example.start, 0))
        writer.append(done[0])
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
            with pytest.raises(OSError, match="full"):
                stream(writer, done[1:])
        with pytest.raises(ValueError, match="expected no piece after one that failed; resume"):
            writer.append(done[1])
        writer.publish()
        assert open_run(path).manifest.trajectory.steps_done == done[0].last_step
    example.resume(path)
    assert_finished(path, example)


def test_results_are_imported_without_what_is_slow():
    slow = {"numpy", "zarr", "xarray", "pandas", "jax", "matplotlib"}
    code = f"import sys, experiments.results; print(sorted({slow} & sys.modules.keys()))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"

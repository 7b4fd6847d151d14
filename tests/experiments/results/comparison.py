"""Bit for bit, by what xarray reads."""

import numpy as np
import xarray

from experiments.results import lock, open_run
from experiments.results.store import NAME


def assert_same_bits(found, expected):
    """Arrays of equal dtype, shape and bits; NaN has bits, too, and so has the sign of 0."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


def assert_finished(path, example):
    """A complete run with the numbers of the map, read by xarray alone."""
    assert open_run(path).manifest.status == "complete"
    with xarray.open_zarr(path / NAME) as dataset:
        for name, values in example.expected().items():
            assert_same_bits(dataset[name], values)


def assert_readable(path, example):
    """A directory with the beginning of the example's run, or nothing at all.

    What is published has the numbers of the map; beyond, there are those or NaN.
    """
    if not path.exists():
        return
    run = open_run(path)
    assert run.config_text == example.config_text
    expected = example.expected()
    progress = run.manifest.trajectory
    if run.manifest.status == "complete":
        assert progress is not None
        assert progress.steps_done == example.steps
    if progress is not None:
        assert (run.checkpoint() is None) == (progress.steps_done == 0)
    if (path / NAME).exists():
        with xarray.open_zarr(path / NAME) as dataset:
            for name, values in expected.items():
                found = dataset[name].values
                assert found.shape == values.shape
                assert np.all(np.isnan(found) | (found == values))
                if progress is not None:
                    length = progress.saved if name == "u" else progress.observed
                    assert_same_bits(found[:length], values[:length])


def contents(path):
    """Every file of a result and what is in it."""
    return {
        str(entry.relative_to(path)): entry.read_bytes()
        for entry in path.rglob("*")
        if entry.is_file() and entry.name != lock.NAME
    }

"""Configs for building, as data."""

import tomli_w

from experiments.config import load_config


def built_config(tmp_path, **tables):
    """A config from tables: those that are not given are a small flow's."""
    found = {
        "title": "a test",
        "seed": 5,
        "domains": {"tokens": [[0.0, 1.0]], "features": [0.0, 2.0]},
        "equation": {"form": "flow", "horizon": 1.5, "dense": [{"kernel": "xi*y"}]},
        "initial": {"expression": "x + y"},
        "grid": {"tokens": 3, "features": 4},
        "time": {"steps": 2},
    }
    path = tmp_path / "config.toml"
    path.write_text(tomli_w.dumps(found | tables))
    return load_config(path)

"""Experiments as TOML: the vocabulary, loading, checking, and what is wrong with a config.

Importing this package loads neither jax nor numpy.  The vocabulary is one model for each table,
a noun for each file; ``load_config`` turns a file and overrides into a checked ``Config``.
"""

from experiments.config.errors import ConfigError, Finding
from experiments.config.loading import load_config
from experiments.config.refinement import reference_config, refined, sized
from experiments.config.root import Config
from experiments.config.shipped import ShippedConfig, shipped
from experiments.config.studies import Study

__all__ = [
    "Config",
    "ConfigError",
    "Finding",
    "ShippedConfig",
    "Study",
    "load_config",
    "reference_config",
    "refined",
    "shipped",
    "sized",
]

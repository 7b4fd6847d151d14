"""A user's own schemes, kernels and rules: Python files named on the command line."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path


def load_plugins(files: Sequence[Path]) -> None:
    """Run each file once, as the import of a module would.

    A plugin extends the tables of the library, for instance
    ``solvers.SCHEMES["mine"] = solvers.Scheme(...)``.  Only files that the user names on the
    command line are run; a config cannot name any.

    Raises:
        ValueError: for a file that is missing, or that raises an exception.
    """
    for number, path in enumerate(files):
        if not path.is_file():
            raise ValueError(f"--plugin: expected a Python file, found none at {path}")
        spec = importlib.util.spec_from_file_location(f"continuum_plugin_{number}", path)
        if spec is None or spec.loader is None:
            raise ValueError(f"--plugin: expected a Python file (.py), got {path}")
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            raise ValueError(f"--plugin: {path} failed: {type(error).__name__}: {error}") from error

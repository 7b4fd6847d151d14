"""Problems on disk: a versioned folder with ``problem.json`` and ``arrays.safetensors``.

JSON holds the tree of the equation and the grid, with a reference where an array stands; the
arrays are safetensors.  Classes are looked up in a fixed table; nothing is ever unpickled,
imported by name or evaluated.
"""

import dataclasses
import json
import math
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import save_file

from continuum import constraints, domains, kernels, operators, structure
from continuum.equations import Equation
from continuum.expressions import Expression, parse
from continuum.kernels import BASES, Basis
from continuum.precision import require_precision
from discretize.grids import AtomicGrid, Grid, TokenGrid, UniformGrid
from discretize.problem import Problem, discretize
from discretize.quadrature import RULES, Rule
from discretize.tensors import read_tensors

FORMAT = "transformer-continuum problem"
VERSION = 1

#: Every class a saved problem may contain.
CLASSES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        constraints.MomentSet,
        constraints.NonnegativeCone,
        domains.Domain,
        kernels.AnalyticField,
        kernels.AnalyticKernel,
        kernels.BasisField,
        kernels.BasisKernel,
        kernels.CellField,
        kernels.CellKernel,
        kernels.LayeredField,
        kernels.LayeredKernel,
        kernels.LowRankKernel,
        kernels.SeparableKernel,
        operators.Affine,
        operators.BucketBias,
        operators.Causal,
        operators.Composition,
        operators.IntegralAttention,
        operators.LinearBias,
        operators.LinearIntegral,
        operators.Normalisation,
        operators.Pointwise,
        operators.Product,
        operators.Projection,
        operators.Rotary,
        operators.Source,
        operators.Sum,
        structure.Apply,
        structure.Average,
        structure.Flow,
        structure.Sequence,
        Equation,
        AtomicGrid,
        Grid,
        TokenGrid,
        UniformGrid,
    )
}


def save_problem(problem: Problem, folder: str | Path, *, overwrite: bool = False) -> Path:
    """Write a problem to ``folder``, all of it or nothing.

    Args:
        problem: the problem; its kernels and sources must be data (cell-constant, in a basis,
            formulas, separable or layered of such), not Python functions.
        folder: the directory to create.
        overwrite: replace an existing directory, if a problem was saved there.

    Returns:
        The folder.

    Raises:
        FileExistsError: if the folder exists and ``overwrite`` is False, or is something else.
        TypeError: if the equation contains something that is code.
    """
    if not isinstance(problem, Problem):
        raise TypeError(
            f"save_problem: expected a Problem, got a {type(problem).__name__}; a Recovered "
            "has one as .problem (its embedding and final normalisation are not part of it)"
        )
    target = Path(folder)
    if target.exists() and not overwrite:
        raise FileExistsError(f"{target} exists; pass overwrite=True to replace it")
    if target.exists() and not (target / "problem.json").is_file():
        raise FileExistsError(
            f"{target} is not a saved problem; expected a folder with problem.json, anything else "
            "is not replaced"
        )
    arrays: dict[str, np.ndarray] = {}
    content = {
        "format": FORMAT,
        "version": VERSION,
        "num_steps": problem.num_steps,
        "grid": _encode(problem.grid, "grid", arrays),
        "equation": _encode(problem.equation, "equation", arrays),
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        save_file(arrays, staging / "arrays.safetensors")
        (staging / "problem.json").write_text(json.dumps(content, indent=1, allow_nan=False))
        staging.chmod(0o755)
        _move_into_place(staging, target)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return target


def load_problem(folder: str | Path) -> Problem:
    """Read a problem written by :func:`save_problem`.

    Raises:
        FileNotFoundError: if the folder or one of its two files is missing.
        ValueError: if the content is not such a problem, or is damaged, or is in float64 while
            jax runs in float32.
    """
    source = Path(folder)
    path = source / "problem.json"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: expected a folder written by save_problem")
    try:
        content = json.loads(path.read_text())
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path}: expected a file of the format {FORMAT!r}")
    if content.get("version") != VERSION:
        raise ValueError(
            f"{path}: expected version {VERSION}, got {content.get('version')!r}; use the release "
            "that wrote it"
        )
    arrays = read_tensors(source / "arrays.safetensors")
    unused = set(arrays)
    try:
        grid = _decode(content["grid"], arrays, unused)
        equation = _decode(content["equation"], arrays, unused)
        steps = content["num_steps"]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: the description is incomplete or malformed: {error}") from error
    if unused:
        raise ValueError(f"{source}: arrays that the description does not use: {sorted(unused)}")
    if not (isinstance(grid, Grid) and isinstance(equation, Equation)):
        raise ValueError(f"{path}: expected a grid and an equation")
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ValueError(f"{path}: num_steps: expected a whole number >= 1, got {steps!r}")
    return discretize(equation, grid, num_steps=steps)


def _move_into_place(staging: Path, target: Path) -> None:
    if not target.exists():
        os.rename(staging, target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}-old-", dir=target.parent))
    try:
        os.rename(target, old / "replaced")
        os.rename(staging, target)
    except BaseException:
        # what was there goes back; should that fail too, it stays in ``old`` and is not deleted
        if not target.exists():
            os.rename(old / "replaced", target)
        old.rmdir()
        raise
    shutil.rmtree(old, ignore_errors=True)


def _encode(node: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
    """The node as JSON data; arrays go to ``arrays`` under their path."""
    if node is None or isinstance(node, bool | int | str):
        return node
    if isinstance(node, float):
        return node if math.isfinite(node) else {"float": repr(node)}
    if isinstance(node, jax.Array | np.ndarray):
        if path in arrays:
            raise ValueError(
                f"two arrays would be stored as {path!r}: rename the terms whose names contain dots"
            )
        arrays[path] = np.ascontiguousarray(np.asarray(node))
        return {"array": path}
    if isinstance(node, tuple | list):
        return [_encode(item, f"{path}.{k}", arrays) for k, item in enumerate(node)]
    if isinstance(node, Rule | Basis):
        return _encode_named(node, path)
    if isinstance(node, Expression):
        return {
            "expression": node.source,
            "variables": list(node.variables),
            "parameters": [[name, value] for name, value in node.parameters],
        }
    if isinstance(node, Mapping):
        return {"mapping": {k: _encode(v, f"{path}.{k}", arrays) for k, v in node.items()}}
    if CLASSES.get(type(node).__name__) is not type(node) or _is_code(node):
        raise TypeError(
            f"{path}: cannot save a {type(node).__name__}, which is code or not a known class; "
            "write it as an Expression, or sample it into a CellKernel or CellField first"
        )
    fields = {
        field.name: _encode(getattr(node, field.name), f"{path}.{field.name}", arrays)
        for field in dataclasses.fields(node)
    }
    return {"class": type(node).__name__, "fields": fields}


def _encode_named(node: Rule | Basis, path: str) -> dict[str, str]:
    """A member of a table of code, by its name."""
    kind, table = ("rule", RULES) if isinstance(node, Rule) else ("basis", BASES)
    if table.get(node.name) is not node:
        what = "quadrature rule" if kind == "rule" else kind
        raise TypeError(
            f"{path}: cannot save the {what} {node.name!r}, which is code; expected one of "
            f"{', '.join(table)}"
        )
    return {kind: node.name}


def _is_code(node: Any) -> bool:
    """Whether a known class holds a Python function, other than a formula."""
    holders = kernels.AnalyticField | kernels.AnalyticKernel | operators.Source
    return isinstance(node, holders) and not isinstance(node.function, Expression)


def _decode(node: Any, arrays: Mapping[str, np.ndarray], unused: set[str]) -> Any:
    """The inverse of :func:`_encode`."""
    if isinstance(node, list):
        return tuple(_decode(item, arrays, unused) for item in node)
    if not isinstance(node, dict):
        return node
    if "array" in node:
        return _array(node["array"], arrays, unused)
    if "float" in node:
        return {"inf": math.inf, "-inf": -math.inf}[node["float"]]
    if "rule" in node:
        return RULES[node["rule"]]
    if "basis" in node:
        return BASES[node["basis"]]
    if "expression" in node:
        return parse(node["expression"], node["variables"], dict(node["parameters"]))
    if "mapping" in node:
        return {k: _decode(v, arrays, unused) for k, v in node["mapping"].items()}
    cls = CLASSES.get(node["class"])
    if cls is None:
        raise ValueError(f"unknown class {node['class']!r} in the description")
    return cls(**{k: _decode(v, arrays, unused) for k, v in node["fields"].items()})


def _array(name: str, arrays: Mapping[str, np.ndarray], unused: set[str]) -> jax.Array:
    if name not in arrays:
        raise ValueError(f"the array {name!r} is missing; found {sorted(arrays)}")
    unused.discard(name)
    value = arrays[name]
    require_precision(value.dtype, f"the array {name!r}")
    if np.issubdtype(value.dtype, np.floating) and not np.all(np.isfinite(value)):
        raise ValueError(f"the array {name!r} holds NaN or infinite values")
    return jnp.asarray(value)

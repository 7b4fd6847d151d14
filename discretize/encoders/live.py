"""Looking at live torch modules without importing torch."""

import sys
from typing import Any

import numpy as np

from continuum.precision import require_precision


def torch_module() -> Any:
    """The torch module if the program has imported it (whoever holds a model has), else None."""
    return sys.modules.get("torch")


def to_numpy(values: Any) -> Any:
    """A torch tensor as a NumPy array; anything else as it is."""
    torch = torch_module()
    if torch is not None and isinstance(values, torch.Tensor):
        return values.detach().cpu().numpy()
    return values


def state_arrays(module: Any) -> dict[str, np.ndarray]:
    """The tensors of a module's state dict as NumPy arrays that share no memory with it.

    Raises:
        ValueError: for a dtype NumPy does not have, such as bfloat16.
    """
    torch = torch_module()
    arrays = {}
    for name, tensor in module.state_dict().items():
        if tensor.is_floating_point() and tensor.dtype not in (torch.float32, torch.float64):
            raise ValueError(
                f"{name}: expected float32 or float64 weights, got {tensor.dtype}; convert the "
                "model first, with model.float() or model.double()"
            )
        arrays[name] = tensor.detach().cpu().numpy().copy()
    return arrays


def cast(arrays: dict[str, np.ndarray], dtype: str | None) -> dict[str, np.ndarray]:
    """The floating arrays in ``dtype``, checked against jax's precision.

    Raises:
        ValueError: for another dtype than float32 and float64, for float64 with x64 off, or for
            arrays of several dtypes when none is asked for.
    """
    if dtype is not None:
        if dtype not in ("float32", "float64"):
            raise ValueError(f"dtype: expected 'float32' or 'float64', got {dtype!r}")
        arrays = {
            name: value.astype(dtype) if np.issubdtype(value.dtype, np.floating) else value
            for name, value in arrays.items()
        }
    floating = {n: v.dtype for n, v in arrays.items() if np.issubdtype(v.dtype, np.floating)}
    for name, kind in floating.items():
        require_precision(kind, f"the tensor {name!r}")
    if len(kinds := sorted({str(kind) for kind in floating.values()})) > 1:
        raise ValueError(
            f"expected weights of one dtype, found {kinds}; pass dtype='float32' or 'float64'"
        )
    return arrays

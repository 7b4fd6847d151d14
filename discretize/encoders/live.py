"""Looking at live torch modules without importing torch."""

import sys
from typing import Any

import numpy as np

from continuum.precision import require_precision


def torch_module() -> Any:
    """The torch module if the program has imported it (whoever holds a model has), else None."""
    return sys.modules.get("torch")


def check_unaltered(module: Any, allowed: tuple[type, ...]) -> None:
    """Refuse a module that may compute something else than its parameters say.

    Args:
        module: the module, all of its parts included.
        allowed: the exact classes a part may have.

    Raises:
        TypeError: for a part of another class (an adapter, say), a method replaced on an instance,
            or a forward hook.
    """
    for name, part in module.named_modules():
        where = f"{type(module).__name__}.{name}" if name else type(module).__name__
        if type(part) not in allowed:
            raise TypeError(
                f"recover: {where}: expected one of {', '.join(c.__name__ for c in allowed)}, got "
                f"{type(part).__module__}.{type(part).__qualname__}, whose forward may differ"
            )
        replaced = [n for n in vars(part) if callable(getattr(type(part), n, None))]
        hooks = [*part._forward_hooks.values(), *part._forward_pre_hooks.values()]
        # transformers itself leaves hooks behind that collect hidden states
        hooks = [h for h in hooks if not str(h.__module__).startswith("transformers.")]
        if replaced or hooks:
            what = f"replaced methods {replaced}" if replaced else "forward hooks"
            raise TypeError(
                f"recover: {where} has {what}, which may change what it computes; remove them first"
            )


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

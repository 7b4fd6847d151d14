"""Reading tensors from files without ever unpickling."""

import json
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open

#: File suffixes that hold Python pickles.
PICKLES = (".bin", ".ckpt", ".pickle", ".pkl", ".pt", ".pth")


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """All tensors of a safetensors file.

    Raises:
        FileNotFoundError: if there is no such file; names a pickle that stands in its place.
        ValueError: if the file is damaged or truncated, or holds a dtype NumPy does not have.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing{_hint(path.parent)}")
    try:
        with safe_open(path, framework="numpy") as file:
            names = list(file.keys())
            kinds = {name: file.get_slice(name).get_dtype() for name in names}
            odd = sorted(
                {f"{n} ({k})" for n, k in kinds.items() if k in ("BF16", "F16") or "F8" in k}
            )
            if odd:
                raise ValueError(
                    f"{path}: expected float32 or float64 weights, found half or quantised ones: "
                    f"{_some(odd)}; convert them first"
                )
            return {name: file.get_tensor(name) for name in names}
    except (SafetensorError, json.JSONDecodeError, OSError) as error:
        raise ValueError(
            f"{path}: not a whole safetensors file ({error}); it may be truncated or another "
            "format: copy or export it again"
        ) from error


def refuse_pickle(path: Path) -> None:
    """Refuse a path that names a pickle.

    Raises:
        ValueError: always when the suffix is that of a pickle.
    """
    if path.suffix in PICKLES:
        raise ValueError(
            f"{path}: a pickle can run code when it is read and is never opened here; expected a "
            "folder with config.json and model.safetensors (model.save_pretrained writes one)"
        )


def _hint(folder: Path) -> str:
    pickles = sorted(p.name for p in folder.glob("*") if p.suffix in PICKLES)
    if not pickles:
        return f"; {folder} holds {_some(sorted(p.name for p in folder.glob('*'))) or 'nothing'}"
    return (
        f", and {_some(pickles)} stands there: a pickle can run code when it is read and is never "
        "opened here; write safetensors instead (model.save_pretrained does)"
    )


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")

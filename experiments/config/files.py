"""Arrays of numbers from .npy and .npz files, never unpickled."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


def read_array(path: str, key: str | None = None) -> "np.ndarray":
    """The array of a .npy file, or one array of a .npz file.

    Args:
        path: the file.
        key: the array's name in a .npz file; may be left out where there is only one.

    Returns:
        A finite array of floating numbers, of float32 where the file holds that, else float64.

    Raises:
        ValueError: if the file is missing, damaged, holds Python objects or anything but finite
            numbers, or the key does not fit; the message says what was expected and found.
    """
    if not Path(path).is_file():
        raise ValueError(
            f"expected a .npy or .npz file, found none at {path} (names are relative to the "
            "config's directory or to the working directory)"
        )
    return _numbers(_load(path, key), path)


def _load(path: str, key: str | None) -> Any:
    import numpy as np

    try:
        with open(path, "rb") as file:
            found = np.load(file, allow_pickle=False)
            if isinstance(found, np.ndarray):
                _refuse_key(path, key)
                return found
            names = list(found.files)
            name = _name(path, key, names)
            return found[name]
    except _KeyMismatchError:
        raise
    except Exception as error:  # a file from outside may fail in any way while it is read
        words = " ".join(str(error).split())[:200] or type(error).__name__
        raise ValueError(
            f"{path} is not readable as a .npy or .npz file of numbers ({words}); write it with "
            "numpy.save or numpy.savez"
        ) from error


class _KeyMismatchError(ValueError):
    """The key and the file do not fit."""


def _refuse_key(path: str, key: str | None) -> None:
    if key is not None:
        raise _KeyMismatchError(
            f"{path} holds a single array without a name, found key = {key!r}; leave out the key"
        )


def _name(path: str, key: str | None, names: list[str]) -> str:
    if key is None and len(names) == 1:
        return names[0]
    if key in names:
        return str(key)
    found = "no key" if key is None else f"key = {key!r}"
    raise _KeyMismatchError(
        f"{path}: expected a key that is one of {', '.join(names) or '(nothing)'}, found {found}"
    )


def _numbers(found: Any, path: str) -> "np.ndarray":
    import numpy as np

    if found.dtype.kind not in "fiu":
        raise ValueError(f"{path}: expected real numbers, found the type {found.dtype}")
    values = found if found.dtype == np.float32 else found.astype(np.float64)
    if values.size == 0 or not np.all(np.isfinite(values)):
        raise ValueError(f"{path}: expected finite numbers, found NaN, infinities or nothing")
    return values

"""Rotary position encodings of Hugging Face models: their constants, as the models round them."""

from collections.abc import Mapping

import numpy as np

from continuum.operators import Rotary
from discretize.encoders.config import Config
from discretize.encoders.live import to_numpy
from discretize.encoders.opening import Opened
from discretize.encoders.stacking import Tensors


def rope_parameters(config: Config, **legacy: tuple[str, float]) -> Config:
    """The entries of the rotation, which older configurations keep beside the others.

    Args:
        config: the model's configuration.
        legacy: today's name of an entry -> the older one's and its default.

    Raises:
        TypeError: for rotations of another type than ``default``, or one for each kind of layer.
        ValueError: for entries that are no JSON object.
    """
    # the order in which transformers looks them up
    key = "rope_scaling" if config.get("rope_scaling") else "rope_parameters"
    entries = config.get(key, {})
    if not isinstance(entries, Mapping):
        raise ValueError(f"{config.model}: {key}: expected a JSON object, got {entries!r}")
    if nested := [name for name, value in entries.items() if isinstance(value, Mapping)]:
        raise TypeError(
            f"{config.model}: {key}: rotations of their own for {', '.join(nested)} are not "
            "covered; expected one for all layers"
        )
    found = dict(entries)
    for name, (older, default) in legacy.items():
        if found.get(name) is None:
            found[name] = config.get(older, default)
    if found.get("rope_type") is None:
        found["rope_type"] = found.get("type", "default")
    parameters = Config(found, config.model)
    parameters.refuse(
        "rope_type", "its frequencies are scaled or depend on the length", allowed=("default",)
    )
    return parameters


def rotary(
    opened: Opened, cells: int, base: float, dtype: np.dtype, *, interleaved: bool = False
) -> Rotary:
    """The rotation of a model by the number of the token, with frequencies rounded to float32.

    Those of a live module are read off its buffer ``inv_freq``.  Otherwise they are formed here;
    then a few may differ by one unit in the last place of float32 (6e-8, relative) from torch's,
    whose powers are not always the nearest float32 numbers.

    Args:
        opened: the model.
        cells: how many features of a head are rotated; an odd number counts one more.
        base: of the powers.
        dtype: the weights'.
        interleaved: see :class:`continuum.operators.Rotary`.

    Raises:
        ValueError: for frequencies that are not finite, or as many as the configuration says.
    """
    found = _live(opened, "rotary_emb.inv_freq")
    frequencies = float32_frequencies(cells, base) if found is None else found
    expected = (-(-cells // 2),)
    if frequencies.shape != expected or not np.all(np.isfinite(frequencies)):
        raise ValueError(
            f"{opened.name}: expected finite rotary frequencies of shape {expected} (base {base:g}"
            f", {cells} features of a head), got {frequencies}; build the model again from its "
            "configuration"
        )
    return Rotary(frequencies.astype(dtype), interleaved=interleaved, coordinate="cell")


def float32_frequencies(cells: int, base: float) -> np.ndarray:
    """1 / base^(2 k / cells), each operation rounded to float32; shape (ceil(cells / 2),)."""
    exponents = np.arange(0, cells, 2).astype(np.float32) / np.float32(cells)
    with np.errstate(all="ignore"):
        # the nearest float32 to the power, which NumPy's own float32 power misses more often
        powers = np.power(np.float64(base), exponents.astype(np.float64)).astype(np.float32)
        return np.float32(1.0) / powers


def check_sine_table(opened: Opened, frequencies: np.ndarray) -> None:
    """Hold a live module's table of sines and cosines against the frequencies.

    Raises:
        ValueError: if they differ by more than the rounding of float32 angles.
    """
    table = _live(opened, "rotary_emb.embed_positions")
    if table is None:
        return
    angles = np.arange(len(table))[:, None] * frequencies.astype(np.float64)
    expected = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    allowed = 2.5e-7 * (1.0 + len(table))
    if table.shape != expected.shape or not np.allclose(table, expected, rtol=0.0, atol=allowed):
        raise ValueError(
            f"{opened.name}: the buffer rotary_emb.embed_positions is not the table of sines and "
            f"cosines that the configuration states (expected shape {expected.shape} and values "
            f"within {allowed:.1e}, got shape {table.shape}); build the model again from its "
            "configuration"
        )


def skip_buffers(tensors: Tensors, layers: int, *templates: str) -> None:
    """Note buffers of old checkpoints as read: masks and rotary constants, no weights.

    Args:
        tensors: the model's tensors.
        layers: how many there are.
        templates: names, with a place for the number of the layer.
    """
    for template in templates:
        for name in (template.format(k) for k in range(layers)):
            if tensors.has(name):
                tensors.get(name)


def check_heads(config: Config, width: int, heads: int) -> None:
    """Refuse a number of heads that does not divide the width.

    Raises:
        ValueError: if so.
    """
    if width % heads:
        raise ValueError(
            f"{config.model}: {heads} heads do not divide the model dimension {width}; expected a "
            "divisor"
        )


def check_rotated(config: Config, cells: int, size: int) -> None:
    """Refuse rotations of more features than a head has.

    Raises:
        ValueError: if so; an odd number of features counts one more.
    """
    if cells + cells % 2 > size:
        raise ValueError(
            f"{config.model}: expected at most {size} rotated features, the size of a head, in "
            f"pairs, got {cells}"
        )


def _live(opened: Opened, name: str) -> np.ndarray | None:
    """A buffer of the live module, with or without a head; None for a directory."""
    if opened.module is None:
        return None
    for key, values in opened.module.named_buffers():
        if key == name or key.endswith(f".{name}"):
            return to_numpy(values).copy()
    return None

"""A model's configuration, read entry by entry with errors that name the model."""

import math
from collections.abc import Mapping
from typing import Any

#: Activation names of Hugging Face configurations and ours; ``gelu`` is the exact erf form.
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
}

_REQUIRED = object()


class Config:
    """The entries of a configuration.

    Args:
        entries: the JSON object.
        model: the model in words, for errors.
    """

    def __init__(self, entries: Mapping[str, Any], model: str) -> None:
        """Keep the entries."""
        self._entries = entries
        self.model = model
        if entries.get("quantization_config"):
            raise TypeError(f"{model}: quantised weights are not covered; expected plain floats")

    def get(self, key: str, default: Any = None) -> Any:
        """The entry as it is; the default where it is missing or null."""
        value = self._entries.get(key)
        return default if value is None else value

    def count(self, key: str, default: Any = _REQUIRED) -> int:
        """A whole number >= 1.

        Raises:
            ValueError: for anything else, or a missing entry without a default.
        """
        value = self.get(key, None if default is _REQUIRED else default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(
                f"{self.model}: expected a positive integer {key} in the config, got {value!r}"
            )
        return value

    def number(self, key: str, default: float) -> float:
        """A finite number >= 0.

        Raises:
            ValueError: for anything else.
        """
        value = self.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            value = math.nan if not isinstance(value, str) else value
        if isinstance(value, str) or not 0.0 <= value < math.inf:
            raise ValueError(
                f"{self.model}: {key}: expected a finite number >= 0, got {self.get(key)!r}"
            )
        return float(value)

    def activation(self, key: str, default: str) -> str:
        """Our name of an activation.

        Raises:
            TypeError: for an activation that is not covered.
        """
        value = str(self.get(key, default))
        if value not in ACTIVATIONS:
            raise TypeError(
                f"{self.model}: unknown activation {value!r}; expected one of "
                f"{', '.join(ACTIVATIONS)}"
            )
        return ACTIVATIONS[value]

    def refuse(self, key: str, why: str, *, allowed: tuple[Any, ...] = (None, False)) -> None:
        """Refuse a model whose entry is set to something that is not covered.

        Raises:
            TypeError: unless the entry is missing or one of ``allowed``.
        """
        value = self._entries.get(key)
        if value is not None and value not in allowed:
            words = f"{key} {value!r}" if allowed != (None, False) else key
            expected = [repr(item) for item in allowed if item not in (None, False)]
            remedy = f"; expected {' or '.join(expected)}" if expected else ""
            raise TypeError(f"{self.model}: {words} is not covered ({why}){remedy}")

    def check_sizes(self, found: Mapping[str, int]) -> None:
        """Hold sizes in the weights against those that the configuration states.

        Raises:
            ValueError: if some differ.
        """
        wrong = [
            f"{key} is {self._entries[key]} in the config and {value} in the weights"
            for key, value in found.items()
            if key in self._entries and self._entries[key] != value
        ]
        if wrong:
            raise ValueError(
                f"{self.model}: the config contradicts the weights: {'; '.join(wrong)}"
            )

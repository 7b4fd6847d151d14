"""Tensors of single layers, gathered into arrays with a leading layer axis."""

from collections.abc import Iterable, Mapping

import numpy as np

from discretize.encoders.blocks import Dense, Norm


class Tensors:
    """The tensors of a model by name, with a memory of which ones were read.

    Args:
        arrays: the tensors.
        model: the model in words, for errors.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], model: str) -> None:
        """Keep the arrays; nothing is read yet."""
        self._arrays = arrays
        self.model = model
        self._missing: list[str] = []
        self._read: set[str] = set()

    def get(self, name: str) -> np.ndarray:
        """The tensor, noted as read; a missing one is noted and reported by :meth:`finish`."""
        self._read.add(name)
        if name not in self._arrays:
            self._missing.append(name)
            return np.zeros((1, 1), np.float32)
        return self._arrays[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tensors."""
        return tuple(self._arrays)

    def has(self, name: str) -> bool:
        """Whether there is such a tensor."""
        return name in self._arrays

    def stack(self, template: str, layers: int) -> np.ndarray:
        """The tensors ``template.format(0)``, ... with a leading layer axis.

        Raises:
            ValueError: if their shapes differ.
        """
        found = [self.get(template.format(k)) for k in range(layers)]
        present = [v for k, v in enumerate(found) if self.has(template.format(k))]
        shapes = {v.shape for v in present}
        if len(shapes) > 1:
            raise ValueError(
                f"{self.model}: expected tensors {template.format('N')} of one shape in all "
                f"layers, got {sorted(shapes)}"
            )
        return np.stack(present) if present else np.stack(found)

    def dense(
        self, template: str, layers: int, *, bias: bool = True, transposed: bool = True
    ) -> Dense:
        """The dense layers ``template`` + ".weight" and ".bias", as (in, out) kernels.

        Args:
            template: the name, with a place for the number of the layer.
            layers: how many there are.
            bias: whether they have biases.
            transposed: whether weights are stored (out, in), as torch's Linear has them.

        Raises:
            ValueError: if the weights are not matrices.
        """
        kernel = self.stack(f"{template}.weight", layers)
        if kernel.ndim != 3:
            raise ValueError(
                f"{self.model}: {template.format('N')}.weight: expected matrices, got shape "
                f"{kernel.shape[1:]}"
            )
        if transposed:
            kernel = np.swapaxes(kernel, 1, 2)
        return Dense(kernel, self.stack(f"{template}.bias", layers) if bias else None)

    def norm(self, template: str, layers: int, eps: float, *, bias: bool = True) -> Norm:
        """The layer norms ``template`` + ".weight" and ".bias"."""
        shift = self.stack(f"{template}.bias", layers) if bias else None
        return Norm(self.stack(f"{template}.weight", layers), shift, eps)

    def require(self) -> None:
        """Report every tensor that was wanted so far and is missing.

        Raises:
            ValueError: if there are any.
        """
        if self._missing:
            raise ValueError(f"{self.model}: missing tensors: {_some(sorted(set(self._missing)))}")

    def check_finite(self) -> None:
        """Refuse weights that were read and are not finite.

        Raises:
            ValueError: naming one tensor.
        """
        for name in sorted(self._read & set(self._arrays)):
            values = self._arrays[name]
            if np.issubdtype(values.dtype, np.floating) and not np.all(np.isfinite(values)):
                raise ValueError(f"{self.model}: the weights {name!r} hold NaN or infinite values")

    def finish(self, outside: Iterable[str] = ()) -> None:
        """Report what is missing, and every tensor that nobody read.

        Args:
            outside: prefixes of tensors that the model may have and the equation does not.

        Raises:
            ValueError: if there are any.
        """
        self.require()
        extra = sorted(
            name for name in set(self._arrays) - self._read if not name.startswith(tuple(outside))
        )
        if extra:
            raise ValueError(
                f"{self.model}: tensors that are not part of the architecture: {_some(extra)}"
            )


def _some(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")

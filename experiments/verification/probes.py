"""Reading intermediate values out of live torch modules."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

#: name of a value -> (path of a submodule, whether its "input" or its "output" is the value).
Probes = Mapping[str, tuple[str, str]]


@contextlib.contextmanager
def recording(layers: list[Any], probes: Probes) -> Iterator[list[dict[str, NDArray]]]:
    """Hook every layer; after a forward pass the yielded list has each layer's values by name.

    Args:
        layers: torch modules of one kind.
        probes: what to read from each of them.
    """
    states: list[dict[str, NDArray]] = [{} for _ in layers]
    handles = []
    try:
        for layer, found in zip(layers, states, strict=True):
            for name, (path, side) in probes.items():
                hook = _hook(found, name, side)
                handles.append(layer.get_submodule(path).register_forward_hook(hook))
        yield states
    finally:
        for handle in handles:
            handle.remove()


def _hook(found: dict[str, NDArray], name: str, side: str):
    def keep(module: Any, inputs: tuple, output: Any) -> None:
        del module
        value = inputs[0] if side == "input" else output
        found[name] = value.detach().cpu().numpy().copy()

    return keep

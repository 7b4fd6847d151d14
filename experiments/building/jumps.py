"""Where an equation's kernels are not smooth in t."""

import jax
import numpy as np

from continuum import (
    BasisField,
    BasisKernel,
    CellField,
    CellKernel,
    Equation,
    LayeredField,
    LayeredKernel,
)

_CELLS = (CellKernel, CellField)
_BASIS = (BasisKernel, BasisField)
_LAYERS = (LayeredKernel, LayeredField)


def jumps_of(equation: Equation) -> tuple[float, ...]:
    """The depths inside (0, T) at which a kernel jumps, or bends if it is linear in between.

    Args:
        equation: any equation; analytic kernels are taken to be smooth.
    """
    found: set[float] = set()
    kinds = _CELLS + _BASIS + _LAYERS
    for node in jax.tree.leaves(equation, is_leaf=lambda node: isinstance(node, kinds)):
        if isinstance(node, kinds):
            found.update(np.arange(1, _rows(node)) * node.duration)
    return tuple(sorted(float(t) for t in found if 0.0 < t < equation.horizon))


def _rows(node) -> int:
    if isinstance(node, _LAYERS):
        return len(node.children)
    return (node.values if isinstance(node, _CELLS) else node.coefficients).shape[0]

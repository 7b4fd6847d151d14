"""The discrete side: grids, quadrature, discrete operators, problems, discrete encoders.

:func:`discretize` maps an equation and a grid to a :class:`Problem`;
:func:`discretize.encoders.recover` reads both off a Transformer encoder.  Time stepping is not
known here.
"""

import continuum

if getattr(continuum, "DISTRIBUTION", None) != "transformer-continuum":
    raise ImportError(
        "a foreign package named 'continuum' was imported from "
        f"{getattr(continuum, '__file__', None) or list(continuum.__path__)}; expected the one of "
        "the distribution transformer-continuum. Uninstall the other one, or use an environment "
        "of its own for this project."
    )

#: The distribution this package belongs to; the other packages refuse a foreign namesake.
DISTRIBUTION = "transformer-continuum"

from discretize import basis_sampling  # noqa: F401  (registers the sampling of more kernels)
from discretize.grids import AtomicGrid, Grid, TokenGrid, UniformGrid
from discretize.problem import Problem, discretize
from discretize.quadrature import MIDPOINT, Rule
from discretize.storage import load_problem, save_problem

__all__ = [
    "DISTRIBUTION",
    "MIDPOINT",
    "AtomicGrid",
    "Grid",
    "Problem",
    "Rule",
    "TokenGrid",
    "UniformGrid",
    "discretize",
    "load_problem",
    "save_problem",
]

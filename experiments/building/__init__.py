"""From a config to an equation, a grid, a problem and an initial state.

Importing this package loads jax.
"""

from experiments.packages import require_ours

require_ours()

from experiments.building.build import Experiment, build  # noqa: E402
from experiments.building.references import Solution, on_grid, solution_of  # noqa: E402

__all__ = ["Experiment", "Solution", "build", "on_grid", "solution_of"]

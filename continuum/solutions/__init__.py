"""Equations with a solution in closed form, to measure schemes and grids against.

Each solution is a frozen object that is called with points and one time, ``solution(x, y, t)``, and
gives a NumPy array.  Points x and y broadcast against each other, such as (tokens, 1) and
(1, features); on an Omega_x of dimension n >= 2 the points x carry their coordinates in one more,
last axis.
"""

from continuum.solutions.mean_field import MeanField
from continuum.solutions.reflection import Reflection
from continuum.solutions.sphere import SphereFlow

__all__ = ["MeanField", "Reflection", "SphereFlow"]

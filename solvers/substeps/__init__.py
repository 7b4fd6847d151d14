"""Substeps: maps from a state to a state over a fraction of a time step."""

from solvers.substeps.base import Substep
from solvers.substeps.compose import Chain, Rated, Relaxation, recorded_names
from solvers.substeps.euler import ForwardEuler, LinearEuler
from solvers.substeps.exponential import Exponential
from solvers.substeps.maps import Map, Normalise
from solvers.substeps.reading import consistent_substeps_of, substeps_of
from solvers.substeps.runge_kutta import RungeKutta

__all__ = [
    "Chain",
    "Exponential",
    "ForwardEuler",
    "LinearEuler",
    "Map",
    "Normalise",
    "Rated",
    "Relaxation",
    "RungeKutta",
    "Substep",
    "consistent_substeps_of",
    "recorded_names",
    "substeps_of",
]

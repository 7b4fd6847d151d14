"""Substeps: maps from a state to a state over a fraction of a time step."""

from solvers.substeps.base import Substep
from solvers.substeps.compose import Chain, Relaxation, recorded_names
from solvers.substeps.euler import ForwardEuler, LinearEuler
from solvers.substeps.flows import flows_of
from solvers.substeps.maps import Map, Normalise
from solvers.substeps.reading import substeps_of
from solvers.substeps.runge_kutta import RungeKutta

__all__ = [
    "Chain",
    "ForwardEuler",
    "LinearEuler",
    "Map",
    "Normalise",
    "Relaxation",
    "RungeKutta",
    "Substep",
    "flows_of",
    "recorded_names",
    "substeps_of",
]

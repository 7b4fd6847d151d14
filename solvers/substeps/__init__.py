"""Substeps: maps from a state to a state over a fraction of a time step."""

from solvers.substeps.base import Substep
from solvers.substeps.compose import Chain, Relaxation, recorded_names
from solvers.substeps.euler import ForwardEuler, LinearEuler
from solvers.substeps.maps import Map, Normalise
from solvers.substeps.reading import substeps_of

__all__ = [
    "Chain",
    "ForwardEuler",
    "LinearEuler",
    "Map",
    "Normalise",
    "Relaxation",
    "Substep",
    "recorded_names",
    "substeps_of",
]

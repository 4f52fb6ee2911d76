"""abut: every question of contact, from Python. Do these things touch, where, when, how deep."""

from abut import broad, ccd, cells, contours, convex, dynamics, geometry, scenes
from abut.ccd import Candidates, Impacts, Motion, candidates, sweep, time_of_impact
from abut.discrete import Contacts, Deformable, Distance, Rigid, collide, contains, distance
from abut.errors import AbutError, InvalidInput, Unsupported
from abut.mesh import Mesh, as_mesh, load, save

__version__ = "0.1.0"

__all__ = [
    "AbutError",
    "Candidates",
    "Contacts",
    "Deformable",
    "Distance",
    "Impacts",
    "InvalidInput",
    "Mesh",
    "Motion",
    "Rigid",
    "Unsupported",
    "as_mesh",
    "broad",
    "candidates",
    "ccd",
    "cells",
    "collide",
    "contains",
    "contours",
    "convex",
    "distance",
    "dynamics",
    "geometry",
    "load",
    "save",
    "scenes",
    "sweep",
    "time_of_impact",
]

"""abut: every question of contact, from Python. Do these things touch, where, when, how deep."""

from abut import cells, geometry, scenes
from abut.discrete import Contacts, Deformable, Distance, Rigid, collide, contains, distance
from abut.errors import AbutError, InvalidInput, Unsupported
from abut.mesh import Mesh, as_mesh, load, save

__version__ = "0.1.0"

__all__ = [
    "AbutError",
    "Contacts",
    "Deformable",
    "Distance",
    "InvalidInput",
    "Mesh",
    "Rigid",
    "Unsupported",
    "as_mesh",
    "cells",
    "collide",
    "contains",
    "distance",
    "geometry",
    "load",
    "save",
    "scenes",
]

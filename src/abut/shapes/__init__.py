"""Shapes and where they touch: convex cores grown by a radius, and surfaces of triangles (Peyré 2001, chapters 3 and 4)."""

from abut.shapes.placed import Placed
from abut.shapes.solids import Box, Capsule, Cone, Cylinder, Plane, Polytope, Shape, Sphere
from abut.shapes.surfaces import ShapeLike, Soft, Surface, Terrain, as_shape

__all__ = [
    "Box",
    "Capsule",
    "Cone",
    "Cylinder",
    "Placed",
    "Plane",
    "Polytope",
    "Shape",
    "ShapeLike",
    "Soft",
    "Sphere",
    "Surface",
    "Terrain",
    "as_shape",
]

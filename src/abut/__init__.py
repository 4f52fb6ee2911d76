"""abut: every question of contact, from Python. Do these things touch, where, when, how deep.

Names are imported when they are first used: whoever asks about two meshes does not wait for contours and worlds to be read.
"""

import importlib
from typing import TYPE_CHECKING, Any

from abut.core.compiling import forks as _forks
from abut.core.errors import AbutError, InvalidInput, Unsupported

if TYPE_CHECKING:
    from abut import broad, ccd, cells, contours, convex, discrete, dynamics, geometry, mesh, scenes, shapes, viewer
    from abut.app.checking import Findings, check
    from abut.ccd import Candidates, Impacts, Motion, Sweeper, candidates, sweep, time_of_impact
    from abut.core.compiling.compilation import Compilation, on_compile
    from abut.discrete import (
        CastHits,
        ClosestPoints,
        Contacts,
        Deformable,
        Distance,
        Distances,
        FeaturePair,
        InsideRule,
        NearFaces,
        Pair,
        Proximity,
        Rigid,
        SignedDistances,
        Untangled,
        WindingNumbers,
        cast,
        cast_segments,
        closest_points,
        collide,
        contains,
        distance,
        faces_within,
        proximity,
        signed_distance,
        untangle,
        winding_number,
    )
    from abut.mesh import Mesh, as_mesh, load, save
    from abut.papers import grid
    from abut.trees import binary as bvh
    from abut.trees import volumes
    from abut.viewer import View, show
    from abut.world import World, joints

__version__ = "0.1.0"
_forks.look_after_children()

__all__ = [
    "AbutError",
    "Candidates",
    "CastHits",
    "ClosestPoints",
    "Compilation",
    "Contacts",
    "Deformable",
    "Distance",
    "Distances",
    "FeaturePair",
    "Findings",
    "Impacts",
    "InsideRule",
    "InvalidInput",
    "Mesh",
    "Motion",
    "NearFaces",
    "Pair",
    "Proximity",
    "Rigid",
    "SignedDistances",
    "Sweeper",
    "Unsupported",
    "Untangled",
    "View",
    "WindingNumbers",
    "World",
    "as_mesh",
    "broad",
    "bvh",
    "candidates",
    "cast",
    "cast_segments",
    "ccd",
    "cells",
    "check",
    "closest_points",
    "collide",
    "contains",
    "contours",
    "convex",
    "discrete",
    "distance",
    "dynamics",
    "faces_within",
    "geometry",
    "grid",
    "joints",
    "load",
    "mesh",
    "on_compile",
    "proximity",
    "save",
    "scenes",
    "shapes",
    "show",
    "signed_distance",
    "sweep",
    "time_of_impact",
    "untangle",
    "viewer",
    "volumes",
    "winding_number",
]

_PARTS = {
    **{part: f"abut.{part}" for part in ("broad", "ccd", "cells", "contours", "convex", "discrete", "dynamics")},
    **{part: f"abut.{part}" for part in ("geometry", "mesh", "scenes", "shapes", "viewer")},
    "bvh": "abut.trees.binary",
    "grid": "abut.papers.grid",
    "joints": "abut.world.joints",
    "volumes": "abut.trees.volumes",
}
_HOMES = {
    "abut.app.checking": ("Findings", "check"),
    "abut.ccd": ("Candidates", "Impacts", "Motion", "Sweeper", "candidates", "sweep", "time_of_impact"),
    "abut.discrete": (
        "CastHits",
        "ClosestPoints",
        "Contacts",
        "Deformable",
        "Distance",
        "Distances",
        "FeaturePair",
        "InsideRule",
        "NearFaces",
        "Pair",
        "Proximity",
        "Rigid",
        "SignedDistances",
        "Untangled",
        "WindingNumbers",
        "cast",
        "cast_segments",
        "closest_points",
        "collide",
        "contains",
        "distance",
        "faces_within",
        "proximity",
        "signed_distance",
        "untangle",
        "winding_number",
    ),
    "abut.core.compiling.compilation": ("Compilation", "on_compile"),
    "abut.mesh": ("Mesh", "as_mesh", "load", "save"),
    "abut.viewer": ("View", "show"),
    "abut.world": ("World",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(_PARTS[name])
    if name not in _HOME_OF:
        raise AttributeError(f"module 'abut' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Rigid and deformable bodies at one moment: do they touch, where, how deep, how far apart (Meseure 1998).

`bodies` what is asked about · `collide`, `containment`, `distance` the questions · `points` and `rays` what is asked of one surface ·
`untangle` mends · `contacts` an answer · `search` and `measure` the kernels.
"""

from abut.discrete.bodies import BodyLike, Deformable, Rigid
from abut.discrete.budget import ContactSearch, Proof
from abut.discrete.collide import collide
from abut.discrete.contacts import Contacts
from abut.discrete.containment import contains
from abut.discrete.distance import Distance, Distances, distance
from abut.discrete.pair import Pair
from abut.discrete.points.closest import closest_points, signed_distance
from abut.discrete.points.results import ClosestPoints, InsideRule, NearFaces, SignedDistances, WindingNumbers
from abut.discrete.points.winding import winding_number
from abut.discrete.points.within import faces_within
from abut.discrete.proximity.features import proximity
from abut.discrete.proximity.results import FeaturePair, Proximity
from abut.discrete.rays.cast import cast, cast_segments
from abut.discrete.rays.results import CastHits
from abut.discrete.untangle import Untangled, untangle

__all__ = [
    "BodyLike",
    "CastHits",
    "ClosestPoints",
    "ContactSearch",
    "Contacts",
    "Deformable",
    "Distance",
    "Distances",
    "FeaturePair",
    "InsideRule",
    "NearFaces",
    "Pair",
    "Proof",
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
]

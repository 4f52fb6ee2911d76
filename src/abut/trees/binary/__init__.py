"""Binary trees of bounding volumes, written once for every volume: build, refit, traverse, validate.

These are the paper's own trees (Meseure 1998): plain, in float64, one triangle per leaf unless `leaf_size` says otherwise.
"""

from abut.trees.binary.build import RULES, build
from abut.trees.binary.refit import refit
from abut.trees.binary.traverse import Pairs, find_collisions, find_pairs, find_self_collisions, find_self_pairs
from abut.trees.binary.tree import Tree, validate

__all__ = [
    "RULES",
    "Pairs",
    "Tree",
    "build",
    "find_collisions",
    "find_pairs",
    "find_self_collisions",
    "find_self_pairs",
    "refit",
    "validate",
]

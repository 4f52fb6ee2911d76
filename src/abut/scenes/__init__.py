"""Scenes to try things on, generated: the same arguments give the same mesh everywhere.

Names are imported when they are first used: a sphere needs no partition and no world.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abut.scenes.beating import BeatingVessel, beating_vessel
    from abut.scenes.catalogue import WORLDS
    from abut.scenes.contours_in_motion import PLANE_SCENES, ContourScene, heap_of_contours, swarm_of_contours
    from abut.scenes.drape import ClothFall, cloth_on_ball
    from abut.scenes.hand import hand
    from abut.scenes.jund import BodyScene, catheter_scene, cube_scene, hand_scene, push_along, pyramids
    from abut.scenes.mechanisms import chain_bridge, newtons_cradle, rag_dolls, robot_arm
    from abut.scenes.partitions import PARTITIONS, PartitionScene
    from abut.scenes.passage import Passage
    from abut.scenes.rough_contours import RoughContours, falling_contours, rough_contours
    from abut.scenes.soft_surgery import SoftSurgery, soft_surgery
    from abut.scenes.structures import arch, card_house, dominoes, pyramid, wall
    from abut.scenes.surfaces import box, bumpy, cloth, icosphere, torus
    from abut.scenes.surgery import SurgicalScene, surgical_scene
    from abut.scenes.vessels import VesselNetwork, vessel_network
    from abut.scenes.world_scene import WorldScene
    from abut.scenes.worlds import cloth_on_terrain, pile, rag_doll_on_stairs

__all__ = [
    "PARTITIONS",
    "PLANE_SCENES",
    "WORLDS",
    "BeatingVessel",
    "BodyScene",
    "ClothFall",
    "ContourScene",
    "PartitionScene",
    "Passage",
    "RoughContours",
    "SoftSurgery",
    "SurgicalScene",
    "VesselNetwork",
    "WorldScene",
    "arch",
    "beating_vessel",
    "box",
    "bumpy",
    "card_house",
    "catheter_scene",
    "chain_bridge",
    "cloth",
    "cloth_on_ball",
    "cloth_on_terrain",
    "cube_scene",
    "dominoes",
    "falling_contours",
    "hand",
    "hand_scene",
    "heap_of_contours",
    "icosphere",
    "newtons_cradle",
    "pile",
    "push_along",
    "pyramid",
    "pyramids",
    "rag_doll_on_stairs",
    "rag_dolls",
    "robot_arm",
    "rough_contours",
    "soft_surgery",
    "surgical_scene",
    "swarm_of_contours",
    "torus",
    "vessel_network",
    "wall",
]

_HOMES = {
    "abut.scenes.beating": ("BeatingVessel", "beating_vessel"),
    "abut.scenes.contours_in_motion": ("PLANE_SCENES", "ContourScene", "heap_of_contours", "swarm_of_contours"),
    "abut.scenes.drape": (
        "ClothFall",
        "cloth_on_ball",
    ),
    "abut.scenes.hand": ("hand",),
    "abut.scenes.jund": (
        "BodyScene",
        "catheter_scene",
        "cube_scene",
        "hand_scene",
        "push_along",
        "pyramids",
    ),
    "abut.scenes.partitions": ("PARTITIONS", "PartitionScene"),
    "abut.scenes.passage": ("Passage",),
    "abut.scenes.rough_contours": (
        "RoughContours",
        "falling_contours",
        "rough_contours",
    ),
    "abut.scenes.soft_surgery": ("SoftSurgery", "soft_surgery"),
    "abut.scenes.surfaces": (
        "box",
        "bumpy",
        "cloth",
        "icosphere",
        "torus",
    ),
    "abut.scenes.surgery": (
        "SurgicalScene",
        "surgical_scene",
    ),
    "abut.scenes.vessels": (
        "VesselNetwork",
        "vessel_network",
    ),
    "abut.scenes.catalogue": ("WORLDS",),
    "abut.scenes.mechanisms": ("chain_bridge", "newtons_cradle", "rag_dolls", "robot_arm"),
    "abut.scenes.structures": ("arch", "card_house", "dominoes", "pyramid", "wall"),
    "abut.scenes.world_scene": ("WorldScene",),
    "abut.scenes.worlds": (
        "cloth_on_terrain",
        "pile",
        "rag_doll_on_stairs",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


class _Scenes(ModuleType):
    """A package that gives no name of a scene to the module of the same name when that is imported (`hand`, `rough_contours`)."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _HOME_OF or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Scenes


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'abut.scenes' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Scenes to try things on, generated: the same arguments give the same mesh everywhere."""

from abut.scenes.drape import Animation, cloth_on_ball
from abut.scenes.surfaces import box, bumpy, cloth, icosphere, torus
from abut.scenes.surgery import SurgicalScene, surgical_scene
from abut.scenes.vessels import VesselNetwork, vessel_network
from abut.scenes.worlds import WORLDS, WorldScene, cloth_on_terrain, pile, rag_doll_on_stairs

__all__ = [
    "WORLDS",
    "Animation",
    "SurgicalScene",
    "VesselNetwork",
    "WorldScene",
    "box",
    "bumpy",
    "cloth",
    "cloth_on_ball",
    "cloth_on_terrain",
    "icosphere",
    "pile",
    "rag_doll_on_stairs",
    "surgical_scene",
    "torus",
    "vessel_network",
]

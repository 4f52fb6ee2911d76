"""Scenes to try things on, generated: the same arguments give the same mesh everywhere."""

from abut.scenes.contours_in_motion import PLANE_SCENES, ContourScene, heap_of_contours, swarm_of_contours
from abut.scenes.drape import ClothFall, cloth_on_ball
from abut.scenes.hand import hand
from abut.scenes.jund import BodyScene, catheter_scene, cube_scene, hand_scene, push_along, pyramids
from abut.scenes.passage import Passage
from abut.scenes.rough_contours import RoughContours, falling_contours, rough_contours
from abut.scenes.surfaces import box, bumpy, cloth, icosphere, torus
from abut.scenes.surgery import SurgicalScene, surgical_scene
from abut.scenes.vessels import VesselNetwork, vessel_network
from abut.scenes.worlds import WORLDS, WorldScene, cloth_on_terrain, pile, rag_doll_on_stairs

__all__ = [
    "PLANE_SCENES",
    "WORLDS",
    "BodyScene",
    "ClothFall",
    "ContourScene",
    "Passage",
    "RoughContours",
    "SurgicalScene",
    "VesselNetwork",
    "WorldScene",
    "box",
    "bumpy",
    "catheter_scene",
    "cloth",
    "cloth_on_ball",
    "cloth_on_terrain",
    "cube_scene",
    "falling_contours",
    "hand",
    "hand_scene",
    "heap_of_contours",
    "icosphere",
    "pile",
    "push_along",
    "pyramids",
    "rag_doll_on_stairs",
    "rough_contours",
    "surgical_scene",
    "swarm_of_contours",
    "torus",
    "vessel_network",
]

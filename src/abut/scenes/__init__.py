"""Scenes to try things on, generated: the same arguments give the same mesh everywhere."""

from abut.scenes.drape import Animation, cloth_on_ball
from abut.scenes.hand import hand
from abut.scenes.jund import BodyScene, catheter_scene, cube_scene, hand_scene, push_along, pyramids
from abut.scenes.passage import Passage
from abut.scenes.rough_contours import RoughContours, rough_contours
from abut.scenes.surfaces import box, bumpy, cloth, icosphere, torus
from abut.scenes.surgery import SurgicalScene, surgical_scene
from abut.scenes.vessels import VesselNetwork, vessel_network

__all__ = [
    "Animation",
    "BodyScene",
    "Passage",
    "RoughContours",
    "SurgicalScene",
    "VesselNetwork",
    "box",
    "bumpy",
    "catheter_scene",
    "cloth",
    "cloth_on_ball",
    "cube_scene",
    "hand",
    "hand_scene",
    "icosphere",
    "push_along",
    "pyramids",
    "rough_contours",
    "surgical_scene",
    "torus",
    "vessel_network",
]

"""Scenes to try things on, generated: the same arguments give the same mesh everywhere."""

from abut.scenes.drape import Animation, cloth_on_ball
from abut.scenes.rough_contours import RoughContours, rough_contours
from abut.scenes.surfaces import box, bumpy, cloth, icosphere, torus
from abut.scenes.surgery import SurgicalScene, surgical_scene
from abut.scenes.vessels import VesselNetwork, vessel_network

__all__ = [
    "Animation",
    "RoughContours",
    "SurgicalScene",
    "VesselNetwork",
    "box",
    "bumpy",
    "cloth",
    "cloth_on_ball",
    "icosphere",
    "rough_contours",
    "surgical_scene",
    "torus",
    "vessel_network",
]

"""Scenes to try things on, generated: the same arguments give the same mesh everywhere."""

from abut.scenes.drape import Animation, cloth_on_ball
from abut.scenes.surfaces import box, bumpy, cloth, icosphere, torus
from abut.scenes.surgery import SurgicalScene, surgical_scene
from abut.scenes.vessels import VesselNetwork, vessel_network

__all__ = [
    "Animation",
    "SurgicalScene",
    "VesselNetwork",
    "box",
    "bumpy",
    "cloth",
    "cloth_on_ball",
    "icosphere",
    "surgical_scene",
    "torus",
    "vessel_network",
]

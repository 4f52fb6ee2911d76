"""Scenes to try things on, generated: the same arguments give the same mesh everywhere."""

from abut.scenes.surfaces import box, bumpy, cloth, icosphere, torus
from abut.scenes.surgery import SurgicalScene, surgical_scene
from abut.scenes.vessels import VesselNetwork, vessel_network

__all__ = [
    "SurgicalScene",
    "VesselNetwork",
    "box",
    "bumpy",
    "cloth",
    "icosphere",
    "surgical_scene",
    "torus",
    "vessel_network",
]

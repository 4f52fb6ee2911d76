"""What `abut simulate` lets run, by name."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from abut.scenes.mechanisms import chain_bridge, newtons_cradle, rag_dolls, robot_arm
from abut.scenes.structures import arch, card_house, dominoes, pyramid, wall
from abut.scenes.world_scene import WorldScene
from abut.scenes.worlds import cloth_on_terrain, pile, rag_doll_on_stairs

WORLDS: Mapping[str, Callable[..., WorldScene]] = MappingProxyType(
    {
        "wall": wall,
        "dominoes": dominoes,
        "cards": card_house,
        "arch": arch,
        "bridge": chain_bridge,
        "dolls": rag_dolls,
        "cradle": newtons_cradle,
        "robot": robot_arm,
        "pyramid": pyramid,
        "pile": pile,
        "stairs": rag_doll_on_stairs,
        "cloth": cloth_on_terrain,
    }
)
"""Scenes of space; each takes how many bodies, rows, stories, stairs or squares there are."""

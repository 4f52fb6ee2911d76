"""Whether two rigid bodies meet, asked again and again: balls about both, then the triangles that met last time, then the whole search.

Balls that are apart and two triangles that meet are proofs, whoever proposes them; where there is none, the whole search decides. So what is
remembered changes the time of an answer and never the answer (Jund 1997, §1.6.5, on coherence). All arguments are addresses: arrays would take
longer to pass than bodies far apart to search.
"""

from abut.core.arrays import Floats
from abut.core.jit import element, kernel
from abut.core.poses import find_rigid
from abut.core.scratch import as_array, load, pointer_to_floats, pointer_to_integers, store
from abut.discrete.search.placement import displacement
from abut.discrete.search.queries import search_first
from abut.discrete.search.triangle_packets import meet_corners
from abut.geometry.frames import carry_by
from abut.geometry.vec import Vec3, distance_sq
from abut.trees.packets.packet_tree import PacketTree, open_tree

HANDLE_A, HANDLE_B, SLOT_A, SLOT_B, REACH = 0, 1, 2, 3, 4
"""Rows of the memory of a pair: two addresses, the slots of the triangles that met last (−1 for none), and, as a double, the sum of the radii of
balls about the two bodies, whose centers are the origins of their trees' frames."""
NO_WITNESS = -1
NOT_RIGID = -2
"""Returned for a pose that is not a rigid motion to the last digits."""


@element
def _center(tree: PacketTree, pose: Floats) -> Vec3:
    """The origin of the tree's frame, in the world."""
    frame = tree.frame
    return carry_by(pose, (frame[0], frame[1], frame[2]))


@kernel
def ask_again(memory: int, pose_a: int, pose_b: int) -> int:
    """0 or 1 whether triangles of two rigid bodies meet, or MAYBE_HELD. All addresses."""
    known = pointer_to_integers(memory)
    handle_a, handle_b = pointer_to_integers(load(known, HANDLE_A)), pointer_to_integers(load(known, HANDLE_B))
    place_a, place_b = as_array(pointer_to_floats(pose_a), (4, 4)), as_array(pointer_to_floats(pose_b), (4, 4))
    a, b = open_tree(handle_a), open_tree(handle_b)
    reach = load(pointer_to_floats(memory), REACH) + displacement(a.frame, place_a) + displacement(b.frame, place_b)
    if distance_sq(_center(a, place_a), _center(b, place_b)) > reach * reach:
        return 0
    slot_a, slot_b = load(known, SLOT_A), load(known, SLOT_B)
    if slot_a >= 0 and slot_b >= 0 and meet_corners(a.corners, slot_a, place_a, b.corners, slot_b, place_b):
        return 1
    found = search_first(handle_a, place_a, handle_b, place_b)
    if found[3] > 0:
        store(known, SLOT_A, found[4])
        store(known, SLOT_B, found[5])
    return found[3]


@kernel
def ask_at(memory: int, pose_a: Floats, pose_b: int) -> int:
    """The same with the first body at a pose, or NOT_RIGID."""
    if pose_a.shape[0] != 4 or pose_a.shape[1] != 4:
        return NOT_RIGID
    place = find_rigid(pose_a)
    return ask_again(memory, place, pose_b) if place != 0 else NOT_RIGID

"""The signed crossings of the ray along +x of the world with a surface, and whether its beginning lies on the surface: exact, whatever it touches.

The same counts as `search.winding`, for both kinds of trees in one, and with the ray itself (`trees.packets.ray_boxes`) in the place of a thin box.
"""

from abut.core.arrays import Floats
from abut.core.jit import kernel
from abut.core.lanes import lowest_bit
from abut.core.scratch import load, reserve_integers, store
from abut.discrete.search.placement import displacement, to_frame, world_triangle
from abut.discrete.search.tree_view import TreeView
from abut.geometry.axis_ray import ON_SURFACE, cross_ray
from abut.geometry.frames import turn_back_by
from abut.geometry.vec import Vec3
from abut.trees.packets.boxes import WIDTH
from abut.trees.packets.ray_boxes import enter_8, pass_triangle_8, place_ray

X_AXIS = (1.0, 0.0, 0.0)


@kernel
def count_axis_crossings(view: TreeView, pose: Floats, p: Vec3) -> tuple[int, bool]:
    """The signed crossings with the triangles that do not hold p, and whether any does."""
    total, touches = 0, False
    moved = view.frame[3] * displacement(view.frame, pose)
    meets, ray = place_ray(to_frame(p, pose, view.frame), turn_back_by(pose, X_AXIS), moved)
    if not meets:
        return total, touches
    stack = reserve_integers(128)  # seven siblings at each of at most 11 levels
    store(stack, 0, view.root)
    height = 1
    while height > 0:
        height -= 1
        node = load(stack, height)
        child = int(load(view.child, node))
        if child >= 0:
            mask, _ = enter_8(view.boxes, view.oriented, child, ray, ray.last)
            while mask != 0:
                store(stack, height, child * WIDTH + lowest_bit(mask))
                mask &= mask - 1
                height += 1
            continue
        mask = pass_triangle_8(view.lanes, node, ray)
        while mask != 0:
            slot = node * WIDTH + lowest_bit(mask)
            mask &= mask - 1
            if slot >= view.slot_count:
                break
            a, b, c = world_triangle(view.corners, slot, pose)
            crossing = cross_ray(p, a, b, c)
            if crossing == ON_SURFACE:
                touches = True
            else:
                total += crossing
    return total, touches

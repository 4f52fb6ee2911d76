"""What is worth a closer look: of the pairs that sweep and prune gives, those whose bodies may meet and whose boxes do; and what is near a question.

The boxes in the sweep and prune are larger than the colliders, so that they need not follow every step; here the colliders' own boxes decide.
Pairs stay in the order of their keys, smaller collider · 2³² + larger: what is remembered of the step before is found by going along both lists.
"""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.shapes.columns import FACETED
from abut.shapes.narrow_phase import COLLIDER_B
from abut.shapes.pool import E0, E1, F0, F1, FORM, KIND, SURFACE

FEW_EDGES = 256
"""Products of the edges of two polytopes up to which all axes are looked at instead. Overlapping boxes (144) take 1.6 µs so and 3.1 µs tracked,
prisms of eight sides (576) 5.2 µs and 4.1 µs, of 24 sides 34 µs and 6.4 µs."""


@kernel
def is_tracked(table: Integers, a: int, b: int) -> bool:
    """Whether two cores are tracked; for others the axes, or a formula, are quicker."""
    if table[a, FORM] != FACETED or table[b, FORM] != FACETED:
        return False
    faces_a, faces_b = table[a, F1] - table[a, F0], table[b, F1] - table[b, F0]
    edges = (table[a, E1] - table[a, E0]) * (table[b, E1] - table[b, E0])
    few = faces_a > 0 and faces_b > 0 and edges <= FEW_EDGES
    return not few and (faces_a > 0 or faces_b > 0)


@kernel
def choose_pairs(
    keys: Integers,
    bodies: Integers,
    shapes: Integers,
    boxes: Floats,
    table: Integers,
    ages: Integers,
    filters: Integers,
    growth: Floats,
    pairs: Integers,
    margins: Floats,
) -> int:
    """Pairs of two bodies that may meet, and whose boxes, grown by what their bodies grow, do; each with both growths together. How many.

    filters (n,4): of each body layer, mask, and two flags of which a pair needs both, from one body or from two. A core comes before a surface,
    else the older body's collider before the younger's: numbers of colliders are given again, `ages` are not."""
    count = 0
    for key in keys:
        i, j = key >> 32, key & 0xFFFFFFFF
        a, b = bodies[i], bodies[j]
        margin = float(growth[a] + growth[b])
        seen = filters[a, 0] & filters[b, 1] != 0 and filters[b, 0] & filters[a, 1] != 0
        wanted = filters[a, 2] | filters[b, 2] != 0 and filters[a, 3] | filters[b, 3] != 0
        if a == b or not seen or not wanted or not _meet(boxes, i, j, margin):
            continue
        first, second = table[shapes[i] + 1, KIND] == SURFACE, table[shapes[j] + 1, KIND] == SURFACE
        if (first and not second) or (first == second and ages[a] > ages[b]):
            i, j = j, i
        pairs[count, 0], pairs[count, 1], margins[count] = i, j, margin
        count += 1
    return count


@kernel
def _meet(boxes: Floats, i: int, j: int, margin: float) -> bool:
    """Whether two boxes are no farther apart than the margin, along each axis."""
    meets = True
    for axis in range(3):
        meets = (
            meets and boxes[i, axis] - boxes[j, axis + 3] <= margin and boxes[j, axis] - boxes[i, axis + 3] <= margin
        )
    return meets


@kernel
def sort_pairs(
    pairs: Integers,
    margins: Floats,
    boxes: Floats,
    shapes: Integers,
    table: Integers,
    near: Integers,
    own: Floats,
    tracked: Integers,
) -> tuple[int, int, int]:
    """Pairs whose boxes are within their margins, and the margins: pairs with a core from the front on, those of two surfaces from the back.

    tracked: which of those with a core are tracked. How many there are of the three."""
    cores, meshes, walks = 0, 0, 0
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        if not _meet(boxes, i, j, margins[k]):
            continue
        a, b = int(shapes[i] + 1), int(shapes[j] + 1)
        to = cores
        if table[a, KIND] == SURFACE:
            meshes += 1
            to = len(near) - meshes
        else:
            if table[b, KIND] != SURFACE and is_tracked(table, a, b):
                tracked[walks] = cores
                walks += 1
            cores += 1
        near[to, 0], near[to, 1], own[to] = i, j, margins[k]
    return cores, meshes, walks


@kernel
def recall_features(keys: Integers, features: Integers, wanted: Integers, found: Integers) -> None:
    """Features that are stored under keys; −1 where there are none. Both lists of keys ascend."""
    k = 0
    for i in range(len(wanted)):
        while k < len(keys) and keys[k] < wanted[i]:
            k += 1
        known = k < len(keys) and keys[k] == wanted[i]
        found[i, 0] = features[k, 0] if known else -1
        found[i, 1] = features[k, 1] if known else -1


@kernel
def find_left(bodies: Integers, boxes: Floats, growth: Floats, fat: Floats, left: Integers) -> int:
    """Colliders whose box, grown by what their body grows, is not within their fat one. How many."""
    count = 0
    for i in range(len(bodies)):
        if bodies[i] < 0:
            continue
        grown, inside = growth[bodies[i]], True
        for axis in range(3):
            inside = (
                inside and boxes[i, axis] - grown >= fat[i, axis] and boxes[i, axis + 3] + grown <= fat[i, axis + 3]
            )
        if not inside:
            left[count] = i
            count += 1
    return count


@kernel
def _gap_sq(a: Floats, i: int, b: Floats, j: int) -> float:
    """Squared distance of two boxes."""
    total = 0.0
    for axis in range(3):
        out = max(b[j, axis] - a[i, axis + 3], a[i, axis] - b[j, axis + 3], 0.0)
        total += out * out
    return total


@kernel
def choose_near(
    asked: Floats,
    limits: Floats,
    last: Floats,
    size: int,
    kind: int,
    bits: int,
    layers: Integers,
    bodies: Integers,
    shapes: Integers,
    boxes: Floats,
    table: Integers,
    found: Integers,
    gaps_sq: Floats,
) -> int:
    """For each asked box (k,6) the next colliders in the order of the distance of their boxes, equal ones in their own order. How many in all.

    At most `size` for each, no farther than its limit, of one kind (−1: any) and of the layers that count. limits (k,1 or more): in the first column;
    below 0 is as 0. last (k,2): squared distance and number of the last one that it got, before and after; infinite where it got all.
    found (k·size,2): box and collider."""
    count = 0
    for q in range(len(asked)):
        first, most, limit_sq = count, count + size, max(limits[q, 0], 0.0) ** 2
        if last[q, 0] == math.inf:
            continue
        for i in range(len(bodies)):
            if bodies[i] < 0 or layers[bodies[i]] & bits == 0 or (kind >= 0 and table[shapes[i] + 1, KIND] != kind):
                continue
            d = _gap_sq(asked, q, boxes, i)
            if d > limit_sq or d < last[q, 0] or (d == last[q, 0] and i <= last[q, 1]):
                continue
            if count < most:
                count += 1
            elif d >= gaps_sq[count - 1]:
                continue
            at = count - 1
            while at > first and d < gaps_sq[at - 1]:
                found[at, 1], gaps_sq[at] = found[at - 1, 1], gaps_sq[at - 1]
                at -= 1
            found[at, 0], found[count - 1, 0], found[at, 1], gaps_sq[at] = q, q, i, d
        last[q, 0], last[q, 1] = math.inf, 0.0
        if count == most:
            last[q, 0], last[q, 1] = gaps_sq[count - 1], float(found[count - 1, 1])
    return count


@kernel
def keep_nearest(
    near: Integers,
    radii: Floats,
    radius: float,
    distances: Floats,
    normals: Floats,
    points: Floats,
    numbers: Floats,
    other: Integers,
) -> None:
    """Of tracked pairs of a place and a collider (m,2) keep the nearest of each place, of equal ones the first.

    radii (m,): of the colliders; radius: of the asked shape. numbers (k,7): distance, normal and the collider's point; other (k,): the collider."""
    for row in range(len(near)):
        q, gap = near[row, 0], distances[row] - radii[row] - radius
        if gap < numbers[q, 0]:
            numbers[q, 0], other[q] = gap, near[row, 1]
            for axis in range(3):
                numbers[q, 1 + axis] = normals[row, axis]
                numbers[q, 4 + axis] = points[row, axis] - radii[row] * normals[row, axis]


@kernel
def keep_deepest(numbers: Floats, ids: Integers, count: int, found: Floats) -> None:
    """Of the first `count` contact rows keep the deepest of each collider b: found (n,7) separation, normal and the point of b."""
    for row in range(count):
        b, gap = ids[row, COLLIDER_B], numbers[row, 6]
        if gap < found[b, 0]:
            found[b, 0] = gap
            for axis in range(3):
                found[b, 1 + axis] = numbers[row, 3 + axis]
                found[b, 4 + axis] = numbers[row, axis] + 0.5 * gap * numbers[row, 3 + axis]


@kernel
def compare_pairs(before: Integers, now: Integers, begun: Integers, ended: Integers) -> tuple[int, int]:
    """Rows (n,2) of two sorted lists that are only in the second, and those only in the first. How many of each."""
    news, olds, i, j = 0, 0, 0, 0
    while i < len(before) or j < len(now):
        order = 0
        if j == len(now):
            order = -1
        elif i == len(before):
            order = 1
        else:
            for column in range(2):
                if order == 0 and before[i, column] != now[j, column]:
                    order = -1 if before[i, column] < now[j, column] else 1
        if order < 0:
            ended[olds, 0], ended[olds, 1] = before[i, 0], before[i, 1]
            olds += 1
        if order > 0:
            begun[news, 0], begun[news, 1] = now[j, 0], now[j, 1]
            news += 1
        i, j = i + (order <= 0), j + (order >= 0)
    return news, olds

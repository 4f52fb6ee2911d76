"""Slow, obvious adjacency of triangles, in dictionaries and sets; shares no code with abut.mesh."""

from collections import defaultdict
from fractions import Fraction


def is_proper(face):
    return len(set(face)) == 3


def sides(face):
    a, b, c = face
    return [(b, c), (c, a), (a, b)]


def edges(faces):
    """Unique edges (smaller, larger), by larger vertex and then by smaller."""
    found = {(min(side), max(side)) for face in faces for side in sides(face) if side[0] != side[1]}
    return sorted(found, key=lambda edge: (edge[1], edge[0]))


def face_edges(faces):
    number = {edge: i for i, edge in enumerate(edges(faces))}
    return [[number.get((min(side), max(side)), -1) for side in sides(face)] for face in faces]


def edge_faces(faces):
    return [[f for f, face in enumerate(faces) if set(edge) <= set(face)] for edge in edges(faces)]


def vertex_faces(faces, vertex_count):
    return [[f for f, face in enumerate(faces) if v in face] for v in range(vertex_count)]


def directed_uses(faces):
    """For each edge, the number of proper faces along it from smaller to larger vertex, and back."""
    uses = {edge: [0, 0] for edge in edges(faces)}
    for face in filter(is_proper, faces):
        for a, b in sides(face):
            uses[min(a, b), max(a, b)][a > b] += 1
    return uses


def boundary_edges(faces):
    return [i for i, use in enumerate(directed_uses(faces).values()) if sum(use) == 1]


def is_closed(faces):
    return any(map(is_proper, faces)) and all(sum(use) % 2 == 0 for use in directed_uses(faces).values())


def is_oriented(faces):
    return all(abs(forward - backward) <= 1 for forward, backward in directed_uses(faces).values())


def groups(items, linked):
    """Connected groups of items, by search; linked(a, b) says who is next to whom."""
    left, found = list(items), []
    while left:
        group, front = [], [left.pop(0)]
        while front:
            item = front.pop()
            group.append(item)
            near = [other for other in left if linked(item, other)]
            left = [other for other in left if other not in near]
            front += near
        found.append(sorted(group))
    return found


def is_manifold(faces):
    proper = [f for f, face in enumerate(faces) if is_proper(face)]
    if not proper or not all(1 <= sum(use) <= 2 for use in directed_uses(faces).values()):
        return False
    at = defaultdict(list)
    for f in proper:
        for v in faces[f]:
            at[v].append(f)
    return all(
        len(groups(fan, lambda f, g, v=v: len({v} | set(faces[f]) & set(faces[g])) > 1)) == 1 for v, fan in at.items()
    )


def components(faces):
    found = groups(range(len(faces)), lambda f, g: bool(set(faces[f]) & set(faces[g])))
    label = {f: i for i, group in enumerate(sorted(found)) for f in group}
    return [label[f] for f in range(len(faces))]


def volume(vertices, faces):
    """Exact, as a Fraction."""
    total = Fraction(0)
    for face in faces:
        (a, b, c), (d, e, f), (g, h, i) = ([Fraction(x) for x in vertices[v]] for v in face)
        total += a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    return total / 6

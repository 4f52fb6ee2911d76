"""What `abut.collide` and `abut.distance` answer about shapes, beside meshes and bodies: the narrow phase of worlds, without one.

Two surfaces are two meshes, and get the answers of meshes. Else one is convex: rows are the points of contact of `narrow_phase`, distances those of
tracked features, of farthest points, or of the nearest triangle; depths are the pointwise ones of meshes (`depths`). Directions and points are turned
round where the convex one is b.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.convex import track_many
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput, Unsupported
from abut.discrete import Contacts, Deformable, Distance, Rigid, closest_points, collide, contains, distance
from abut.discrete.bodies import move
from abut.discrete.distance import Distances
from abut.shapes.columns import GAP, GAP_NORMAL, GAP_POINT
from abut.shapes.narrow_phase import meet_pairs
from abut.shapes.placed import Placed
from abut.shapes.pool import FORM, Pool, build_pool, make_room
from abut.shapes.questions.depths import Deepest, find_deepest_convex, find_deepest_surface, find_parting
from abut.shapes.round.axis import refine_tracks
from abut.shapes.solids import Convex, Plane, Shape
from abut.shapes.surface_gap import find_closest
from abut.shapes.surfaces import FRONT, Soft, Surface, Terrain, as_shape

ROOM = 64
"""Rows for contacts of a query at first."""
TRACKED_EDGES = 256
"""As `world.contacts.pairs.FEW_EDGES`: polytopes with more pairs of edges are tracked."""


class Part(NamedTuple):
    """A shape and where it is."""

    shape: Shape
    pose: Floats
    """(4,4)"""


def read_part(value: Any, name: str) -> Part:
    """Whatever `collide` takes."""
    if isinstance(value, Placed):
        return Part(value.shape, value.pose)
    if isinstance(value, Rigid):
        return Part(Surface(value.mesh), np.array(value.pose))
    try:
        return Part(as_shape(value), np.eye(4))
    except InvalidInput as error:
        raise InvalidInput(name, error.reason, error.row) from None


class Question(NamedTuple):
    """A convex shape at k places, and another shape; `is_turned` where the convex one is b."""

    convex: Convex
    other: Shape
    poses: Floats
    """(2k,12): of the convex one and of the other, in turn"""
    is_turned: bool
    pool: Pool
    room: tuple[Floats, Integers]

    @property
    def places(self) -> int:
        """How many."""
        return len(self.poses) // 2

    @property
    def which(self) -> Integers:
        """(2k,) rows of the pool."""
        return np.tile(np.array([1, 2]), self.places)

    @property
    def pairs(self) -> Integers:
        """(k,2)"""
        return np.arange(2 * self.places).reshape(-1, 2)


def _flatten(poses: Floats) -> Floats:
    return np.concatenate((poses[:, :3, :3].reshape(-1, 9), poses[:, :3, 3]), axis=1)


def _square(rows: Floats) -> Floats:
    poses = np.zeros((len(rows), 4, 4))
    poses[:, :3, :3], poses[:, :3, 3], poses[:, 3, 3] = rows[:, :9].reshape(-1, 3, 3), rows[:, 9:], 1.0
    return poses


def _ask(a: Part, b: Part, poses: Floats | None) -> Question:
    """About two shapes, one of which is convex at least, with a at each of the poses."""
    if isinstance(a.shape, Plane) and isinstance(b.shape, Plane):
        raise Unsupported("two half-spaces")
    is_turned = not isinstance(a.shape, Convex)
    places = a.pose[np.newaxis] if poses is None else poses
    rows = np.empty((2 * len(places), 12))
    rows[is_turned::2], rows[not is_turned :: 2] = _flatten(places), _flatten(b.pose[np.newaxis])
    convex, other = (b.shape, a.shape) if is_turned else (a.shape, b.shape)
    assert isinstance(convex, Convex)
    pool = build_pool([convex, other])
    return Question(convex, other, rows, is_turned, pool, make_room(pool))


def _are_surfaces(a: Part, b: Part) -> bool:
    return not isinstance(a.shape, Convex) and not isinstance(b.shape, Convex)


def _body(part: Part, given: Any) -> Rigid | Deformable:
    """Of a surface."""
    if isinstance(given, Rigid | Deformable):
        return given
    if isinstance(part.shape, Soft):
        return part.shape.body
    assert isinstance(part.shape, Surface)
    return move(part.shape.bodies[0], part.pose)


# --- contacts


class ShapeContacts(Contacts):
    """Contacts with a shape: a row is a point of contact. See `abut.Contacts`, whose fields it has.

    face_a, face_b: −1 of what has no faces. inside: 1 or 2 where a closed mesh holds the shape, or the shape's surface is not met.
    """

    def __init__(self, fields: dict[str, Any], question: Question) -> None:
        self.__dict__.update(fields, _question=question)

    def __len__(self) -> int:
        return len(self.__dict__["query"])

    def __bool__(self) -> bool:
        return bool(self.colliding.any())

    @cached_property
    def depth(self) -> Floats:
        """See `Contacts.depth`."""
        depth, query, question = -self.__dict__["_gap"], self.query, self.__dict__["_question"]
        for place in np.unique(query[depth > 0.0]).tolist():
            rows = query == place
            depth[rows & (depth > 0.0)] = _find_depth(question, place, self.point[rows]).depth
        return frozen(depth)

    @property
    def box_tests(self) -> int:
        """Not counted."""
        return 0

    @property
    def triangle_tests(self) -> int:
        """Not counted."""
        return 0

    @property
    def exact_tests(self) -> int:
        """Not counted."""
        return 0

    def __reduce__(self) -> Any:
        fields = {name: value for name, value in self.__dict__.items() if name != "_question"}
        return _restore, ({**fields, "depth": self.depth},)


for _name in ("query", "face_a", "face_b", "normal", "segment", "point", "inside", "colliding"):
    _doc = getattr(Contacts, _name).__doc__
    setattr(ShapeContacts, _name, property(lambda self, name=_name: self.__dict__[name], doc=_doc))


def _restore(fields: dict[str, Any]) -> ShapeContacts:
    return ShapeContacts({name: frozen(value) for name, value in fields.items()}, None)  # pyright: ignore[reportArgumentType]


def find_contacts(a: Any, b: Any, margin: float, first: bool, poses: Floats | None) -> Contacts:
    """See `abut.collide`."""
    part_a, part_b = read_part(a, "a"), read_part(b, "b")
    if _are_surfaces(part_a, part_b):
        return collide(_body(part_a, a), _body(part_b, b), margin=margin, first=first, poses=poses)  # pyright: ignore
    question = _ask(part_a, part_b, poses)
    rows, ids = _meet(question, 2.0 * margin)
    query, faces = ids[:, 3] // 2, ids[:, :2]
    normal, point, gap = rows[:, 3:6], rows[:, :3], rows[:, 6]
    half = 0.5 * gap[:, np.newaxis] * normal
    ends = np.stack((point - half, point + half), axis=1)
    if question.is_turned:
        faces, normal, ends = faces[:, ::-1], -normal, ends[:, ::-1]
    order = np.lexsort((gap, faces[:, 1], faces[:, 0], query))
    if first and len(order):
        order = order[np.unique(query[order], return_index=True)[1]]
    met = np.bincount(query, minlength=question.places) > 0
    held = _find_held(question, np.flatnonzero(~met))
    inside = np.where(held, 2 if question.is_turned else 1, 0).astype(np.int8)
    fields = {
        "query": query[order],
        "face_a": faces[order, 0],
        "face_b": faces[order, 1],
        "normal": normal[order],
        "segment": ends[order],
        "point": point[order],
        "_gap": gap[order],
        "inside": inside,
        "colliding": met | held,
    }
    return ShapeContacts({name: frozen(np.ascontiguousarray(value)) for name, value in fields.items()}, question)


def _meet(question: Question, margin: float) -> tuple[Floats, Integers]:
    """Contacts (n,7) of all places, and their ids (n,5): see `columns`; the collider is the row of `poses`."""
    pool, count = question.pool, question.places
    known = np.full((count, 10), np.nan)
    if _are_tracked(question):
        found = track_many(pool.hulls, question.pairs, _square(question.poses), which=question.which)
        known = np.column_stack((found.distance, found.normal, found.point_a, found.point_b))
    state, room = np.zeros(2, np.int64), ROOM
    rows, ids = np.empty((room, 7)), np.empty((room, 5), np.int64)
    margins = np.full(count, margin)
    bundle = (pool.cores, pool.trees, *question.room, question.poses, question.which, question.pairs, margins, known)
    while not meet_pairs(*bundle, state, rows, ids):
        room *= 2
        rows, ids = np.resize(rows, (room, 7)), np.resize(ids, (room, 5))
    return rows[: state[1]], ids[: state[1]]


def _are_tracked(question: Question) -> bool:
    """Whether two cores are polytopes with many edges, or a polytope and a point or segment."""
    a, b = question.convex, question.other
    if not isinstance(b, Convex) or question.pool.cores.table[:, FORM].any():
        return False
    faces = len(a.core.planes), len(b.core.planes)
    return max(faces) > 0 and (min(faces) == 0 or len(a.core.edges) * len(b.core.edges) > TRACKED_EDGES)


def _find_held(question: Question, places: Integers) -> NDArray[np.bool_]:
    """(k,) of places without a contact, those where a closed mesh holds the convex shape, or a terrain is above it."""
    held = np.zeros(question.places, np.bool_)
    shape, other = question.convex, question.other
    if not len(places) or isinstance(other, Convex) or isinstance(shape, Plane):
        return held
    rows = question.poses[2 * places]
    middles = (rows[:, :9].reshape(-1, 3, 3) @ shape.core.vertices.mean(axis=0)) + rows[:, 9:]
    if isinstance(other, Terrain):
        pose = question.poses[2 * places + 1]
        own = ((middles - pose[:, 9:])[:, np.newaxis] @ pose[:, :9].reshape(-1, 3, 3))[:, 0]
        held[places] = other.hold(own)
    elif isinstance(other, Soft) and other.side == FRONT:
        held[places] = contains(other.body, middles)
    elif isinstance(other, Surface) and other.side == FRONT:
        for place, middle in zip(places.tolist(), middles, strict=True):
            pose = _square(question.poses[2 * place + 1][np.newaxis])[0]
            held[place] = contains(move(other.bodies[0], pose), middle[np.newaxis])[0]
    return held


# --- distances


def find_distances(a: Any, b: Any, depth: bool, poses: Floats | None) -> list[Distance]:
    """See `abut.distance`."""
    part_a, part_b = read_part(a, "a"), read_part(b, "b")
    if _are_surfaces(part_a, part_b):
        found = distance(_body(part_a, a), _body(part_b, b), depth=depth, poses=poses)  # pyright: ignore
        return [found[k] for k in range(len(found))] if isinstance(found, Distances) else [found]
    question = _ask(part_a, part_b, poses)
    if isinstance(question.other, Convex):
        gap, own, other = _track(question)
        held = np.zeros(question.places, np.bool_)
    else:
        gap, own, other = _search(question)
        held = _find_held(question, np.flatnonzero(gap > 0.0))
    return [_describe(question, k, bool(held[k]), depth, gap[k], own[k], other[k]) for k in range(question.places)]


def _track(question: Question) -> tuple[Floats, Floats, Floats]:
    """Of two convex shapes: distances, and points of both."""
    pool, pairs, which = question.pool, question.pairs, question.which
    found = track_many(pool.hulls, pairs, _square(question.poses), which=which)
    gap, normal = found.distance.copy(), found.normal.copy()
    own, other = found.point_a.copy(), found.point_b.copy()
    if pool.cores.table[:, FORM].any():
        refine_tracks(pool.cores, question.poses, which, pairs, gap, normal, own, other)
    r, s = question.convex.radius, question.other.radius
    return gap - r - s, own + r * normal, other - s * normal


def _search(question: Question) -> tuple[Floats, Floats, Floats]:
    """The same of a convex shape and the triangles of a surface; 0 where they meet."""
    count, pool, nearest = question.places, question.pool, np.full((2 * question.places, 7), np.inf)
    for k in range(count):  # what is found of a place is looked for in its row
        bundle = (question.poses, question.which, question.pairs[k : k + 1], nearest, np.full(2 * count, -1))
        find_closest(pool.cores, pool.trees, question.room[0], *bundle)
    found = nearest[::2]
    gap, normal, other = found[:, GAP], found[:, GAP_NORMAL:GAP_POINT], found[:, GAP_POINT:]
    return gap, other - gap[:, np.newaxis] * normal, other


class ShapeDistance(Distance):
    """A distance from or to a shape. See `abut.Distance`."""

    _place: tuple[Question, int]

    def _find_separation(self) -> Floats:
        question, place = self._place
        poses = _square(question.poses[2 * place : 2 * place + 2])
        parting = find_parting(question.convex, poses[0], question.other, poses[1])
        return -parting if question.is_turned else parting


def _describe(
    question: Question, place: int, held: bool, with_depth: bool, gap: float, own: Floats, other: Floats
) -> Distance:
    """The answer for one place: distance and points of the two, as they were asked about."""
    value = float(gap)
    if value <= 0.0 or held:
        value = 0.0
        deepest = _find_depth(question, place, np.array((own, other))) if with_depth else None
        if deepest is not None and deepest.depth > 0.0:
            value, own, other = -deepest.depth, deepest.own, deepest.other
    faces, points = [-1, _find_face(question, place, other)], [own, other]
    if question.is_turned:
        faces.reverse()
        points.reverse()
    result = ShapeDistance(value, frozen(points[0].copy()), frozen(points[1].copy()), faces[0], faces[1])
    result.__dict__["_place"] = (question, place)
    return result


def _find_face(question: Question, place: int, point: Floats) -> int:
    """The face of a surface on which a point of it lies, or is nearest to."""
    shape = question.other
    if isinstance(shape, Convex):
        return -1
    pose = _square(question.poses[2 * place + 1][np.newaxis])[0]
    assert isinstance(shape, Surface | Soft)
    body = shape.body if isinstance(shape, Soft) else move(shape.bodies[0], pose)
    return int(closest_points(body, point[np.newaxis]).face[0])


def _find_depth(question: Question, place: int, hints: Floats) -> Deepest:
    """The pointwise depth at a place."""
    poses = _square(question.poses[2 * place : 2 * place + 2])
    if isinstance(question.other, Convex):
        return find_deepest_convex(question.convex, poses[0], question.other, poses[1])
    return find_deepest_surface(question.convex, poses[0], question.other, poses[1], hints)

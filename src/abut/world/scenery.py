"""A film as a scene to look at: each body with its shapes and poses, linkages by their bones or the mesh that hangs on them, and contacts.

Bodies of one shape are one group, those that nobody moves another. Contacts are a group that is switched off at first.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.showing import count
from abut.mesh import Mesh
from abut.viewer import Faces, Lines, Mark, Points, Scene, Thing

if TYPE_CHECKING:
    from abut.world.films import Film

MOST_CONTACTS = 400
"""Points of one frame, those with the largest impulses first: more cannot be told apart."""
STILL, CONTACTS = "still", "contacts"


def scene_of_film(
    film: "Film",
    *,
    groups: Mapping[str, Integers] | None = None,
    colours: Mapping[str, str] | None = None,
    sheets: Mapping[int, Mesh] | None = None,
    title: str = "A world",
    marks: tuple[Mark, ...] = (),
) -> Scene:
    """The scene.

    Args:
        film: of a world.
        groups: headings and the handles below them; by default bodies are grouped by their shapes.
        colours: of groups, by their names.
        sheets: meshes whose vertices are the particles of a linkage, by its number.
        title: of the page.
        marks: events.
    """
    paint = dict(colours or {})
    group_of = {handle: name for name, handles in (groups or {}).items() for handle in handles.tolist()}
    order = list(group_of) + [handle for handle in film._shapes if handle not in group_of]
    bodies = [handle for handle in order if handle not in film._stand_ins]
    things = [_body(film, handle, group_of.get(handle), paint) for handle in bodies]
    things += _linkages(film, paint, sheets or {})
    if any(len(frame.contacts) for frame in film.frames):
        things.append(_contacts(film))
    facts = [("Bodies", f"{len(bodies):,}"), ("Time", f"{film[-1].time:.3g} s")] if len(film) > 1 else []
    if film[-1].linkages:
        facts.append(("Linkages", f"{len(film[-1].linkages):,}"))
    times = film.times
    if len(times) > 1 and (np.diff(times) <= 0).any():  # steps of no length
        times = np.arange(len(times), dtype=np.float64)
    return Scene(things, times, title=title, facts=facts, marks=marks)


def _body(film: "Film", handle: int, group: str | None, paint: dict[str, str]) -> Thing:
    shapes = film.shape_of(handle)
    is_static = handle in film._static
    kind = type(shapes[0][0]).__name__.lower() if len(shapes) == 1 else "compound"
    group = group or (STILL if is_static else kind)
    vertices, faces = _mesh_of(film, handle)
    there = np.array([bool((frame.handles == handle).any()) for frame in film.frames])
    first = int(np.argmax(there))
    poses: list[Floats] = []
    for frame, is_there in zip(film.frames, there, strict=True):
        row = np.searchsorted(frame.handles, handle) if is_there else -1
        if is_there and frame.handles[row] != handle:  # they ascend by slot, which need not be by number
            row = int(np.flatnonzero(frame.handles == handle)[0])
        poses.append(frame.poses[row] if is_there else poses[-1] if poses else np.empty(0))
    poses[:first] = [poses[first]] * first
    track = np.stack(poses)
    if (track == track[0]).all():
        track = track[:1]
    return Faces(
        film._names.get(handle, f"{kind} {handle}"),
        vertices,
        faces,
        poses=track,
        group=group,
        colour=paint.get(group, "grey" if is_static else ""),
        note=group if group != kind else "",
        shown=None if there.all() else there,
    )


def _mesh_of(film: "Film", handle: int) -> tuple[Floats, Integers]:
    """All parts of a body as one mesh in its frame."""
    vertices: list[Floats] = []
    faces: list[Integers] = []
    for shape, pose in film.shape_of(handle):
        mesh = shape.surface()
        faces.append(mesh.faces + sum(map(len, vertices)))
        vertices.append(mesh.vertices @ pose[:3, :3].T + pose[:3, 3])
    return np.concatenate(vertices), np.concatenate(faces)


def _linkages(film: "Film", paint: dict[str, str], sheets: Mapping[int, Mesh]) -> list[Thing]:
    """Those of the last frame, for as long as they were there."""
    things: list[Thing] = []
    for i, linkage in enumerate(film._linkages[-1]):
        rows = [[k for k, each in enumerate(linked) if each is linkage] for linked in film._linkages]
        there = np.array([bool(found) for found in rows])
        track = [film[k].linkages[found[0]] for k, found in enumerate(rows) if found]
        whole = np.stack([track[max(0, int(there[: k + 1].sum()) - 1)] for k in range(len(film))])
        shown = None if there.all() else there
        name = f"linkage {i}"
        if i in sheets:
            things.append(Faces(name, whole, sheets[i].faces, colour=paint.get(name, ""), shown=shown))
        else:
            things.append(
                Lines(
                    name,
                    whole,
                    linkage.bones,
                    radius=linkage.radius,
                    colour=paint.get(name, "orange"),
                    shown=shown,
                    note=count(len(linkage.bones), "bone"),
                )
            )
    return things


def _contacts(film: "Film") -> Thing:
    points: list[Floats] = []
    normals: list[Floats] = []
    cut = False
    for frame in film.frames:
        chosen = np.argsort(-frame.contacts.impulse, kind="stable")[:MOST_CONTACTS]
        cut |= len(frame.contacts) > MOST_CONTACTS
        points.append(frame.contacts.point[chosen])
        normals.append(frame.contacts.normal[chosen])
    name = f"{CONTACTS}, the {MOST_CONTACTS} strongest" if cut else CONTACTS
    return Points(name, points, normals, colour="pink", hidden=True)

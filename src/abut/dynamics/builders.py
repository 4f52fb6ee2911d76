"""Ropes, cloths and rag dolls: the linkages that are needed most; and the tissue of a partition."""

import itertools
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from abut.cells import Environment
from abut.core import arrays
from abut.core.errors import InvalidInput
from abut.core.types import Number, VectorLike
from abut.dynamics.linkage import AngleLimits, Linkage, LinkageOptions, MotionOptions, RopeOptions
from abut.dynamics.springs.bending import bending_pairs
from abut.dynamics.springs.mass_spring import MassSpring, SpringOptions
from abut.mesh import MeshLike, as_mesh

MOST_PARTICLES = 2**20
"""A longer rope is a mistake: a step of it takes seconds."""


class TissueOptions(SpringOptions, total=False):
    """Options of `tissue`."""

    stiffness: ArrayLike


def rope(
    start: VectorLike,
    end: VectorLike,
    count: int,
    *,
    most_bend: Number | None = None,
    **options: Unpack[RopeOptions],
) -> Linkage:
    """A rope of `count` particles in a straight line, at equal distances.

    Args:
        start, end: (3,) where its first and its last particle are.
        count: how many particles there are, at least 2.
        most_bend: by how much it may turn at a particle, in radians; by default it folds freely.
        **options: as for `Linkage`.

    Examples:
        >>> from abut import dynamics
        >>> rope = dynamics.rope((0, 0, 0), (1, 0, 0), 5, radius=0.05, fixed=[0])
        >>> rope
        Linkage(5 particles, 1 fixed, 4 bones)
        >>> rope.length.tolist()
        [0.25, 0.25, 0.25, 0.25]
    """
    number = arrays.count(count, "count", least=2, most=MOST_PARTICLES)
    ends = [arrays.coordinates(value, name, (3,)) for value, name in ((start, "start"), (end, "end"))]
    t = np.linspace(0.0, 1.0, number)[:, np.newaxis]
    i = np.arange(number)
    angles = None
    if most_bend is not None and number > 2:
        bend = arrays.scalar(most_bend, "most_bend", least=0.0, most=np.pi)
        angles = AngleLimits(np.stack((i[:-2], i[1:-1], i[2:]), axis=1), np.pi - bend)
    bones = np.stack((i[:-1], i[1:]), axis=1)
    return Linkage((1.0 - t) * ends[0] + t * ends[1], bones, angles=angles, **options)


def tissue(environment: Environment, **options: Unpack[TissueOptions]) -> MassSpring:
    """A model of the vertices of a partition, with springs between all corners of each cell: what moves the walls for `couple(walls=…)`.

    In the plane z is 0. A cut that adds vertices asks for another model.

    Args:
        environment: the cells, as they are now at rest.
        **options: as for `MassSpring`.

    Examples:
        >>> from abut import cells, dynamics
        >>> dynamics.tissue(cells.channel(2, 1, 1), stiffness=50.0, damping=1.0)
        MassSpring(12 particles, 50 springs)
    """
    arrays.instance(environment, "environment", Environment)
    joined = [
        np.array(list(itertools.combinations(np.unique(np.concatenate(rings)).tolist(), 2)))
        for rings in map(environment.faces_of, range(environment.cell_count))
        if rings
    ]
    points = environment.vertices
    points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
    return MassSpring(points, np.unique(np.concatenate(joined), axis=0), **options)


def cloth(mesh: MeshLike, *, fold: Number = 0.0, **options: Unpack[LinkageOptions]) -> Linkage:
    """A cloth from a triangle mesh: its edges keep their lengths, and two faces with a common edge fold freely, or no further than `fold`.

    Args:
        mesh: whatever `abut.as_mesh` takes.
        fold: from 0 (free) to 1 (none), the least distance between the far corners of the two faces, as a part of that at rest.
        **options: as for `Linkage`; with a `fold` other than 0, no `shortest` and `longest`.

    Examples:
        >>> from abut import dynamics, scenes
        >>> dynamics.cloth(scenes.cloth(4, 4), fixed=[0, 4], gravity=(0, 0, -9.81))
        Linkage(25 particles, 2 fixed, 56 bones)
    """
    share = arrays.scalar(fold, "fold", least=0.0, most=1.0)
    surface = as_mesh(mesh)
    if share == 0.0:
        return Linkage(surface.vertices, surface.edges, **options)
    across = bending_pairs(surface)
    bones = np.concatenate((surface.edges, across))
    length = np.linalg.norm(np.subtract(*surface.vertices[bones.T]), axis=1)
    shortest = length.copy()
    shortest[len(surface.edges) :] *= share
    return Linkage(surface.vertices, bones, shortest=shortest, longest=length, **options)  # pyright: ignore[reportCallIssue]


# A person 1.8 high, upright, arms held out, looking along y; x is to his left and z is up. Masses are shares of the body's (after Winter 2009).
_BODY = {
    "head": ((0.0, 0.0, 1.68), 0.08),
    "neck": ((0.0, 0.0, 1.48), 0.10),
    "left shoulder": ((0.19, 0.0, 1.43), 0.07),
    "right shoulder": ((-0.19, 0.0, 1.43), 0.07),
    "left elbow": ((0.48, 0.0, 1.43), 0.03),
    "right elbow": ((-0.48, 0.0, 1.43), 0.03),
    "left hand": ((0.76, 0.0, 1.43), 0.02),
    "right hand": ((-0.76, 0.0, 1.43), 0.02),
    "pelvis": ((0.0, 0.0, 0.98), 0.16),
    "left hip": ((0.10, 0.0, 0.92), 0.11),
    "right hip": ((-0.10, 0.0, 0.92), 0.11),
    "left knee": ((0.10, 0.02, 0.49), 0.07),
    "right knee": ((-0.10, 0.02, 0.49), 0.07),
    "left foot": ((0.10, 0.0, 0.06), 0.03),
    "right foot": ((-0.10, 0.0, 0.06), 0.03),
}
RAG_DOLL_PARTS = tuple(_BODY)
"""The names of the particles of a rag doll, in their order."""
_BONES = (
    ("head", "neck", 0.10),
    ("neck", "left shoulder", 0.06),
    ("neck", "right shoulder", 0.06),
    ("left shoulder", "right shoulder", 0.08),
    ("left shoulder", "left elbow", 0.05),
    ("right shoulder", "right elbow", 0.05),
    ("left elbow", "left hand", 0.04),
    ("right elbow", "right hand", 0.04),
    ("neck", "pelvis", 0.13),
    ("left shoulder", "pelvis", 0.10),
    ("right shoulder", "pelvis", 0.10),
    ("pelvis", "left hip", 0.10),
    ("pelvis", "right hip", 0.10),
    ("left hip", "right hip", 0.10),
    ("left shoulder", "left hip", 0.08),
    ("right shoulder", "right hip", 0.08),
    ("left hip", "left knee", 0.08),
    ("right hip", "right knee", 0.08),
    ("left knee", "left foot", 0.06),
    ("right knee", "right foot", 0.06),
)
# Joint and its two neighbors, least and most angle in degrees: 180 is stretched.
_LIMITS = (
    ("head", "neck", "pelvis", 110, 180),
    ("left shoulder", "left elbow", "left hand", 35, 180),
    ("right shoulder", "right elbow", "right hand", 35, 180),
    ("neck", "left shoulder", "left elbow", 60, 180),
    ("neck", "right shoulder", "right elbow", 60, 180),
    ("neck", "pelvis", "left hip", 70, 155),
    ("neck", "pelvis", "right hip", 70, 155),
    ("left shoulder", "left hip", "left knee", 50, 180),
    ("right shoulder", "right hip", "right knee", 50, 180),
    ("left hip", "left knee", "left foot", 40, 180),
    ("right hip", "right knee", "right foot", 40, 180),
)


def rag_doll(height: Number = 1.8, *, mass: Number = 75.0, **options: Unpack[MotionOptions]) -> Linkage:
    """A body of 15 particles and 20 bones with angle limits, upright on z = 0, arms held out along x; `RAG_DOLL_PARTS` names the particles.

    Args:
        height: from the soles to the crown.
        mass: of the whole body.
        **options: fixed, gravity, drag, sweeps and tolerance, as for `Linkage`.

    Examples:
        >>> from abut import dynamics
        >>> doll = dynamics.rag_doll(1.6, gravity=(0, 0, -9.81))
        >>> doll
        Linkage(15 particles, 20 bones)
        >>> head = dynamics.RAG_DOLL_PARTS.index("head")
        >>> doll.position[head].round(2).tolist()  # its middle
        [0.0, 0.0, 1.49]
    """
    tall, weight = arrays.positive(height, "height"), arrays.positive(mass, "mass")
    for taken in ("angles", "radius", "shortest", "longest"):
        if taken in options:
            raise InvalidInput(taken, "is the rag doll's own")
    number = {name: i for i, name in enumerate(_BODY)}
    size = tall / 1.8
    bones = [(number[a], number[b]) for a, b, _ in _BONES]
    angles = AngleLimits(
        [[number[name] for name in row[:3]] for row in _LIMITS],
        np.radians([float(row[3]) for row in _LIMITS]),
        np.radians([float(row[4]) for row in _LIMITS]),
    )
    points = size * np.array([place for place, _ in _BODY.values()])
    shares = np.array([share for _, share in _BODY.values()])
    radius = size * np.array([thick for _, _, thick in _BONES])
    return Linkage(points, bones, mass=weight * shares / shares.sum(), radius=radius, angles=angles, **options)

"""States of a world: everything that the next step depends on, kept to go back to.

A state holds a copy of the bodies, their contacts and impulses, who sleeps, what is in sensors, and where deformable bodies and models are, of
linkages and soft bodies. Shapes do not change, and are shared. Deformable bodies and models belong to whoever made them: going back moves them back.
"""

import io
import pickle
from typing import Any

import numpy as np

from abut.core.arrays import Floats
from abut.core.showing import count, describe
from abut.dynamics import ParticleModel
from abut.shapes.solids import Shape
from abut.shapes.surfaces import Soft


class State:
    """What a world was like; see `World.save_state`. Immutable; it can be pickled, and then brings its own copies of what it shares with the world.

    Examples:
        >>> import abut
        >>> from abut import shapes
        >>> world = abut.World()
        >>> ball = world.add(shapes.Sphere(0.5))
        >>> start = world.save_state()
        >>> world.step(0.5)
        >>> world.restore(start)
        >>> start, float(world.poses(ball)[0, 2, 3])
        (State(1 body), 0.0)
    """

    def __init__(self) -> None:
        self._bodies = 0
        self._models: tuple[ParticleModel, ...] = ()
        self._shared: list[object] = []
        """What the copy refers to instead of holding it."""
        self._data = b""
        self._soft: list[tuple[Soft, Floats, int]] = []
        """Deformable shapes with vertices and version."""

    def _keep(self, content: dict[str, Any], bodies: int, models: tuple[ParticleModel, ...]) -> "State":
        """Copy what a world holds."""
        self._bodies, self._models = bodies, models
        stream = io.BytesIO()
        _Writer(stream, self._shared).dump((content, models))
        self._data = stream.getvalue()
        self._soft = [
            (shape, shape.vertices.copy(), shape.body._version) for shape in self._shared if isinstance(shape, Soft)
        ]

        return self

    def __repr__(self) -> str:
        return describe(self, count(self._bodies, "body", "bodies"))

    def _open(self) -> tuple[dict[str, Any], list[tuple[ParticleModel, ParticleModel]], list[tuple[Soft, Floats, int]]]:
        """What the world held, a new copy; models of the world, each with a copy of what it was; and the deformable shapes."""
        content, copies = _Reader(io.BytesIO(self._data), self._shared).load()
        return content, list(zip(self._models, copies, strict=True)), self._soft


class _Writer(pickle.Pickler):
    """Pickles a world without its shapes and its filter."""

    def __init__(self, stream: io.BytesIO, shared: list[object]) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self.shared, self.numbers = shared, dict[int, int]()

    def persistent_id(self, obj: Any) -> int | None:
        """The number of what is shared."""
        if not isinstance(obj, Shape) and not (
            callable(obj) and not isinstance(obj, type) and hasattr(obj, "__code__")
        ):
            return None
        if id(obj) not in self.numbers:
            self.numbers[id(obj)] = len(self.shared)
            self.shared.append(obj)
        return self.numbers[id(obj)]


class _Reader(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, shared: list[object]) -> None:
        super().__init__(stream)
        self.shared = shared

    def persistent_load(self, pid: Any) -> object:
        """What has this number."""
        return self.shared[pid]


def put_back(models: list[tuple[ParticleModel, ParticleModel]]) -> dict[int, ParticleModel]:
    """Give models the states of their copies; by the copy's id, whom it stands for."""
    for model, copy in models:
        vars(model).clear()
        vars(model).update(vars(copy))
    return {id(copy): model for model, copy in models}


def deform_back(soft: list[tuple[Soft, Floats, int]]) -> dict[int, tuple[int, int]]:
    """Put the vertices of deformable bodies back; by the shape's id, the version that they had, and that they have now."""
    versions = {}
    for shape, vertices, version in soft:
        if not np.array_equal(shape.vertices, vertices):
            shape.body.update(vertices)
        versions[id(shape)] = (version, shape.body._version)
    return versions

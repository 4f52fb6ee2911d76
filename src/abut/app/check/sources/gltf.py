"""glTF files (`.gltf`, `.glb`): at rest one frame, animated ones sampled, with the objects as they name them.

An animation is sampled at times 1/fps apart from its first key to its last one, and at the last one. An object is a node with a mesh. A mesh with a
skin moves with its joints alone (skinning of glTF 2.0, section 3.7.3), morph targets are added before.

What is left out: points and lines, and attributes other than positions, joints and weights. Compressed geometry is refused by the name of its
extension.
"""

import math
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from abut.app.check.sources.gltf_data import GltfData
from abut.app.check.sources.gltf_motion import Channel, read_channels, value_at
from abut.app.check.sources.source import Objects, SeenSource, Shape, failures_named, tell_apart
from abut.app.check.sources.turns import rotations_of
from abut.core.arrays import Floats, Integers
from abut.core.errors import AbutError, InvalidInput, Unsupported
from abut.mesh import Mesh

TRIANGLES, STRIP, FAN = 4, 5, 6
MOST_FRAMES = 1_000_000


class _Part(NamedTuple):
    """One object."""

    name: str
    node: int
    positions: Floats
    """(n,3) at rest"""
    targets: Floats
    """(t,n,3) what each morph target adds"""
    weights: Floats
    """(t,) of the targets, where no animation moves them"""
    faces: Integers
    skin: int | None
    joints: Integers
    """(n,j) joints of the skin that each vertex hangs on"""
    shares: Floats
    """(n,j)"""


class _Scene(NamedTuple):
    data: GltfData
    parts: list[_Part]
    channels: list[Channel]
    parents: dict[int, int]


class GltfSource(SeenSource):
    """A glTF file as frames; its buffers may lie beside it."""

    kept: ClassVar[dict[str, Any]] = {"_scene": None}

    def __init__(self, path: Path, fps: float, clip: str | None) -> None:
        super().__init__(path)
        self._fps, self._clip = fps, clip
        self._scene: _Scene | AbutError | None = None
        self._times = self._find_times()
        self.count = len(self._times) if len(self._times) else None

    def files(self) -> list[Path]:
        """The file and those that hold its buffers."""
        try:
            return self._open().data.files
        except AbutError:
            return [self.path]

    def read(self, at: int) -> Shape:
        """The scene at the time of a frame."""
        scene = self._open()
        with failures_named(self.path):
            return _shape_at(scene, float(self._times[at]) if len(self._times) else None)

    def _open(self) -> _Scene:
        if self._scene is None:
            try:
                with failures_named(self.path):  # a document may lack anything, and hold anything in its place
                    self._scene = _read_scene(self.path, self._clip)
            except AbutError as error:
                self._scene = error
        if isinstance(self._scene, AbutError):
            raise self._scene
        return self._scene

    def _find_times(self) -> Floats:
        """Times of the frames; none where nothing moves, or the file cannot be read."""
        try:
            channels = self._open().channels
        except AbutError:
            return np.empty(0)
        if not channels:
            return np.empty(0)
        start = min(float(channel.times[0]) for channel in channels)
        end = max(float(channel.times[-1]) for channel in channels)
        steps = (end - start) * self._fps
        if steps > MOST_FRAMES:
            raise InvalidInput(
                str(self.path), f"has {steps:.0f} frames at {self._fps:g} a second, {MOST_FRAMES} at most"
            )
        count = math.ceil(steps - 1e-6)
        return np.minimum(start + np.arange(count + 1) / self._fps, end)


def _read_scene(path: Path, clip: str | None) -> _Scene:
    data = GltfData(path)
    nodes = data.list_of("nodes")
    parents = {int(child): at for at, node in enumerate(nodes) for child in node.get("children", ())}
    parts: list[_Part] = []
    for at in _nodes_shown(data, parents):
        if "mesh" in nodes[at]:
            part = _read_part(data, at)
            if len(part.faces):
                parts.append(part)
    if not parts:
        raise InvalidInput(str(path), "holds no faces")
    animation = _choose(data, clip)
    return _Scene(data, parts, read_channels(data, animation) if animation else [], parents)


def _choose(data: GltfData, clip: str | None) -> dict[str, Any] | None:
    """The animation that is meant, by its name or its number."""
    clips = data.list_of("animations")
    if not clips:
        return None
    names = [str(animation.get("name", i)) for i, animation in enumerate(clips)]
    if clip is None:
        if len(clips) > 1:
            raise Unsupported(f"{data.path}: holds {len(clips)} animations ({', '.join(names)}): choose one (--clip)")
        return clips[0]
    if clip in names:
        return clips[names.index(clip)]
    if clip.isdecimal() and int(clip) < len(clips):
        return clips[int(clip)]
    raise InvalidInput(str(data.path), f"has no animation {clip!r}, but {', '.join(names)}")


def _nodes_shown(data: GltfData, parents: dict[int, int]) -> list[int]:
    """The nodes of the scene, parents first. Raises ValueError where a node hangs under itself."""
    nodes, scenes = data.list_of("nodes"), data.list_of("scenes")
    roots = scenes[data.document.get("scene", 0)].get("nodes", []) if scenes else None
    waiting = [i for i in range(len(nodes)) if i not in parents] if roots is None else list(roots)
    found: list[int] = []
    while waiting:
        at = int(waiting.pop(0))
        if at < 0 or len(found) >= len(nodes):
            raise ValueError("its nodes are no tree")
        found.append(at)
        waiting = [*nodes[at].get("children", ()), *waiting]
    return found


def _read_part(data: GltfData, at: int) -> _Part:
    node = data.list_of("nodes")[at]
    mesh = data.list_of("meshes")[node["mesh"]]
    positions, shares = list[Floats](), list[Floats]()
    faces, joints = list[Integers](), list[Integers]()
    targets: list[list[Floats]] = []
    count = 0
    for primitive in mesh["primitives"]:
        mode = primitive.get("mode", TRIANGLES)
        if mode not in (TRIANGLES, STRIP, FAN):
            continue
        attributes = primitive["attributes"]
        own = data.accessor(attributes["POSITION"])
        corners = (
            data.accessor(primitive["indices"]).astype(np.int64) if "indices" in primitive else np.arange(len(own))
        )
        if len(corners) and corners.max() >= len(own):
            raise ValueError(f"a face has vertex {corners.max()} of {len(own)}")
        faces.append(_triangles(corners, mode) + count)
        positions.append(own)
        targets.append([_target(data, target, len(own)) for target in primitive.get("targets", ())])
        sets = [k for k in range(len(attributes)) if f"JOINTS_{k}" in attributes]
        joints.append(_side_by_side([data.accessor(attributes[f"JOINTS_{k}"]) for k in sets], len(own)).astype(int))
        shares.append(_side_by_side([data.accessor(attributes[f"WEIGHTS_{k}"]) for k in sets], len(own)))
        count += len(own)
    target_count = max((len(own) for own in targets), default=0)
    added = np.zeros((target_count, count, 3))
    first = 0
    for own, shape in zip(targets, positions, strict=True):
        for k, target in enumerate(own):
            added[k, first : first + len(shape)] = target
        first += len(shape)
    weights = np.zeros(target_count)
    given = node.get("weights", mesh.get("weights", ()))
    weights[: len(given)] = given
    name = str(node.get("name", mesh.get("name", f"object {at}")))
    return _Part(
        name,
        at,
        np.concatenate([np.empty((0, 3)), *positions]),
        added,
        weights,
        np.concatenate([np.empty((0, 3), np.int64), *faces]),
        node.get("skin"),
        _stack(joints).astype(np.int64),
        _stack(shares),
    )


def _target(data: GltfData, target: dict[str, Any], count: int) -> Floats:
    return data.accessor(target["POSITION"]) if "POSITION" in target else np.zeros((count, 3))


def _side_by_side(parts: list[Floats], count: int) -> Floats:
    return np.concatenate([np.empty((count, 0)), *parts], axis=1)


def _stack(parts: list[Any]) -> Any:
    """Rows of different widths, filled up with zeros: a joint with no share moves nothing."""
    width = max((part.shape[1] for part in parts), default=0)
    wide = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts]
    return np.concatenate([np.empty((0, width)), *wide])


def _triangles(corners: Integers, mode: int) -> Integers:
    """The triangles of a list, a strip (every second one the other way round) or a fan."""
    if mode == TRIANGLES:
        return corners[: len(corners) // 3 * 3].reshape(-1, 3)
    count = max(len(corners) - 2, 0)
    at = np.arange(count)
    if mode == FAN:
        return np.stack((corners[at + 1], corners[at + 2], np.full(count, corners[0] if count else 0)), axis=1)
    odd = at % 2
    return np.stack((corners[at], corners[at + 1 + odd], corners[at + 2 - odd]), axis=1)


def _shape_at(scene: _Scene, time: float | None) -> Shape:
    moved: dict[tuple[int, str], Floats] = {}
    if time is not None:
        moved = {(channel.node, channel.property): value_at(channel, time) for channel in scene.channels}
    frames: dict[int, Floats] = {}
    positions = [_place(scene, part, moved, frames) for part in scene.parts]
    counts = [len(own) for own in positions]
    starts = np.cumsum([0, *counts])
    faces = np.concatenate([part.faces + start for part, start in zip(scene.parts, starts, strict=False)])
    mesh = Mesh(np.concatenate(positions), faces)
    if len(scene.parts) == 1:
        return Shape(mesh, None)
    own = np.arange(len(counts))
    return Shape(
        mesh,
        Objects(
            tell_apart([part.name for part in scene.parts]),
            np.repeat(own, counts),
            np.repeat(own, [len(part.faces) for part in scene.parts]),
        ),
    )


def _place(scene: _Scene, part: _Part, moved: dict[tuple[int, str], Floats], frames: dict[int, Floats]) -> Floats:
    """(n,3) where the vertices of an object are."""
    weights = part.weights.copy()
    given = moved.get((part.node, "weights"), weights)
    weights[: len(given)] = given[: len(weights)]
    shape = part.positions + np.tensordot(weights, part.targets, axes=1) if len(weights) else part.positions
    if part.skin is None or not part.shares.shape[1]:
        frame = _frame_of(scene, part.node, moved, frames)
        return shape @ frame[:3, :3].T + frame[:3, 3]
    skin = scene.data.list_of("skins")[part.skin]
    count = len(skin["joints"])
    if "inverseBindMatrices" in skin:
        to_bones = scene.data.accessor(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
    else:
        to_bones = np.broadcast_to(np.eye(4), (count, 4, 4))
    bones = np.array([_frame_of(scene, int(joint), moved, frames) for joint in skin["joints"]]) @ to_bones[:count]
    joined = np.einsum("nj,njab->nab", part.shares, bones[part.joints])
    return np.einsum("nab,nb->na", joined[:, :3, :3], shape) + joined[:, :3, 3]


def _frame_of(scene: _Scene, node: int, moved: dict[tuple[int, str], Floats], frames: dict[int, Floats]) -> Floats:
    """(4,4) from a node to the scene; parents are looked up once."""
    path = [node]
    while path[-1] in scene.parents and scene.parents[path[-1]] not in frames and len(path) <= len(scene.parents):
        path.append(scene.parents[path[-1]])
    for at in reversed(path):
        if at not in frames:
            own = _own_frame(scene.data.list_of("nodes")[at], at, moved)
            frames[at] = frames[scene.parents[at]] @ own if scene.parents.get(at) in frames else own
    return frames[node]


def _own_frame(node: dict[str, Any], at: int, moved: dict[tuple[int, str], Floats]) -> Floats:
    if "matrix" in node and not any((at, name) in moved for name in ("translation", "rotation", "scale")):
        return np.array(node["matrix"], float).reshape(4, 4).T

    def value(name: str, default: tuple[float, ...]) -> Floats:
        return moved.get((at, name), np.array(node.get(name, default), float))

    frame = np.eye(4)
    frame[:3, :3] = rotations_of(value("rotation", (0.0, 0.0, 0.0, 1.0))[np.newaxis, [3, 0, 1, 2]])[0] * value(
        "scale", (1.0, 1.0, 1.0)
    )
    frame[:3, 3] = value("translation", (0.0, 0.0, 0.0))
    return frame

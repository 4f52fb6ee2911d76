"""USD stages (`.usd`, `.usda`, `.usdc`, `.usdz`) by usd-core: all meshes that are shown, sampled at the stage's time codes, with their prims' names.

Frames are one time code apart, from the stage's first to its last, or 1/fps seconds apart where `fps` is asked for. Polygons are cut from their first
corner; subdivision is not applied. Skinned meshes are moved by their skeletons. A stage whose times are not said has those of its samples.
"""

import importlib
import math
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from abut.app.check.sources.source import Objects, SeenSource, Shape, failures_named, tell_apart
from abut.core.arrays import Floats, Integers
from abut.core.errors import AbutError, InvalidInput, Unsupported
from abut.mesh import Mesh

MOST_FRAMES = 1_000_000


class UsdSource(SeenSource):
    """A stage as frames; layers may lie in other files."""

    kept: ClassVar[dict[str, Any]] = {"_stage": None}

    def __init__(self, path: Path, fps: float | None) -> None:
        super().__init__(path)
        self._fps = fps
        self._stage: Any = None
        self._error: AbutError | None = None
        self._codes: Floats = np.empty(0)
        try:
            self._codes = self._find_codes(self._open())
        except AbutError as error:
            self._error = error
        self.count = len(self._codes) if len(self._codes) > 1 else None

    def files(self) -> list[Path]:
        """The file and the layers that it refers to."""
        if self._error is not None:
            return [self.path]
        layers = [Path(layer.realPath) for layer in self._open().GetUsedLayers() if layer.realPath]
        return list(dict.fromkeys([self.path, *(layer for layer in layers if layer.is_file())]))

    def read(self, at: int) -> Shape:
        """The stage at the time of a frame."""
        if self._error is not None:
            raise self._error
        stage = self._open()
        with failures_named(self.path):  # the bindings raise what C++ throws
            return _shape_at(self.path, stage, float(self._codes[at]) if self.count else None)

    def _open(self) -> Any:
        if self._stage is None:
            usd = _pxr(self.path, "Usd")
            if not self.path.is_file():
                raise InvalidInput(str(self.path), "is not a regular file")
            try:
                self._stage = usd.Stage.Open(str(self.path))
                skeletons = _pxr(self.path, "UsdSkel")
                self._stage.SetEditTarget(self._stage.GetSessionLayer())
                skeletons.BakeSkinning(usd.PrimRange(self._stage.GetPseudoRoot()))
            except Exception as error:
                reason = str(error).strip().splitlines()
                said = reason[-1].strip() if reason else type(error).__name__
                raise InvalidInput(str(self.path), f"cannot be read ({said})") from error
        return self._stage

    def _find_codes(self, stage: Any) -> Floats:
        if stage.HasAuthoredTimeCodeRange():
            start, end = stage.GetStartTimeCode(), stage.GetEndTimeCode()
        else:
            samples = _sample_times(self.path, stage)
            if len(samples) < 2:
                return np.empty(0)
            start, end = min(samples), max(samples)
        step = stage.GetTimeCodesPerSecond() / self._fps if self._fps else 1.0
        steps = (end - start) / step
        if steps > MOST_FRAMES:
            raise InvalidInput(str(self.path), f"has {steps:.0f} frames, {MOST_FRAMES} at most")
        return np.minimum(start + step * np.arange(math.ceil(steps - 1e-6) + 1), end)


def _pxr(path: Path, module: str) -> Any:
    try:
        return importlib.import_module(f"pxr.{module}")
    except ImportError as error:
        what = f"{path}: files of kind {path.suffix!r} need usd-core; install it with: pip install 'abut[usd]'"
        raise Unsupported(what) from error


def _meshes(path: Path, stage: Any) -> list[Any]:
    """The meshes that are shown, instances included."""
    usd, geometry = _pxr(path, "Usd"), _pxr(path, "UsdGeom")
    prims = stage.Traverse(usd.TraverseInstanceProxies(usd.PrimDefaultPredicate))
    shown = ("default", "render")
    return [
        geometry.Mesh(prim)
        for prim in prims
        if prim.IsA(geometry.Mesh) and geometry.Imageable(prim).ComputePurpose() in shown
    ]


def _sample_times(path: Path, stage: Any) -> set[float]:
    times: set[float] = set()
    for mesh in _meshes(path, stage):
        times.update(mesh.GetPointsAttr().GetTimeSamples())
        prim = mesh.GetPrim()
        while prim and not prim.IsPseudoRoot():
            times.update(_pxr(path, "UsdGeom").Xformable(prim).GetTimeSamples())
            prim = prim.GetParent()
    return times


def _shape_at(path: Path, stage: Any, code: float | None) -> Shape:
    usd, geometry = _pxr(path, "Usd"), _pxr(path, "UsdGeom")
    time = usd.TimeCode.EarliestTime() if code is None else usd.TimeCode(code)
    frames = geometry.XformCache(time)
    names: list[str] = []
    positions: list[Floats] = []
    faces: list[Integers] = []
    count = 0
    for mesh in _meshes(path, stage):
        points = mesh.GetPointsAttr().Get(time)
        corners = mesh.GetFaceVertexIndicesAttr().Get(time)
        if not points or not corners or mesh.ComputeVisibility(time) == "invisible":
            continue
        to_world = np.array(frames.GetLocalToWorldTransform(mesh.GetPrim()))  # rows times matrix
        own = np.asarray(points, float) @ to_world[:3, :3] + to_world[3, :3]
        turned = mesh.GetOrientationAttr().Get(time) == "leftHanded"
        sizes = np.asarray(mesh.GetFaceVertexCountsAttr().Get(time), np.int64)
        triangles = _triangulate(path, sizes, np.asarray(corners, np.int64), len(own))
        names.append(mesh.GetPrim().GetName())
        positions.append(own)
        faces.append(triangles[:, ::-1] + count if turned else triangles + count)
        count += len(own)
    if not sum(map(len, faces)):
        raise InvalidInput(str(path), "holds no faces")
    whole = Mesh(np.concatenate(positions), np.concatenate(faces))
    if len(names) == 1:
        return Shape(whole, None)
    own_numbers = np.arange(len(names))
    return Shape(
        whole,
        Objects(
            tell_apart(names),
            np.repeat(own_numbers, [len(own) for own in positions]),
            np.repeat(own_numbers, [len(own) for own in faces]),
        ),
    )


def _triangulate(path: Path, sizes: Integers, corners: Integers, vertex_count: int) -> Integers:
    """Polygons cut from their first corners."""
    if sizes.sum() != len(corners) or (sizes < 0).any() or (corners < 0).any() or (corners >= vertex_count).any():
        raise InvalidInput(str(path), "has a mesh whose faces do not fit its points")
    counts = np.maximum(sizes - 2, 0)
    starts = np.repeat(np.cumsum(sizes) - sizes, counts)
    at = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack((corners[starts], corners[starts + at + 1], corners[starts + at + 2]), axis=1)

"""Questions about steps whose vertices lie on a CUDA device, or are sent there: they go to `abut.cuda`."""

from typing import Any

from abut.ccd.motion.motions import BodyLike, Motion, mesh_of
from abut.core import devices
from abut.core.errors import InvalidInput, Unsupported
from abut.core.types import PointsLike
from abut.mesh import as_mesh


def questions() -> Any:
    """What answers on a device."""
    return devices.part("steps.questions")


def ends_on_device(device: object, a: Motion | BodyLike, others: tuple[Motion | PointsLike, ...]) -> Any:
    """The meshes of a question and their vertices on a device; None where it is answered on the processor."""
    motions = [each for each in (a, *others) if isinstance(each, Motion)]
    if motions:
        given: list[Any] = [end for motion in motions for end in (motion.vertices_t0, motion.vertices_t1)]
    else:
        given = list(others)
    if not devices.chosen(device, *given):
        return None
    if motions:
        if len(motions) != 1 + len(others) or len(motions) > 2:
            raise InvalidInput("others", "beside a Motion there may be one other Motion; `ccd.join` takes more")
        _refuse_turning(motions)
        meshes = [motion.mesh for motion in motions]
    elif len(given) != 2:
        raise InvalidInput("others", f"a mesh needs its vertices at both ends, not {len(given)} more arguments")
    else:
        meshes = [as_mesh(mesh_of(a))]
    return ends_of(device, meshes, given)


def ends_of(device: object, meshes: list[Any], given: list[Any]) -> Any:
    """The vertices of meshes at both ends of a step; unless a device was asked for, all lie on it already."""
    if device is None and not all(map(devices.is_on_device, given)):
        where = next(k for k, end in enumerate(given) if not devices.is_on_device(end))
        name = ("v_t0", "v_t1") if len(given) == 2 else ("a_t0", "a_t1", "b_t0", "b_t1")
        raise InvalidInput(
            name[where], "lies on the host, others on a CUDA device: copy it there, or ask for device='cuda'"
        )
    return questions().Ends(meshes, given)


def _refuse_turning(motions: list[Motion]) -> None:
    if any(motion.rotates for motion in motions):
        raise Unsupported("motions that turn, on a CUDA device")
    if len(motions) == 1 and any(motions[0]._rigid_bodies):
        raise Unsupported("rigid bodies against themselves, on a CUDA device")

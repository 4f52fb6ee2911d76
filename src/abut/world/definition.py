"""What a body is made of: its shapes with their places, what they weigh together, and its options. All is checked here, before a world has it."""

import contextlib
from collections.abc import Container, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.arrays import RIGID_TOLERANCE, Floats, frozen
from abut.core.errors import InvalidInput, Unsupported
from abut.core.poses import own_pose
from abut.core.types import PoseLike, VectorLike
from abut.dynamics import MassProperties
from abut.shapes.mass import combine, weigh_shell
from abut.shapes.solids import Plane, Shape
from abut.shapes.surfaces import ShapeLike, Soft, Surface, Terrain, as_shape
from abut.world.bodies.materials import Material
from abut.world.bodies.store import ALL_LAYERS, DYNAMIC, KINDS, KINEMATIC, SENSOR, STATIC, rotations_of

IDENTITY: Floats = frozen(np.eye(4))
STILL = (0.0, 0.0, 0.0)
LEAST_SCALE, MOST_SCALE = 1e-30, 1e30
"""Sizes of bodies, and how far from the origin they may be: the inertia goes with the fifth power of the size, and must have an inverse."""
ShapesLike: TypeAlias = ShapeLike | list[ShapeLike | tuple[ShapeLike, PoseLike]]
"""Whatever makes a body: a shape, or a list of shapes or (shape, pose)."""
Kind: TypeAlias = Literal["dynamic", "kinematic", "static", "sensor"]
DEFAULTS: dict[str, Any] = {
    "kind": "dynamic",
    "density": 1.0,
    "mass": None,
    "velocity": STILL,
    "angular_velocity": STILL,
    "friction": 0.5,
    "restitution": 0.0,
    "rolling": None,
    "material": None,
    "layer": 1,
    "mask": ALL_LAYERS,
    "continuous": False,
    "linear_damping": 0.0,
    "angular_damping": 0.0,
    "gravity_scale": 1.0,
    "locked": "",
}


class Options(NamedTuple):
    """The options of bodies of one kind, checked."""

    kind: int
    weight: MassProperties
    velocity: Floats
    angular_velocity: Floats
    material: Material
    layer: int
    mask: int
    continuous: bool
    damping: tuple[float, float]
    pull: float
    locked: NDArray[np.bool_]
    """(6,)"""


class Newcomers(NamedTuple):
    """Bodies of one kind that may come into a world."""

    parts: list[tuple[Shape, Floats]]
    options: Options
    places: Floats
    """(k,4,4)"""
    radius: float
    """the farthest that a point of it is from its center"""
    inverse: Floats
    """(3,3) of the inertia; 0 for what does not move"""


def read_options(given: dict[str, Any], parts: list[tuple[Shape, Floats]], count: int) -> Options:
    """The options of `World.add` for so many bodies of these parts."""
    unknown = set(given) - set(DEFAULTS)
    if unknown:
        raise InvalidInput("options", f"has no {sorted(unknown)[0]!r}")
    chosen = {**DEFAULTS, **given}
    kind, continuous = arrays.choice(chosen["kind"], "kind", KINDS), arrays.flag(chosen["continuous"], "continuous")
    shapes = [shape for shape, _ in parts]
    number = KINDS[kind]
    is_soft = isinstance(shapes[0], Soft) and shapes[0].model is not None and number == DYNAMIC
    if number == DYNAMIC and not is_soft and any(isinstance(shape, Soft | Terrain | Plane) for shape in shapes):
        number = STATIC
    if number in (KINEMATIC, SENSOR) and any(isinstance(shape, Plane) for shape in shapes):
        raise Unsupported("a half-space that is no static body")
    if is_soft:
        refuse_rigid(chosen)
    elif continuous and any(isinstance(shape.collider(), Soft | Surface) for shape in shapes):
        raise Unsupported("a continuous body with a surface: give it a hull, or parts that are convex")
    locked = read_locks(chosen["locked"])
    velocity = arrays.stacked(chosen["velocity"], "velocity", (3,), count)
    angular_velocity = arrays.stacked(chosen["angular_velocity"], "angular_velocity", (3,), count)
    check_locks(locked, velocity, angular_velocity)
    return Options(
        number,
        weigh_parts(parts, number, chosen),
        velocity,
        angular_velocity,
        read_material(chosen),
        arrays.count(chosen["layer"], "layer", most=ALL_LAYERS),
        arrays.count(chosen["mask"], "mask", most=ALL_LAYERS),
        continuous,
        (
            arrays.scalar(chosen["linear_damping"], "linear_damping", least=0.0),
            arrays.scalar(chosen["angular_damping"], "angular_damping", least=0.0),
        ),
        arrays.scalar(chosen["gravity_scale"], "gravity_scale"),
        locked,
    )


def refuse_rigid(chosen: dict[str, Any]) -> None:
    """Refuse options that only rigid bodies have, for a soft one."""
    for name in ("density", "mass", "linear_damping", "angular_damping", "locked"):
        if chosen[name] != DEFAULTS[name]:
            raise InvalidInput(name, "is given for a soft body: its model has masses, damping and fixed particles")


def read_material(chosen: dict[str, Any]) -> Material:
    """The material of a body, or that which its friction, restitution and rolling make."""
    names = ("friction", "restitution", "rolling")
    made = Material(*(chosen[name] for name in names))
    if chosen["material"] is None:
        return made
    for name in names:
        if getattr(made, name) != DEFAULTS[name]:
            raise InvalidInput("material", f"is given beside {name}: it has its own")
    return arrays.instance(chosen["material"], "material", Material)


def read_place(
    default: Floats | None, pose: PoseLike | None, position: VectorLike | None, rotation: PoseLike | None
) -> Floats:
    """(4,4) where a body shall be: at its pose, or where position and rotation (w, x, y, z, or a matrix) put it; see `World.add`."""
    if pose is not None:
        if position is not None or rotation is not None:
            raise InvalidInput("pose", "is given beside a position or a rotation: it has both")
        return arrays.pose(pose, "pose")
    place = np.array(IDENTITY if default is None else default)
    if position is not None:
        place[:3, 3] = arrays.coordinates(position, "position", (3,))
    if rotation is None:
        return place
    if arrays.shape_of(rotation) == (4,):
        quaternion = arrays.coordinates(rotation, "rotation", (4,))
        length = float(np.linalg.norm(quaternion))
        if abs(length - 1.0) > RIGID_TOLERANCE:
            raise InvalidInput("rotation", f"has length {length:g}: a quaternion (w, x, y, z) that turns has length 1")
        place[:3, :3] = rotations_of(quaternion[np.newaxis] / length)[0]
        return place
    turned = np.eye(4)
    turned[:3, :3] = arrays.coordinates(rotation, "rotation", (3, 3))
    place[:3, :3] = arrays.pose(turned, "rotation")[:3, :3]
    return place


def check_name(name: object, taken: Container[str]) -> None:
    """Refuse what is no name for a body, or is one already."""
    if not isinstance(name, str) or not name or not name.isprintable():
        raise InvalidInput("name", f"{name!r} is no name: letters and other signs that can be printed")
    if name in taken:
        raise InvalidInput("name", f"{name!r} is that of another body")


def read_locks(value: object) -> NDArray[np.bool_]:
    """(6,) which axes are locked: those of movement, then those of turns; see `World.add`."""
    locked = np.zeros(6, np.bool_)
    if not isinstance(value, str):
        raise InvalidInput("locked", f"is a {type(value).__name__}, not words such as 'z rxy'")
    for word in value.split():
        axes, first = (word, 0) if not word.startswith("r") else (word[1:], 3)
        if word == "rotation":
            axes = "xyz"
        if not axes or set(axes) - set("xyz"):
            raise InvalidInput(
                "locked", f"has {word!r}: it takes axes such as 'xz', 'rxz' for turns about them, and 'rotation'"
            )
        locked[[first + "xyz".index(axis) for axis in axes]] = True
    return locked


def check_locks(locked: NDArray[np.bool_], velocity: Floats, angular_velocity: Floats) -> None:
    """Refuse velocities (k,3) along axes that are locked, (6,) or (k,6)."""
    for name, value, held in (
        ("velocity", velocity, locked[..., :3]),
        ("angular_velocity", angular_velocity, locked[..., 3:]),
    ):
        wrong = ((value != 0.0) & held).any(axis=-1)
        if wrong.any():
            raise InvalidInput(name, "is not 0 along an axis that is locked", int(np.argmax(wrong)))


def read_parts(shape: ShapesLike) -> list[tuple[Shape, Floats]]:
    """The shapes of a body, each with its pose in the body's frame."""
    if not isinstance(shape, list):
        return [(as_shape(shape), IDENTITY)]
    if not shape:
        raise InvalidInput("shape", "is empty: a body has at least one shape")
    parts: list[tuple[Shape, Floats]] = []
    for item in shape:
        placed: Sequence[Any] = (
            item
            if isinstance(item, tuple) and len(item) == 2 and arrays.shape_of(item[1]) == (4, 4)
            else (item, IDENTITY)
        )
        part = as_shape(cast("ShapeLike", placed[0]))
        if isinstance(part, Soft):
            raise Unsupported("a deformable body as part of another")
        parts.append((part, frozen(own_pose(placed[1], "pose")[0])))
    return parts


def weigh_parts(parts: list[tuple[Shape, Floats]], kind: int, options: dict[str, Any]) -> MassProperties:
    """Mass properties of the whole; of a body that nothing moves only the center matters, and any point will do."""
    density = arrays.positive(options["density"], "density")
    wanted = None if options["mass"] is None else arrays.positive(options["mass"], "mass")
    if kind != DYNAMIC:
        return MassProperties(1.0, np.zeros(3), np.zeros((3, 3)))
    are_open = all(isinstance(shape, Surface) and not shape.is_solid for shape, _ in parts)
    if wanted is not None and are_open:
        weights = [weigh_shell(shape.surface(), density) for shape, _ in parts]
    else:
        weights = [shape.weigh(density) for shape, _ in parts]
    total = combine(weights, [p[:3, :3] for _, p in parts], [p[:3, 3] for _, p in parts])
    if wanted is None:
        return total
    return MassProperties(wanted, total.center, frozen(total.inertia * (wanted / total.mass)))


def invert_inertia(inertia: Floats) -> Floats:
    """(3,3) the inverse, which must be finite: a rod without thickness can be spun about itself by nothing."""
    inverse: Floats = np.full((3, 3), np.inf)
    with contextlib.suppress(np.linalg.LinAlgError), np.errstate(all="ignore"):
        inverse = np.asarray(np.linalg.inv(inertia), np.float64)
    if not np.isfinite(inverse).all():
        raise InvalidInput("shape", "is too thin for its length, or too light, to be moved: its inertia has no inverse")
    return inverse


def check_scale(radius: float, poses: Floats, kind: int) -> None:
    """Refuse bodies that are too large, too small to move, or too far away. radius: how far a body goes from its center."""
    if not radius <= MOST_SCALE:
        raise InvalidInput("shape", f"reaches {radius:.0e} from its center, more than {MOST_SCALE:g}")
    if kind == DYNAMIC and radius < LEAST_SCALE:
        raise InvalidInput(
            "shape", f"reaches {radius:.0e} from its center, less than {LEAST_SCALE:g}: too little to move"
        )
    far = np.abs(poses[:, :3, 3]).max(axis=1, initial=0.0) > MOST_SCALE
    if far.any():
        raise InvalidInput("pose", f"is more than {MOST_SCALE:g} from the origin", int(np.argmax(far)))


def radius_of(shape: Shape, place: Floats, center: Floats) -> float:
    """The farthest that a point of a shape is from the center."""
    vertices: Floats = getattr(shape, "core", shape).vertices  # pyright: ignore[reportAttributeAccessIssue]
    return float(np.linalg.norm(vertices @ place[:3, :3].T + place[:3, 3] - center, axis=1).max()) + shape.radius

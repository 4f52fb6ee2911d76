"""A joint comes into a world: points and axes as its bodies see them. And how joints stand: the same points and axes, where the bodies are now."""

import numpy as np

from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput, Unsupported
from abut.core.jit import kernel
from abut.core.records import Records
from abut.dynamics import rigid_state
from abut.geometry.vec import subtract
from abut.impulses.records import ALONE, BODY
from abut.world.bodies.state import STATE, name_fields
from abut.world.bodies.store import Store, rotations_of
from abut.world.joints.coordinates import DISTANCE, SWING_Y, SWING_Z, TWIST, X, Z, value_of, wrap
from abut.world.joints.definition import Joint
from abut.world.joints.records import JOINT
from abut.world.joints.results import JointStates
from abut.world.joints.rows import frames_of
from abut.world.joints.table import WORLD, Joints

TURNS = ("twist", "swing_y", "swing_z", "cone")


def attach(table: Joints, store: Store, joint: Joint, slots: Integers, shares: Floats) -> int:
    """Take a joint between bodies (2,); shares (2,): where on a bone, NaN for what is none. The handle."""
    is_linked = ~np.isnan(shares)
    if is_linked.any() and any(name in joint.freedoms for name in TURNS):
        raise Unsupported(f"a {joint.kind} joint of a bone or a particle: only points of them can be held")
    if not np.append(store.movable, False)[slots].any():
        raise InvalidInput("joint", "joins two bodies that nothing moves")
    if not joint.freedoms:
        raise InvalidInput("joint", "holds nothing: all its coordinates are free")
    pose = np.eye(4)
    pose[:3, :3] = joint.axes
    frame, record = rigid_state(pose[np.newaxis]).quaternion[0], np.zeros(1, JOINT)
    for k, (side, point) in enumerate((("a", joint.point_a), ("b", joint.point_b))):
        own, turned = point, frame
        if is_linked[k]:
            record[f"share_{side}"], own = shares[k], np.zeros(3)
        elif slots[k] != WORLD:
            own, turned = _see(store, int(slots[k]), point, frame)
        record[f"point_{side}"], record[f"frame_{side}"] = own, turned
    return table.add(joint, slots, record)


def _see(store: Store, slot: int, point: Floats, frame: Floats) -> tuple[Floats, Floats]:
    """A point (3,) and a rotation (4,) of the world, as a body sees them from its center of mass."""
    q = store.quaternion[slot]
    w, v, u = q[0], -q[1:], frame[1:]
    seen = np.concatenate(([w * frame[0] - v @ u], w * u + frame[0] * v + np.cross(v, u)))
    own = rotations_of(q[np.newaxis])[0].T @ (point - store.position[slot])
    return own, seen / np.linalg.norm(seen)


@kernel
def _read_joints(bodies: Records, joints: Records, values: Floats) -> None:
    """values (n,7): translation, rotation, distance."""
    for k in range(len(joints)):
        joint = joints[k]
        p, s, q, t = frames_of(bodies, joint, 0.0)
        apart = subtract(q, p)
        for c in range(X, Z + 1):
            values[k, c] = value_of(c, apart, s, t)
        values[k, 3] = joint.twist + wrap(value_of(TWIST, apart, s, t) - joint.twist)
        values[k, 4] = value_of(SWING_Y, apart, s, t)
        values[k, 5] = value_of(SWING_Z, apart, s, t)
        values[k, 6] = value_of(DISTANCE, apart, s, t)


def read_states(table: Joints, store: Store, which: Integers, points: Floats) -> JointStates:
    """How joints stand. points (n,2,3): of bones and particles, NaN for what is none."""
    bodies, joints = np.zeros(len(store.alive), BODY), np.zeros(len(which), JOINT)
    states = name_fields(store.state)
    for name in STATE.names or ():
        bodies[name] = states[name]
    joints[:] = table.joints[which]
    for k, side in enumerate("ab"):
        linked = ~np.isnan(points[:, k, 0])
        joints[f"body_{side}"] = np.where(linked, ALONE, table.slots[which, k])
        joints[f"point_{side}"][linked] = points[linked, k]
        joints[f"end_{side}"] = ALONE
    values = np.empty((len(which), 7))
    _read_joints(bodies, joints, values)
    handles = np.append(store.handles(np.arange(len(store.alive))), WORLD)[table.slots[which]]
    columns = (
        table.handles[which],
        handles[:, 0].copy(),
        handles[:, 1].copy(),
        values[:, :3].copy(),
        values[:, 3:6].copy(),
        values[:, 6].copy(),
        np.array(table.joints["force"][which]),
        np.array(table.joints["torque"][which]),
        table.broken[which],
    )
    return JointStates(*(frozen(each) for each in columns))  # pyright: ignore[reportArgumentType]


def default_coordinate(joint: Joint) -> str:
    """The coordinate that a joint of one freedom has."""
    own = {"hinge": "twist", "slider": "x", "distance": "distance", "spring": "distance"}
    if joint.kind not in own:
        raise InvalidInput("coordinate", f"is needed for a {joint.kind} joint")
    return own[joint.kind]

"""One description of a world for three engines: abut, pybullet and MuJoCo. Each is set up as its manual says; none is tuned to a test.

abut takes the geometric mean of two frictions and the larger restitution, pybullet products, MuJoCo the larger friction, and for bounces a spring
and a damper; what is asked for here is what a pair has. In pybullet damping is off. A chain of bodies (`Body.parent`) is joints between free
bodies in abut, a multibody in pybullet and a tree of bodies in MuJoCo: the last two have nothing to hold together. `Body.loose` asks pybullet
for constraints between free bodies, as abut has them.
"""

import itertools
import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

import abut
from abut import joints, shapes

ORIGIN = (0.0, 0.0, 0.0)


@dataclass
class Body:
    shape: str
    size: Any
    position: Any = ORIGIN
    rotation: Any = field(default_factory=lambda: np.eye(3))
    mass: float | None = 1.0
    velocity: Any = ORIGIN
    spin: Any = ORIGIN
    friction: float = 0.5
    restitution: float = 0.0
    fast: bool = False
    parent: int | None = None
    """hangs on that body, or on the world for −1, at `anchor` by a hinge about `axis`; without an axis by a ball joint"""
    anchor: Any = None
    axis: Any = None
    loose: bool = False


class Engine(Protocol):
    def step(self) -> None: ...
    def place(self, i: int) -> np.ndarray: ...
    def turn(self, i: int) -> np.ndarray: ...
    def speed(self, i: int) -> np.ndarray: ...
    def spin(self, i: int) -> np.ndarray: ...


def pose_of(body: Body) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = body.rotation, body.position
    return pose


def quaternion(m: np.ndarray) -> np.ndarray:
    """w, x, y, z."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(m).as_quat()[[3, 0, 1, 2]]


class Ours:
    name = "abut"

    def __init__(self, bodies: list[Body], gravity: Any, dt: float, slop: float = 0.001) -> None:
        self.world, self.dt, self.handles = abut.World(gravity, slop=slop, sleeping=False), dt, []
        makers = {"box": shapes.Box, "sphere": shapes.Sphere, "hull": shapes.Polytope}
        for body in bodies:
            options = (
                {}
                if body.mass is None
                else {"mass": body.mass, "velocity": body.velocity, "angular_velocity": body.spin}
            )
            handle = self.world.add(
                makers[body.shape](body.size),
                pose_of(body),
                kind="static" if body.mass is None else "dynamic",
                friction=body.friction,
                restitution=body.restitution,
                rolling=0.0,
                continuous=body.fast,
                **options,
            )
            self.handles.append(handle)
            if body.parent is not None:
                other = None if body.parent < 0 else self.handles[body.parent]
                make = (
                    joints.ball(other, handle, body.anchor)
                    if body.axis is None
                    else joints.hinge(other, handle, body.anchor, body.axis)
                )
                self.world.join(make)

    def step(self) -> None:
        self.world.step(self.dt)

    def place(self, i: int) -> np.ndarray:
        return self.world.poses(self.handles[i])[0, :3, 3]

    def turn(self, i: int) -> np.ndarray:
        return self.world.poses(self.handles[i])[0, :3, :3]

    def speed(self, i: int) -> np.ndarray:
        return self.world.velocities(self.handles[i])[0]

    def spin(self, i: int) -> np.ndarray:
        return self.world.angular_velocities(self.handles[i])[0]


class Bullet:
    name = "pybullet"

    def __init__(self, bodies: list[Body], gravity: Any, dt: float) -> None:
        import pybullet  # pyright: ignore[reportMissingImports]

        self.p, self.where = pybullet, []
        self.c = c = pybullet.connect(pybullet.DIRECT)
        pybullet.setGravity(*gravity, physicsClientId=c)
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=dt, numSolverIterations=50, restitutionVelocityThreshold=0.0, physicsClientId=c
        )
        chain = [i for i, body in enumerate(bodies) if body.parent is not None and not body.loose]
        if chain:
            self._make_chain([bodies[i] for i in chain])
        made = iter([(self.multibody, k) for k in range(len(chain))] if chain else [])
        for i, body in enumerate(bodies):
            self.where.append(next(made) if i in chain else (self._make(body), -1))
            who, link = self.where[-1]
            more = {"activationState": pybullet.ACTIVATION_STATE_DISABLE_SLEEPING} if body.mass is not None else {}
            if body.fast:
                more["ccdSweptSphereRadius"] = 0.5 * float(np.min(body.size))
            pybullet.changeDynamics(
                who,
                link,
                lateralFriction=math.sqrt(body.friction),
                restitution=math.sqrt(body.restitution),
                linearDamping=0.0,
                angularDamping=0.0,
                rollingFriction=0.0,
                spinningFriction=0.0,
                maxJointVelocity=1e9,
                jointDamping=0.0,
                physicsClientId=c,
                **more,
            )
            if body.parent is not None and body.loose:
                other = -1 if body.parent < 0 else self.where[body.parent][0]
                at = np.asarray(body.anchor, float)
                parent = at if other < 0 else at - np.asarray(bodies[body.parent].position)
                mine = at - np.asarray(body.position)
                if other < 0:
                    pybullet.createConstraint(
                        who,
                        -1,
                        -1,
                        -1,
                        pybullet.JOINT_POINT2POINT,
                        [0, 0, 0],
                        mine.tolist(),
                        at.tolist(),
                        physicsClientId=c,
                    )
                else:
                    pybullet.createConstraint(
                        other,
                        -1,
                        who,
                        -1,
                        pybullet.JOINT_POINT2POINT,
                        [0, 0, 0],
                        parent.tolist(),
                        mine.tolist(),
                        physicsClientId=c,
                    )
                    pybullet.setCollisionFilterPair(other, who, -1, -1, 0, physicsClientId=c)

    def _shape(self, body: Body) -> int:
        p = self.p
        if body.shape == "box":
            return p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.5 * e for e in body.size], physicsClientId=self.c)
        if body.shape == "sphere":
            return p.createCollisionShape(p.GEOM_SPHERE, radius=body.size, physicsClientId=self.c)
        return p.createCollisionShape(p.GEOM_MESH, vertices=np.asarray(body.size).tolist(), physicsClientId=self.c)

    def _make(self, body: Body) -> int:
        q = quaternion(body.rotation)[[1, 2, 3, 0]].tolist()
        made = self.p.createMultiBody(
            body.mass or 0.0,
            self._shape(body),
            basePosition=list(map(float, body.position)),
            baseOrientation=q,
            physicsClientId=self.c,
        )
        self.p.resetBaseVelocity(
            made, list(map(float, body.velocity)), list(map(float, body.spin)), physicsClientId=self.c
        )
        return made

    def _make_chain(self, links: list[Body]) -> None:
        """All links are one multibody on a fixed base at the origin; each hangs on the one before."""
        p, before = self.p, np.zeros(3)
        offsets, inertial = [], []
        for link in links:
            anchor = np.asarray(link.anchor, float)
            offsets.append((anchor - before).tolist())
            inertial.append((np.asarray(link.position) - anchor).tolist())
            before = anchor
        kinds = [p.JOINT_SPHERICAL if link.axis is None else p.JOINT_REVOLUTE for link in links]
        self.multibody = p.createMultiBody(
            0,
            -1,
            -1,
            [0, 0, 0],
            linkMasses=[link.mass for link in links],
            linkCollisionShapeIndices=[self._shape(link) for link in links],
            linkVisualShapeIndices=[-1] * len(links),
            linkPositions=offsets,
            linkOrientations=[[0, 0, 0, 1]] * len(links),
            linkInertialFramePositions=inertial,
            linkInertialFrameOrientations=[[0, 0, 0, 1]] * len(links),
            linkParentIndices=list(range(len(links))),
            linkJointTypes=kinds,
            linkJointAxis=[list(link.axis or (0, 0, 1)) for link in links],
            physicsClientId=self.c,
        )
        for k in range(len(links)):
            p.setCollisionFilterGroupMask(self.multibody, k, 0, 0, physicsClientId=self.c)
            if kinds[k] == p.JOINT_REVOLUTE:
                p.setJointMotorControl2(self.multibody, k, p.VELOCITY_CONTROL, force=0, physicsClientId=self.c)

    def step(self) -> None:
        self.p.stepSimulation(physicsClientId=self.c)

    def _state(self, i: int) -> tuple[Any, Any, Any, Any]:
        who, link = self.where[i]
        if link < 0:
            return (
                *self.p.getBasePositionAndOrientation(who, physicsClientId=self.c),
                *self.p.getBaseVelocity(who, physicsClientId=self.c),
            )
        state = self.p.getLinkState(
            who, link, computeLinkVelocity=1, computeForwardKinematics=1, physicsClientId=self.c
        )
        return state[0], state[1], state[6], state[7]

    def place(self, i: int) -> np.ndarray:
        return np.array(self._state(i)[0])

    def turn(self, i: int) -> np.ndarray:
        return np.array(self.p.getMatrixFromQuaternion(self._state(i)[1])).reshape(3, 3)

    def speed(self, i: int) -> np.ndarray:
        return np.array(self._state(i)[2])

    def spin(self, i: int) -> np.ndarray:
        return np.array(self._state(i)[3])


class Mujoco:
    name = "MuJoCo"

    def __init__(self, bodies: list[Body], gravity: Any, dt: float) -> None:
        import mujoco  # pyright: ignore[reportMissingImports]

        self.m = mujoco
        spec = mujoco.MjSpec()
        spec.option.timestep, spec.option.gravity = dt, list(gravity)
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        made: list[Any] = []
        for i, body in enumerate(bodies):
            chained = body.parent is not None
            above = spec.worldbody if not chained or body.parent < 0 else made[body.parent]
            base = np.zeros(3) if above is spec.worldbody else np.asarray(bodies[body.parent].position, float)
            place = (np.asarray(body.position, float) - base).tolist()
            each = above.add_body(name=f"b{i}", pos=place, quat=quaternion(body.rotation).tolist())
            made.append(each)
            if body.shape == "hull":
                mesh = spec.add_mesh(name=f"m{i}")
                mesh.uservert = np.asarray(body.size, float).ravel()
                geom = each.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"m{i}")
            elif body.shape == "box":
                geom = each.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.5 * e for e in body.size])
            else:
                geom = each.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[body.size, 0, 0])
            geom.friction = [body.friction, 0, 0]
            if body.mass is not None:
                geom.mass = body.mass
            if body.restitution > 0.0:
                geom.solref = self._bounce(body.restitution, dt)
            if chained:
                geom.contype = geom.conaffinity = 0
                at = (np.asarray(body.anchor, float) - np.asarray(body.position)).tolist()
                if body.axis is None:
                    each.add_joint(type=mujoco.mjtJoint.mjJNT_BALL, pos=at)
                else:
                    each.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, pos=at, axis=list(body.axis))
            elif body.mass is not None:
                each.add_freejoint()
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.ids = [self.model.body(f"b{i}").id for i in range(len(bodies))]
        for i, body in enumerate(bodies):
            if body.mass is None or body.parent is not None:
                continue
            at = self.model.jnt_dofadr[self.model.body_jntadr[self.ids[i]]]
            self.data.qvel[at : at + 3] = body.velocity
            self.data.qvel[at + 3 : at + 6] = np.asarray(body.rotation).T @ np.asarray(body.spin, float)
        mujoco.mj_forward(self.model, self.data)

    @staticmethod
    def _bounce(e: float, dt: float) -> list[float]:
        """A spring and a damper that give this restitution in a contact of eight steps."""
        omega = math.pi / (8 * dt)
        zeta = -math.log(e) / math.hypot(math.pi, math.log(e))
        return [-(omega**2), -2 * zeta * omega]

    def step(self) -> None:
        self.m.mj_step(self.model, self.data)

    def place(self, i: int) -> np.ndarray:
        return self.data.xipos[self.ids[i]].copy()

    def turn(self, i: int) -> np.ndarray:
        return self.data.xmat[self.ids[i]].reshape(3, 3).copy()

    def _velocity(self, i: int) -> np.ndarray:
        found = np.zeros(6)
        self.m.mj_objectVelocity(self.model, self.data, self.m.mjtObj.mjOBJ_BODY, self.ids[i], found, 0)
        return found

    def speed(self, i: int) -> np.ndarray:
        return self._velocity(i)[3:]

    def spin(self, i: int) -> np.ndarray:
        return self._velocity(i)[:3]


def engines() -> list[Any]:
    """Those that are installed."""
    found: list[Any] = [Ours]
    for name, engine in (("pybullet", Bullet), ("mujoco", Mujoco)):
        try:
            __import__(name)
        except ImportError:
            continue
        found.append(engine)
    return found


def of_scene(scene: Any, friction: float = 0.6) -> list[Body]:
    """The bodies of a scene of `abut.scenes`: boxes, balls and hulls."""
    bodies: list[Body] = []
    world = scene.world
    for handle in scene.bodies.tolist():
        ((shape, _),) = world.shape_of(handle)
        pose = world.poses(handle)[0]
        kind = {"Box": "box", "Sphere": "sphere", "Polytope": "hull"}[type(shape).__name__]
        size = shape.extents if kind == "box" else shape.radius if kind == "sphere" else shape.core.vertices
        mass = None if world._is_static(handle) else float(1.0 / world._store.inverse[world._store.read(handle)[0], 0])
        bodies.append(
            Body(
                kind,
                size,
                pose[:3, 3],
                pose[:3, :3],
                mass,
                world.velocities(handle)[0],
                world.angular_velocities(handle)[0],
                friction,
            )
        )
    return bodies


def run_for(engine: Engine, seconds: float, dt: float) -> None:
    for _ in itertools.repeat(None, round(seconds / dt)):
        engine.step()

"""Random collisions without gravity, one at a time or many in one world, and the sums that they must keep.

Momentum, angular momentum and energy are added up here from public poses, velocities and spins, with masses and inertias of this file's own
(parallel axes by hand); the world has no such sums.
"""

import numpy as np

import abut
from abut import shapes

DT = 1 / 60
APART = 200.0
"""Of the size of what collides: from one collision of a crowd to the next. Nothing flies a tenth as far in the steps that are taken."""
PUSH = 400.0
"""In slops a unit of time: how fast the world pushes apart what begins in each other. Heavy bodies at rest that are pushed, and keep none of it,
add up and take back impulses that are large beside a light striker's."""


def at(x=0.0, y=0.0, z=0.0, turn=None):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    if turn is not None:
        pose[:3, :3] = turn
    return pose


def about(axis, angle):
    """Rodrigues' rotation."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def some_turn(rng):
    return about(rng.normal(size=3), rng.uniform(0, np.pi))


def some_shape(rng, scale):
    """A shape or a list of parts, and whether it may be continuous."""
    size = scale * rng.uniform(0.3, 1.0)
    kind = rng.integers(8)
    if kind == 0:
        return shapes.Sphere(size), True
    if kind == 1:
        return shapes.Capsule(0.5 * size, rng.uniform(0.2, 2) * size), True
    if kind == 2:
        return shapes.Box(size * rng.uniform(0.3, 2.0, 3)), True
    if kind == 3:
        return shapes.Cylinder(size, rng.uniform(0.3, 2) * size, sides=int(rng.integers(3, 25))), True
    if kind == 4:
        return shapes.Polytope(size * rng.normal(size=(rng.integers(5, 20), 3))), True
    if kind == 5:
        return abut.scenes.torus(size, 0.4 * size, 8, 6), False
    if kind == 6:
        return abut.scenes.icosphere(1, size), True
    turn = some_turn(rng)
    return [
        (shapes.Sphere(0.6 * size), at(-size)),
        (shapes.Box((0.5 * size, size, 0.7 * size)), at(size, 0, 0, turn)),
        (shapes.Capsule(0.2 * size, size), at(0, 0, 0, turn)),
    ], True


class Books:
    """Masses and inertias of the bodies of a world, and the sums that must not change."""

    def __init__(self, world):
        self.world, self.handles, self.mass, self.center, self.inertia = world, [], [], [], []

    def add(self, shape, pose, mass, **options):
        parts = shape if isinstance(shape, list) else [(shape, np.eye(4))]
        weights = [(p if isinstance(p, shapes.Shape) else shapes.Surface(p)).weigh(1.0) for p, _ in parts]
        scale = mass / sum(w.mass for w in weights)
        places = [place[:3, :3] @ w.center + place[:3, 3] for (_, place), w in zip(parts, weights, strict=True)]
        middle = sum(scale * w.mass * c for w, c in zip(weights, places, strict=True)) / mass
        total = np.zeros((3, 3))
        for (_, place), w, c in zip(parts, weights, places, strict=True):
            d, turn = c - middle, place[:3, :3]
            total += scale * (turn @ w.inertia @ turn.T + w.mass * (d @ d * np.eye(3) - np.outer(d, d)))
        self.handles.append(self.world.add(shape, pose, mass=mass, **options))
        self.mass.append(mass)
        self.center.append(middle)
        self.inertia.append(total)
        return self.handles[-1]

    def find_middle(self):
        """The center of mass of all."""
        poses = self.world.poses(self.handles)
        places = [m * (p[:3, :3] @ c + p[:3, 3]) for m, p, c in zip(self.mass, poses, self.center, strict=True)]
        return sum(places) / sum(self.mass)

    def sums(self):
        """Momentum, angular momentum, energy; and the sizes of what was added to the first two."""
        poses = self.world.poses(self.handles)
        velocities, spins = self.world.velocities(self.handles), self.world.angular_velocities(self.handles)
        momentum, angular, energy, sizes = np.zeros(3), np.zeros(3), 0.0, np.zeros(2)
        for k, pose in enumerate(poses):
            turn, m, v = pose[:3, :3], self.mass[k], velocities[k]
            place, spin = turn @ self.center[k] + pose[:3, 3], turn @ self.inertia[k] @ turn.T @ spins[k]
            momentum += m * v
            angular += np.cross(place, m * v) + spin
            energy += 0.5 * (m * v @ v + spins[k] @ spin)
            sizes += m * np.linalg.norm(v), np.linalg.norm(place) * m * np.linalg.norm(v) + np.linalg.norm(spin)
        return momentum, angular, energy, sizes


class Collision:
    """One random collision without gravity: what was drawn, whether there was one, and by how much laws were broken, as parts of what they keep.

    simple: of two bodies that are apart, and so slow that each step sees the other before they meet. solid: some rings are thick, and some
    bodies pass through those of one layer; drawn from numbers of their own, beside those that were drawn before there was a choice."""

    def __init__(self, rng, simple=False, solid=True):
        self.extra = rng.spawn(1)[0] if solid else None
        self.rng, self.scale, dt = rng, 10.0 ** rng.uniform(-3, 3), 10.0 ** rng.uniform(-3, -1)
        slop = self.scale * 10.0 ** rng.uniform(-4, -1.7)
        self.world = abut.World((0, 0, 0), substeps=int(rng.integers(1, 13)), sweeps=int(rng.integers(1, 7)), slop=slop)
        self.books = Books(self.world)
        count = 2 if simple else int(rng.choice([2, 2, 2, 3, 5]))
        reach, touching = 2.0 if count == 2 else 3.0, rng.random() < 0.3 and not simple
        self.sleepers = rng.random() < 0.4
        self.speed = self.scale * (0.05 if simple else 10.0 ** rng.uniform(-2, 0.3)) / dt
        for k in range(1, count):
            away = rng.normal(size=3) if k > 1 or count > 2 else np.zeros(3)
            self.add(away * (0.3 if touching else 1.0), *(0.2 * rng.normal(size=(2, 3)) * (not self.sleepers)))
        if self.sleepers:
            run(self.world, 20, 0.1)
        way = rng.normal(size=3)
        way /= np.linalg.norm(way)
        start = 4.0 if simple else rng.uniform(1.0, 2 * reach)
        self.add(-way * start, way + 0.3 * rng.normal(size=3) * (not simple), rng.normal(size=3))
        self.slept = self.world.asleep(self.books.handles).any()
        self.helped, self.needless = False, False
        steps = 100 if simple else int(np.clip(2 * reach * self.scale / (self.speed * dt), 2, 40))
        self.follow(steps, dt, simple)

    def add(self, place, velocity, spin):
        """A body of any shape and options at a place; all in units of the scale and of the speed."""
        rng = self.rng
        shape, convex = some_shape(rng, self.scale)
        options = {"friction": rng.choice([0.0, rng.uniform(0, 1.5)]), "restitution": rng.choice([0, 1, rng.random()])}
        options |= {"rolling": rng.choice([None, 0.0, 0.01 * self.scale]), "layer": int(rng.choice([1, 1, 2, 4]))}
        options |= {"continuous": bool(convex and rng.random() < 0.3)}
        if self.extra is not None:
            solid, passes = self.extra.random(2) < (0.5, 0.1)
            shape = shapes.Surface(shape, thick=True) if solid and not convex else shape
            options |= {"mask": 0b101} if passes else {}
        pose = at(*(self.scale * place), some_turn(rng))
        spin = np.asarray(spin) * self.speed / self.scale
        self.books.add(
            shape, pose, 10.0 ** rng.uniform(-2, 3), velocity=self.speed * velocity, angular_velocity=spin, **options
        )

    def follow(self, steps, dt, asks):
        """Take the steps, and look at the sums after each. asks: also whether the last resort had a reason, a contact deeper than bodies rest."""
        momentum, angular, most, _ = self.books.sums()
        self.broken, self.hit, self.astray = np.zeros(3), False, 0.0
        drifts = not self.world._store.continuous.any()  # a continuous body that stops early is late for the rest
        for _ in range(steps):
            is_deep = asks and self.world.contacts().depth.max(initial=0.0) > 0.5 * self.world.slop
            limited = self.world._motor.limited
            middle = self.books.find_middle()
            self.world.step(dt)
            self.helped = self.helped or self.world._motor.limited > limited
            self.needless = self.needless or (self.world._motor.limited > limited and not is_deep)
            self.hit = self.hit or bool((self.world._motor.memory.impulses["total_normal_impulse"] > 0.0).any())
            new = self.books.sums()
            broken = np.abs(new[0] - momentum).max() / new[3][0], np.abs(new[1] - angular).max() / new[3][1]
            self.broken = np.maximum(self.broken, (*broken, new[2] / most - 1.0))
            most = min(most, new[2])
            if drifts:
                gone = np.abs(self.books.find_middle() - middle - dt * momentum / sum(self.books.mass)).max()
                self.astray = max(self.astray, gone / (dt * new[3][0] / sum(self.books.mass) + np.abs(middle).max()))
        self.world.validate()


def run(world, count, dt=DT):
    for _ in range(count):
        world.step(dt)


class Crowd(Books):
    """Many collisions in one world, each drawn by itself and far from the others, with sums of its own about where it is.

    They share what belongs to the world: scale, step, slop, substeps, sweeps."""

    def __init__(self, rng, count):
        self.rng, self.scale, self.dt = rng, 10.0 ** rng.uniform(-3, 3), 10.0 ** rng.uniform(-3, -1)
        slop = self.scale * 10.0 ** rng.uniform(-4, -1.7)
        super().__init__(
            abut.World((0, 0, 0), substeps=int(rng.integers(1, 13)), sweeps=int(rng.integers(1, 7)), slop=slop)
        )
        side = np.ceil(count ** (1 / 3))
        self.origin = APART * self.scale * np.stack(np.unravel_index(np.arange(count), (int(side),) * 3), axis=1)
        self.begins_deep = np.zeros(count, bool)
        self.group, self.speed = [], self.scale * 10.0 ** rng.uniform(-2, 0.3) / self.dt
        sleeps = rng.random(count) < 0.4
        sizes = rng.choice([2, 2, 2, 3, 5], count)
        for resting in (True, False):  # those that shall sleep come first, and are left alone until they do
            for group in np.flatnonzero(sleeps == resting):
                self.add_targets(int(group), int(sizes[group]), resting)
            if resting:
                run(self.world, 20, 0.1)
        self.slept = np.zeros(count, bool)
        np.logical_or.at(self.slept, np.array(self.group, int), self.world.asleep(self.handles))
        for group in range(count):
            way = rng.normal(size=3)
            way /= np.linalg.norm(way)
            start = rng.uniform(1.0, 4.0 if sizes[group] == 2 else 6.0)
            self.add_some(group, -way * start, way + 0.3 * rng.normal(size=3), rng.normal(size=3))
        self.steps = int(np.clip(6.0 * self.scale / (self.speed * self.dt), 2, 40))
        self.follow(count)

    def add_targets(self, group, size, resting):
        touching = self.rng.random() < 0.3
        self.begins_deep[group] = size > 2
        for k in range(1, size):
            away = self.rng.normal(size=3) if k > 1 or size > 2 else np.zeros(3)
            self.add_some(
                group, away * (0.3 if touching else 1.0), *(0.2 * self.rng.normal(size=(2, 3)) * (not resting))
            )

    def add_some(self, group, place, velocity, spin):
        """A body of any shape and options at a place of a group; in units of the scale and of the speed."""
        rng = self.rng
        shape, convex = some_shape(rng, self.scale)
        if not convex and rng.random() < 0.5:
            shape = shapes.Surface(shape, thick=True)
        options = {
            "friction": rng.choice([0.0, rng.uniform(0, 1.5)]),
            "restitution": rng.choice([0, 1, rng.random()]),
            "rolling": rng.choice([None, 0.0, 0.01 * self.scale]),
            "layer": int(rng.choice([1, 1, 2, 4])),
            "mask": int(rng.choice([0b101, 0b111], p=[0.1, 0.9])),
            "continuous": bool(convex and rng.random() < 0.3),
            "velocity": self.speed * velocity,
            "angular_velocity": np.asarray(spin) * self.speed / self.scale,
        }
        pose = at(*(self.origin[group] + self.scale * place), some_turn(rng))
        self.add(shape, pose, 10.0 ** rng.uniform(-2, 3), **options)
        self.group.append(group)

    def sums_of_groups(self):
        """(g,3) momentum, (g,3) angular momentum about the group's place, (g,) energy, (g,2) the sizes of what was added, (g,3) center of mass."""
        poses, v, w = (
            ask(self.handles) for ask in (self.world.poses, self.world.velocities, self.world.angular_velocities)
        )
        group, m, turn = np.array(self.group), np.array(self.mass)[:, None], poses[:, :3, :3]
        place = np.einsum("nij,nj->ni", turn, np.array(self.center)) + (poses[:, :3, 3] - self.origin[group])
        spin = np.einsum("nij,njk,nlk,nl->ni", turn, np.array(self.inertia), turn, w)
        far = np.linalg.norm(place, axis=1) * m[:, 0] * np.linalg.norm(v, axis=1) + np.linalg.norm(spin, axis=1)
        rows = (
            m * v,
            np.cross(place, m * v) + spin,
            0.5 * (m * v * v + spin * w),
            np.stack((m[:, 0] * np.linalg.norm(v, axis=1), far), axis=1),
            m * place,
        )
        sums = []
        for row in rows:
            total = np.zeros((len(self.origin), row.shape[1]))
            np.add.at(total, group, row)
            sums.append(total)
        mass = np.bincount(group, m[:, 0])[:, None]
        return sums[0], sums[1], sums[2].sum(axis=1), sums[3], sums[4] / mass, mass

    def follow(self, count):
        """Take the steps; by how much each group broke each law at most, and which had a collision."""
        group = np.array(self.group)
        continuous = np.zeros(count, bool)
        slots = self.world._store.read(self.handles)
        np.logical_or.at(continuous, group, self.world._store.continuous[slots])
        momentum, angular, most, _, middle, mass = self.sums_of_groups()
        pushed_out = np.where(self.begins_deep[:, None], mass * PUSH * self.world.slop * [1.0, self.scale], 0.0)
        self.broken, self.hit = np.zeros((4, count)), np.zeros(count, bool)
        owner = np.full(len(self.world._store.alive), -1)
        owner[slots] = group
        for _ in range(self.steps):
            self.world.step(self.dt)
            memory = self.world._motor.memory
            pushed = owner[memory.bodies[memory.impulses["total_normal_impulse"] > 0.0]]
            self.hit[pushed.ravel()] = True
            new = self.sums_of_groups()
            sizes = new[3] + pushed_out
            self.broken[0] = np.maximum(self.broken[0], np.abs(new[0] - momentum).max(axis=1) / sizes[:, 0])
            self.broken[1] = np.maximum(self.broken[1], np.abs(new[1] - angular).max(axis=1) / sizes[:, 1])
            self.broken[2] = np.maximum(self.broken[2], new[2] / most - 1.0)
            gone = np.abs(new[4] - middle - self.dt * momentum / mass).max(axis=1)
            size = self.dt * new[3][:, 0] / mass[:, 0] + self.scale
            # a continuous body that stops early is late for the rest
            self.broken[3] = np.where(continuous, 0.0, np.maximum(self.broken[3], gone / size))
            most, middle = np.minimum(most, new[2]), new[4]
        self.world.validate()

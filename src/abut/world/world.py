"""`World`: many bodies behind one manager. Sweep and prune, closest features, exact triangles, and the motion that follows (Peyré 2001).

A body is one shape or several, with a pose. Dynamic bodies are moved by `step`, kinematic ones by the user (with their velocity the others feel
them move), static ones by nobody. All answers follow from the state alone: two worlds with the same history give the same numbers, and so does
a world that was pickled in between.
"""

import numpy as np

from abut.core import arrays
from abut.core.arrays import Integers
from abut.core.showing import count, describe
from abut.core.types import Number
from abut.dynamics import Linkage
from abut.viewer import Scene
from abut.world.bodies.store import STATIC
from abut.world.films import Film
from abut.world.manager.movement import Movement
from abut.world.manager.population import Population
from abut.world.manager.questions import Questions
from abut.world.phases.attempts import Parts
from abut.world.states import State, deform_back, put_back

NAMES_SHOWN = 4


class World(Population, Movement, Questions):
    """Bodies, their contacts, and their motion.

    Args:
        gravity: (3,) the acceleration of free bodies.
        slop: how deep contacts may stay; also the scale of contact margins, so give it in the units of the scene (0.005 of a body's size does).
        substeps: in how many parts `step` divides its time, at least; more, up to 64, where loads need them.
        sweeps: how often `step` solves each contact in a substep, at least.
        sleeping: whether islands of bodies at rest are left alone until touched.
        filter: which pairs of bodies meet, beside layers and masks; see `World.filter`.

    Examples:
        >>> import numpy as np
        >>> import abut
        >>> from abut import shapes
        >>> world = abut.World()
        >>> floor = world.add(shapes.Box((10, 10, 1)), kind="static")
        >>> pose = np.eye(4)
        >>> pose[2, 3] = 1.0
        >>> ball = world.add(shapes.Sphere(0.3), pose)
        >>> for _ in range(30):
        ...     world.step(1 / 60)
        >>> world, world.contacts()
        (World(2 bodies), WorldContacts(1 point, 1 pair, 1 begun, 0 ended))
        >>> float(world.poses(ball)[0, 2, 3].round(2))  # half a slop deep in the floor
        0.8
        >>> world.ray((0, 0, 5), (0, 0, -1))
        RayHits(1 ray, 1 hit)
    """

    def __repr__(self) -> str:
        asleep, linkages = np.count_nonzero(self.asleep()), len(self.linkages)
        facts = [count(len(self), "body", "bodies")]
        facts += [f"{asleep:,} asleep"] if asleep else []
        facts += [count(linkages, "linkage")] if linkages else []
        shown = list(self._names)[:NAMES_SHOWN]
        more = len(self._names) - len(shown)
        facts += [f"named {' '.join(shown)}" + (f" and {more:,} more" if more else "")] if shown else []
        return describe(self, *facts)

    def _repr_html_(self) -> str:
        from abut.dynamics.picture import spread
        from abut.shapes.picture import MOST_SHAPES, draw_shapes

        chosen = self.handles[spread(len(self), MOST_SHAPES)]
        still = self._store.kind[self._store.read(chosen)] == STATIC
        placed = [
            (shape, pose @ local, bool(is_still))
            for handle, pose, is_still in zip(chosen.tolist(), self.poses(chosen), still, strict=True)
            for shape, local in self.shape_of(handle)
        ]
        drawn = f": {len(chosen)} of them" if len(chosen) < len(self) else ""
        return draw_shapes(repr(self) + drawn, placed)

    def step(self, dt: Number) -> None:
        """Move everything by a time dt: forces, contacts, friction, restitution, linkages, and what must not pass through.

        Args:
            dt: the length of the step, above 0.
        """
        length = arrays.positive(dt, "dt")
        parts = (self._store, self._colliders, self._links, self._joints, self._softs)
        self._motor.step(Parts(*parts, self.gravity, self.slop), length)
        if len(self._joints.broke):
            self._colliders.apart = self._joints.apart
        self._changed()
        self._sense()
        for film in self._films:
            film._add(self, length)

    def link(
        self,
        linkage: Linkage,
        radius: Number | None = None,
        *,
        friction: Number = 0.5,
        layer: int = 1,
        mask: int | None = None,
        continuous: bool = False,
    ) -> Integers:
        """Let a linkage of particles and bones take part; handles (k,) of the bodies that stand for it.

        It moves with `step` under a gravity of its own (`Linkage.gravity`, 0 by default), and collides with bodies both ways. Bones with a joint in
        common never meet. To take it out, `remove` all its handles; to move it, set its position.

        Args:
            linkage: of `abut.dynamics`.
            radius: of its particles, which then collide as balls; by default its bones collide, as capsules of the linkage's radii.
            friction: Coulomb's coefficient.
            layer: bits, as for `add`.
            mask: bits; by default it meets everything but itself, one that is given holds within it too.
            continuous: whether it looks for contacts as far ahead as it moves in a step, for a fast one; then it may be held up by what it only
                passes.
        """
        options = {"friction": friction, "layer": layer, "continuous": continuous}
        return self._links.add(self, linkage, radius, options, mask)

    @property
    def linkages(self) -> tuple[Linkage, ...]:
        """The linkages that take part: those of a world that was pickled are copies."""
        return self._links.linkages

    def record(self) -> Film:
        """Begin a film: a frame now, and one after each step, with the poses of all bodies and their contacts.

        It goes on until `Film.stop`, or the end of a `with` block. What a world does and answers is the same with and without a film.
        """
        film = Film()._begin(self)
        self._films.append(film)
        return film

    def _stop_film(self, film: Film) -> None:
        self._films = [each for each in self._films if each is not film]

    def _scene(self) -> Scene:
        film = Film()
        film._add(self, 0.0)
        return film._scene()

    def save_state(self) -> State:
        """Everything that the next step depends on, to come back to with `restore`.

        Contacts, impulses and sleepers are part of it, and so are deformable and soft bodies and linkages: what follows is the same to the bit.
        """
        return State()._keep(self.__getstate__(), len(self), (*self.linkages, *self._softs.models))

    def restore(self, state: State) -> None:
        """Go back to a state that was saved, of this world or of another one. Handles and names are those of then; films go on.

        Deformable bodies, linkages and the models of soft bodies that the state knows are put back where they were.

        Args:
            state: as `save_state` gave it.
        """
        content, models, soft = arrays.instance(state, "state", State)._open()
        self.__dict__.update(content)
        known = put_back(models)
        self._links.replace(known)
        self._softs.replace(known)
        self._store.follow_versions(self._colliders.find_shapes(deform_back(soft)))
        self._changed()

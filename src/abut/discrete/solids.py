"""`Solid`: what is no mesh and answers for itself, as the shapes of `abut.shapes` do; `collide` and `distance` hand questions on to it."""

from typing import Any

from abut.core.arrays import Floats


class Solid:
    """The base of what is no mesh. `abut.shapes` has all that there are."""

    def _collide(self, a: Any, b: Any, margin: float, first: bool, poses: Floats | None) -> Any:
        """`Contacts` of a and b, of which this is one, at poses (k,4,4) of a, or where it is."""
        raise NotImplementedError

    def _distances(self, a: Any, b: Any, depth: bool, poses: Floats | None) -> Any:
        """A `Distance` each: how far a, at each of poses (k,4,4), or where it is, and b are apart."""
        raise NotImplementedError

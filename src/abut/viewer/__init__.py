"""What moves in space, as a page that opens without a network: `show` anything, or describe a scene of your own.

Whatever has a scene says so by `_scene()`; this part knows triangles, lines, points and times alone.
"""

from abut.viewer.scene import COLOURS, Faces, Lines, Mark, Points, Scene, Thing
from abut.viewer.view import Showable, ShowLike, View, show

__all__ = ["COLOURS", "Faces", "Lines", "Mark", "Points", "Scene", "ShowLike", "Showable", "Thing", "View", "show"]

"""Inside a partition of space: points that move through convex cells, followed exactly (Jund 2010, chapters 2 and 3)."""

from abut.cells.build.construction import channel, hexahedra, mixed, polygons, polyhedra, tetrahedra
from abut.cells.build.filling import from_surface
from abut.cells.build.loading import load
from abut.cells.environment import Environment
from abut.cells.instruments.instrument import Instrument
from abut.cells.map.darts import OUTSIDE, Darts
from abut.cells.map.orbits import Marker, label_orbits, orbit
from abut.cells.mobile.meeting.meetings import Meetings, find_meetings
from abut.cells.mobile.mobile import Mobile
from abut.cells.mobile.results import BodyMoves
from abut.cells.mobile.walls.body_reach import BodyReach
from abut.cells.particles import Particles
from abut.cells.recording import Recording
from abut.cells.settle.reaches import Reach
from abut.cells.walk.results import COLLISION, CONTACT, EDGE, FACE, FREE, VERTEX, VOLUME, Kind, Moves, Status
from abut.cells.width.clearances import Clearance

__all__ = [
    "COLLISION",
    "CONTACT",
    "EDGE",
    "FACE",
    "FREE",
    "OUTSIDE",
    "VERTEX",
    "VOLUME",
    "BodyMoves",
    "BodyReach",
    "Clearance",
    "Darts",
    "Environment",
    "Instrument",
    "Kind",
    "Marker",
    "Meetings",
    "Mobile",
    "Moves",
    "Particles",
    "Reach",
    "Recording",
    "Status",
    "channel",
    "find_meetings",
    "from_surface",
    "hexahedra",
    "label_orbits",
    "load",
    "mixed",
    "orbit",
    "polygons",
    "polyhedra",
    "tetrahedra",
]

"""The main job: every collision of an animation with itself, at its frames and in the steps between them."""

from abut.app.check.arguments import read_bodies
from abut.app.check.bodies import Ensemble
from abut.app.check.frames import Frames
from abut.app.check.job import Progress, Report, check
from abut.app.check.search import Options
from abut.app.check.store import Store

__all__ = ["Ensemble", "Frames", "Options", "Progress", "Report", "Store", "check", "read_bodies"]

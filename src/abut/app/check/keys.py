"""What the results of each frame and step are kept under: a hash of all that they follow from."""

import numpy as np

from abut.app.check.bodies import Ensemble
from abut.app.check.search import Options, Unit
from abut.app.check.store import Store
from abut.app.check.tally import Tally


class Keys:
    """The keys of a job. A frame is hashed once for two units that follow one another."""

    def __init__(self, frames: Ensemble, options: Options) -> None:
        self._frames, self._options = frames, options
        labels = frames.labels
        distances = options.distances(labels)
        parts = (labels.vertex.tobytes(), labels.face.tobytes(), np.isnan(distances).tobytes())
        self._connectivity = Store.key(frames.faces.tobytes(), len(frames.mesh.vertices), *parts)
        self._distances = distances.tobytes()
        self._digests: dict[int, str] = {}

    def of(self, frame: int) -> dict[bool, str]:
        """The keys of what is wanted of a frame: by whether it is of the step that leaves it."""
        keys: dict[bool, str] = {}
        digest = self._digest(frame)
        if self._options.at_frames:
            keys[False] = Store.key("frame", self._connectivity, digest, self._options.containment)
        if self._options.between and frame + 1 < len(self._frames):
            keys[True] = Store.key("step", self._connectivity, digest, self._digest(frame + 1), self._distances)
        return keys

    def _digest(self, frame: int) -> str:
        if frame not in self._digests:
            self._digests = {i: known for i, known in self._digests.items() if abs(i - frame) == 1}
            self._digests[frame] = self._frames.digest(frame)
        return self._digests[frame]


def take_stored(frame: int, keys: dict[bool, str], store: Store) -> tuple[Tally, Unit]:
    """What the store has of a frame, and what is left to compute."""
    tally = Tally.empty()
    missing = {False: False, True: False}
    for step, key in keys.items():
        rows = store.get(key)
        if rows is None:
            missing[step] = True
        else:
            tally = tally.add(Tally.of(rows, frame, reused=1))
    return tally, Unit(frame, missing[False], missing[True])

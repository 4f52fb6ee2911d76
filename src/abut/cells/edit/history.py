"""What has become of cells and parts, so that particles that were last brought up to date some surgeries ago find themselves again.

Numbers of parts are used again, and cells are cut and merged. Each change is noted with the version of the environment in which it happened. Notes
older than everybody who may ask are dropped once there are MANY_NOTES.
"""

MANY_NOTES = 10_000


class History:
    """Notes of surgery, by version."""

    def __init__(self) -> None:
        self._parts: dict[int, list[tuple[int, int]]] = {}
        self._heirs: dict[int, list[tuple[int, int]]] = {}
        self._count = 0
        self._limit = MANY_NOTES
        self.latest = 0
        """The version of the last note."""

    def note_part(self, version: int, part: int, cell: int) -> None:
        """Until this version the part was one of the cell."""
        self._parts.setdefault(part, []).append((version, cell))
        self._count, self.latest = self._count + 1, version

    def note_heir(self, version: int, cell: int, heir: int) -> None:
        """In this version something of a cell became part of another."""
        self._heirs.setdefault(cell, []).append((version, heir))
        self._count, self.latest = self._count + 1, version

    def forget(self, seen: int) -> None:
        """Drop the notes up to the version that all have seen, when there are many."""
        if self._count < self._limit:
            return
        for notes in (self._parts, self._heirs):
            for number in list(notes):
                notes[number] = [note for note in notes[number] if note[0] > seen]
                if not notes[number]:
                    del notes[number]
        self._count = sum(len(kept) for notes in (self._parts, self._heirs) for kept in notes.values())
        self._limit = 2 * self._count + MANY_NOTES

    def cell_of(self, part: int, seen: int) -> int | None:
        """The cell that a part belonged to in version `seen`; None where it still is what it was."""
        return next((cell for version, cell in self._parts.get(part, ()) if version > seen), None)

    def heirs_of(self, cell: int, seen: int) -> list[int]:
        """All cells into which a cell of version `seen` may have gone, itself first."""
        found, done = [cell], 0
        while done < len(found):
            for version, heir in self._heirs.get(found[done], ()):
                if version > seen and heir not in found:
                    found.append(heir)
            done += 1
        return found

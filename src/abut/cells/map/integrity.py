"""Whether a map is one: the invariants of `darts`, each checked on every dart. For tests, and after surgery."""

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import UNUSED, Darts, Indices


def check_integrity(darts: Darts) -> list[str]:
    """What is wrong, a line each with the first dart concerned; empty for a sound map."""
    count = len(darts.phi1)
    tables = {"phi1": darts.phi1, "phi1_inverse": darts.phi1_inverse, "phi2": darts.phi2}
    if darts.dimension == 3:
        tables["phi3"] = darts.phi3
    for name, table in (*tables.items(), ("vertex", darts.vertex), ("cell", darts.cell)):
        if len(table) != count:
            return [f"{name} has {len(table)} darts, phi1 has {count}"]
    for name, table in tables.items():
        if count and (table.min() < 0 or table.max() >= count):
            return [f"{name} leads out of the map"]
    every = np.arange(count, dtype=np.int32)
    unused = darts.cell == UNUSED
    faults: list[str] = []

    def demand(good: NDArray[np.bool_], words: str) -> None:
        good = good | unused
        if not good.all():
            faults.append(f"dart {int(np.argmin(good))}: {words}")

    demand(darts.phi1[darts.phi1_inverse] == every, "phi1 does not undo phi1_inverse")
    demand(darts.phi1_inverse[darts.phi1] == every, "phi1_inverse does not undo phi1")
    demand(darts.phi1 != every, "is a fixed point of phi1")
    demand(darts.cell[darts.phi1] == darts.cell, "its face lies in two cells")
    demand(darts.vertex[darts.phi1] != darts.vertex, "begins and ends at one vertex")
    demand(darts.cell > UNUSED, "has no cell")
    for name, table in tables.items():
        demand(~unused[table], f"{name} leads to an unused dart")
    involutions: list[tuple[str, Indices]] = [("phi2", darts.phi2)]
    if darts.dimension == 3:
        involutions.append(("phi3", darts.phi3))
        both = darts.phi1[darts.phi3]
        demand(both[both] == every, "phi1∘phi3 is not an involution")
        demand(darts.cell[darts.phi2] == darts.cell, "phi2 leads to another cell")
    for name, phi in involutions:
        demand(phi[phi] == every, f"{name} is not an involution")
        demand(phi != every, f"is a fixed point of {name}")
        turned = (darts.vertex[phi] == darts.vertex[darts.phi1]) & (darts.vertex[darts.phi1[phi]] == darts.vertex)
        demand(turned, f"{name} does not turn its edge around")
    return faults

"""What the check of a map finds."""

import pytest

from abut import cells
from abut.cells.map.integrity import check_integrity

FAULTS = {
    "phi1": (0, 5, "phi1 does not undo phi1_inverse"),
    "phi1_inverse": (0, 5, "phi1 does not undo phi1_inverse"),
    "phi2": (0, 0, "is a fixed point of phi2"),
    "phi3": (0, 0, "is a fixed point of phi3"),
    "vertex": (0, 1, "begins and ends at one vertex"),
    "cell": (0, 1, "its face lies in two cells"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_integrity_finds(name):
    darts = cells.channel(2, 1, 1).darts
    assert check_integrity(darts) == []
    dart, value, words = FAULTS[name]
    table = getattr(darts, name).copy()
    table[dart] = darts.vertex[darts.phi1[dart]] if name == "vertex" else value
    faults = check_integrity(darts._replace(**{name: table}))
    assert any(words in fault for fault in faults)
    assert any("leads out" in fault for fault in check_integrity(darts._replace(phi2=darts.phi2 + 1)))
    assert any("has 3 darts" in fault for fault in check_integrity(darts._replace(vertex=darts.vertex[:3])))


def test_integrity_finds_faces_sewn_askew():
    darts = cells.channel(2, 1, 1).darts
    phi3 = darts.phi3.copy()
    face = cells.orbit(darts, 0, cells.FACE)[:2]
    a, b = int(face[0]), int(darts.phi1[face[0]])
    phi3[[a, b]] = phi3[[b, a]]
    phi3[phi3[a]], phi3[phi3[b]] = a, b
    faults = check_integrity(darts._replace(phi3=phi3))
    assert any("turn its edge" in fault for fault in faults)

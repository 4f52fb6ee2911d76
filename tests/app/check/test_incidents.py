"""Incidents against labels that spread from row to row until nothing changes."""

import itertools

import numpy as np
import pytest

from abut import Mesh
from abut.app.check.findings import Contact, Labels
from abut.app.check.incidents import LAPSE, find_incidents
from app.report.sheets import make_findings, make_sheet


def spread(mesh, rows, body_of_row):
    """The incident of each row, by comparing all pairs of rows, and then of pairs, again and again."""
    edges = {frozenset(edge) for edge in mesh.edges.tolist()}
    tables = {
        Contact.VERTEX_FACE: (np.arange(len(mesh.vertices))[:, None], mesh.faces),
        Contact.EDGE_EDGE: (mesh.edges, mesh.edges),
    }
    touched = []
    for kind, a, b in zip(rows.kind.tolist(), rows.a.tolist(), rows.b.tolist(), strict=True):
        first, second = tables.get(Contact(kind), (mesh.faces, mesh.faces))
        touched.append({*first[a].tolist(), *second[b].tolist()})
    label = list(range(len(touched)))
    close = [
        (i, j)
        for i, j in itertools.combinations(range(len(touched)), 2)
        if abs(int(rows.frame[i]) - int(rows.frame[j])) <= LAPSE
        and body_of_row[i] == body_of_row[j]
        and any(v == w or frozenset((v, w)) in edges for v in touched[i] for w in touched[j])
    ]
    changed = True
    while changed:
        changed = False
        for i, j in close:
            if label[i] != label[j]:
                label[i] = label[j] = min(label[i], label[j])
                changed = True
    return label


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bodies", [1, 2])
def test_incidents_are_what_spreads_from_row_to_row(seed, bodies):
    rng = np.random.default_rng(seed)
    vertices, faces = make_sheet()
    mesh = Mesh(vertices, faces)
    limits = {
        Contact.VERTEX_FACE: (len(vertices), len(faces)),
        Contact.EDGE_EDGE: (len(mesh.edges), len(mesh.edges)),
        Contact.FACE_FACE: (len(faces), len(faces)),
        Contact.CONTAINED: (len(faces), len(faces)),
    }
    rows = []
    for _ in range(30):
        kind = Contact(rng.choice(list(limits)))
        a, b = (int(rng.integers(most)) for most in limits[kind])
        frame = int(rng.integers(12))
        at = frame + (0.0 if kind >= Contact.FACE_FACE else float(rng.random()))
        rows.append((frame, kind, a, b, at, float(rng.random())))
    rows = make_findings(sorted(rows))
    vertex = rng.integers(bodies, size=len(vertices))
    labels = Labels(
        ("one", "two")[:bodies],
        vertex,
        rng.integers(bodies, size=len(mesh.edges)),
        rng.integers(bodies, size=len(faces)),
    )
    pairs = [tuple(sorted(pair)) for pair in zip(*labels.of(rows), strict=True)]
    found = find_incidents(mesh, rows, labels)
    expected = spread(mesh, rows, pairs)
    assert {frozenset(np.flatnonzero(found.of_row == k)) for k in range(len(found.start))} == {
        frozenset(np.flatnonzero(np.array(expected) == k)) for k in set(expected)
    }
    assert (np.diff(found.start) >= 0).all()
    for k in range(len(found.start)):
        own = np.flatnonzero(found.of_row == k)
        assert (found.start[k], found.end[k]) == (rows.time[own].min(), rows.time[own].max())
        assert found.counts[k].sum() == len(own)
        kinds = rows.kind[own]
        best = own[kinds < 3] if (kinds < 3).any() else own[kinds == 3] if (kinds == 3).any() else own
        assert rows.depth[found.worst[k]] == rows.depth[best].max()
        assert found.worst[k] in best


def test_numbers_beyond_the_mesh_are_an_incident_of_their_frame():
    vertices, faces = make_sheet()
    rows = make_findings([(3, Contact.FACE_FACE, 900, 901, 3.0, 1.0), (3, Contact.FACE_FACE, 950, 990, 3.0, 2.0)])
    found = find_incidents(Mesh(vertices, faces), rows)
    assert found.of_row.tolist() == [0, 0]
    assert found.worst.tolist() == [1]
    assert not len(find_incidents(Mesh(vertices, faces), make_findings([])).start)

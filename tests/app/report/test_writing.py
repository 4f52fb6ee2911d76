"""What the report page holds: what is packed comes back, what is left out is counted, a file is never half written."""

import base64
import json
import re
import zlib

import numpy as np
import pytest

from abut.app.check.findings import Checked, Contact
from abut.app.report import selection
from abut.core.errors import InvalidInput
from abut.mesh import Mesh
from abut.viewer.packing import STEPS, Packed, extent
from app.report.sheets import HITS, make_checked, make_findings, make_sheet, write


def read_facts(page):
    return json.loads(re.search(r'<script type="application/json" id="facts">(.*?)</script>', page, re.DOTALL)[1])


def read_arrays(page, facts):
    """The inverse of packing, slow and obvious."""
    text = re.search(r'<script type="text/plain" id="packed">(.*?)</script>', page, re.DOTALL)[1]
    raw, arrays = zlib.decompress(base64.b64decode(text)), {}
    for section in facts["sections"]:
        size, rows, columns = section["bytes"], section["rows"], section["columns"]
        count = rows * columns
        planes, raw = raw[: size * count], raw[size * count :]
        values = [sum(planes[p * count + i] << (8 * p) for p in range(size)) for i in range(count)]
        for i in range(columns, count):
            values[i] = (values[i] + values[i - columns]) % 256**size
        arrays[section["name"]] = np.array(values, dtype=np.int64).reshape(rows, columns)
    assert raw == b""
    return arrays


def test_positions_come_back_to_half_a_step(tmp_path):
    checked = make_checked(HITS)
    page = write(tmp_path, checked).read_text(encoding="utf-8")
    facts = read_facts(page)
    arrays = read_arrays(page, facts)
    frames = np.stack(checked.frames)
    low = frames.min(axis=(0, 1))
    steps = arrays["positions"].reshape(4, 3, -1).transpose(0, 2, 1)
    back = low + steps / STEPS * np.array(facts["span"])
    assert np.abs(back - frames).max() <= facts["precision"] * (1 + 1e-9)
    assert facts["precision"] == pytest.approx(2.0 / STEPS / 2)
    assert np.array_equal(arrays["faces"], checked.faces)


def test_packed_arrays_of_every_size_and_none_wrap_around():
    rng = np.random.default_rng(5)
    for dtype in (np.uint8, np.uint16, np.uint32):
        packed = Packed()
        table = rng.integers(0, np.iinfo(dtype).max, (7, 3), dtype=dtype, endpoint=True)
        packed.add("table", table)
        packed.add("nothing", np.empty((0, 3), dtype=dtype))
        page = f'<script type="text/plain" id="packed">{packed.text()}</script>'
        arrays = read_arrays(page, {"sections": packed.sections})
        assert np.array_equal(arrays["table"], table)
        assert arrays["nothing"].shape == (0, 3)


def test_flat_and_far_coordinates_are_quantised_within_the_box():
    points = np.array([[1e150, 7.0, -3.0], [2e150, 7.0, -2.0]])
    box = extent([points])
    assert box.quantise(points).tolist() == [[0, 0, 0], [STEPS, 0, STEPS]]
    assert box.quantise(np.array([[9e150, 9.0, np.nan]])).tolist() == [[STEPS, STEPS, 0]]


def test_faces_of_contacts_are_those_around_both_features():
    vertices, faces = make_sheet()
    mesh, rng = Mesh(vertices, faces), np.random.default_rng(8)
    limits = {
        Contact.VERTEX_FACE: (len(vertices), len(faces)),
        Contact.EDGE_EDGE: (len(mesh.edges), len(mesh.edges)),
        Contact.FACE_FACE: (len(faces), len(faces)),
    }
    rows = [(0, k, rng.integers(limits[k][0]), rng.integers(limits[k][1]), 0.0, 0.0) for k in limits for _ in range(20)]
    found = {
        (int(r), int(f)) for r, f in zip(*selection.faces_of(mesh, make_findings(rows), np.arange(60)), strict=True)
    }
    expected = set()
    tables = {Contact.EDGE_EDGE: mesh.edges, Contact.FACE_FACE: faces}
    for row, (_, kind, a, b, _, _) in enumerate(rows):
        features = ({a}, set(faces[b])) if kind == Contact.VERTEX_FACE else (set(tables[kind][a]), set(tables[kind][b]))
        expected |= {(row, f) for f in range(len(faces)) for part in features if part <= set(faces[f])}
    assert found == expected


def test_a_face_has_the_code_of_its_first_contact_and_a_cut_comes_first(tmp_path):
    face_of_two = (2, Contact.VERTEX_FACE, 40, 60, 2.9, 0.5)
    page = write(tmp_path, make_checked([*HITS, face_of_two, (0, Contact.VERTEX_FACE, 80, 3, 0.5, 0.1)])).read_text()
    facts = read_facts(page)
    arrays = read_arrays(page, facts)
    start = facts["faceStart"]
    assert len(start) == 5
    assert start[1] == start[2]  # frame 1 is clean
    assert start[3] == start[4]
    codes = dict(
        zip(arrays["hitFaces"][start[2] : start[3], 0], arrays["hitCodes"][start[2] : start[3], 0], strict=True)
    )
    assert codes[60] == selection.CUT
    assert codes[127] == selection.CUT
    assert codes[3] == 1
    assert 254 in codes.values()
    assert facts["contactSpan"] == [0.5, 3.0]  # colours have this span
    assert arrays["first"][3, 0] == 0
    assert arrays["first"][60, 0] == round(1.5 / 2.5 * 65534)
    assert (arrays["first"] == 65535).sum() > 0


def test_frames_of_the_deepest_of_both_kinds_are_wanted():
    rows = [(0, Contact.FACE_FACE, 0, 1, 0.0, 100.0 + k) for k in range(40)]
    rows += [(0, Contact.EDGE_EDGE, 0, 1, 0.0, 1.0 * k) for k in range(7)] + [(0, Contact.EDGE_EDGE, 0, 1, 0.0, np.nan)]
    findings = make_findings(rows)
    chosen = selection.worst_rows(findings, 20)
    assert chosen.tolist() == [*range(39, 27, -1), *range(46, 39, -1), 47]
    assert selection.worst_rows(findings, 10).tolist() == [*range(39, 34, -1), *range(46, 41, -1)]
    assert sorted(selection.worst_rows(findings, 100).tolist()) == list(range(48))


def test_kept_frames_are_all_or_those_of_contacts_and_evenly_spread_ones():
    usable = np.ones(100, dtype=np.bool_)
    usable[30] = False
    counts = np.zeros(100, dtype=np.int64)
    counts[[71, 29]] = 5, 90
    none = np.empty(0, dtype=np.int64)
    assert selection.choose_frames(usable, none, counts, 100).tolist() == [k for k in range(100) if k != 30]
    kept = selection.choose_frames(usable, np.array([71]), counts, 12)
    assert len(kept) == 12
    assert {0, 99, 71, 72, 29} <= set(kept.tolist())
    assert 30 not in kept
    assert np.all(np.diff(kept) > 0)
    assert selection.choose_frames(usable, np.array([71]), counts, 2).tolist() == [71, 72]


def test_bad_input_is_named(tmp_path):
    checked = make_checked(HITS)
    with pytest.raises(InvalidInput, match="names: has 1 entries for 4 frames"):
        write(tmp_path, checked._replace(names=["one"]))
    with pytest.raises(InvalidInput, match=r"findings\.frame\[0\]: 9 is not a frame"):
        write(tmp_path, make_checked([(9, 0, 0, 0, 9.0, 0.0)]))
    with pytest.raises(InvalidInput, match=r"findings\.kind\[1\]: 2 is no kind of contact"):
        write(tmp_path, make_checked([HITS[0], (2, 2, 0, 0, 2.0, 0.0)]))
    with pytest.raises(InvalidInput, match="its folder does not exist"):
        write(tmp_path / "nowhere", checked)
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    path = write(tmp_path, make_checked())
    before = path.read_bytes()

    def refuse(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        write(tmp_path, make_checked(HITS))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_page_names_no_address_and_stays_small(tmp_path):
    rng = np.random.default_rng(3)
    side = 70
    u, v = np.meshgrid(np.linspace(0, 1, side), np.linspace(0, 1, side))
    i = np.arange(side * side).reshape(side, side)
    faces = np.stack([i[:-1, :-1], i[1:, :-1], i[1:, 1:]], axis=-1).reshape(-1, 3)
    phase = rng.random(3)
    frames = [
        np.stack([u, v + 0.2 * np.sin(3 * u + t), np.sin(5 * v + 3 * t + phase[0])], axis=-1).reshape(-1, 3)
        for t in np.linspace(0, 1, 60)
    ]
    checked = Checked([str(k) for k in range(60)], faces, frames, make_findings([]), [], 0.0)
    page = write(tmp_path, checked).read_bytes()
    assert len(page) < 2_000_000
    assert not re.search(rb"https?:|//cdn|@import", page)

"""Surgery after deformations leaves walls where they are: volumes add up, and particles stay to the last bit."""

import numpy as np
import pytest

from abut import InvalidInput, cells
from abut.cells.edit import surgery_commit
from abut.cells.space.location import find_cells
from abut.core import jit
from cells.test_campaign import volume
from conftest import SOAK

ROUNDING = 2.0**-48
"""New corners on edges are rounded, by half a unit in the last place."""


def warped(rng, n):
    """All faces bulge, the border's too."""
    env = cells.channel(n, n, n)
    while True:
        try:
            env.deform(env.vertices + rng.uniform(-0.22, 0.22, env.vertices.shape))
        except InvalidInput:
            continue
        return env


def inside(env, rng, count):
    points = rng.uniform(0.1, env.vertices.max(), (count, 3))
    return points[find_cells(env.interior.space, env.interior.located(), points) >= 0]


@pytest.mark.parametrize("slit", [False, True])
def test_a_cut_through_bulging_walls_leaves_them_where_they_are(slit):
    for seed in range(60 if SOAK else 1 if jit.INTERPRETED else 4):
        rng = np.random.default_rng(seed)
        env = warped(rng, 1 + seed % 2)
        crowd = cells.Particles(env, inside(env, rng, 10 if jit.INTERPRETED else 300))
        before, size = crowd.position, volume(env)
        chosen = None if seed % 3 else [0]
        try:
            env.cut(plane=(env.vertices.mean(axis=0), rng.normal(size=3)), cells=chosen, slit=slit)
        except InvalidInput:
            continue
        assert env.check_integrity() == []
        assert env.find_strangers() == []
        assert abs(volume(env) - size) <= ROUNDING * size
        assert not crowd.settle().any()
        assert (crowd.position == before).all()


def test_a_bent_face_is_cut_along_its_bend():
    """A cut in the middle of a warped cube; the halves have the bend of the face as an edge. All new corners are exact."""
    env = cells.channel(2, 1, 1)
    vertices = env.vertices.copy()
    vertices[(vertices == (2, 1, 1)).all(axis=1)] = (2.0, 1.5, 1.25)
    env.deform(vertices)
    size = volume(env)
    env.cut(plane=([1.5, 0.0, 0.0], [1.0, 0.0, 0.0]))
    assert volume(env) == size
    assert env.cell_count == 3


def test_what_surgery_does_not_concern_keeps_its_triangles():
    """The way a face was cut is kept where its cell is made anew, also when the rule would choose another corner by now."""
    rng = np.random.default_rng(1)
    env = warped(rng, 2)

    def triangles():
        space, darts = env.interior.space, env.darts
        faces = space.face[space.face >= 0]
        rings = np.stack((faces, darts.phi1[faces], darts.phi1[darts.phi1[faces]]), axis=1)
        border = darts.cell[darts.phi3[faces]] == cells.OUTSIDE
        return {frozenset(map(tuple, space.vertices[darts.vertex[ring]].tolist())) for ring in rings[border]}

    before, size = triangles(), volume(env)
    stretched = env.vertices * np.array([4.0, 1.0, 0.5])
    env.deform(stretched)
    assert volume(env) == size * 2
    stretched_before = triangles()
    env.unsew(0, 1)
    assert triangles() >= stretched_before
    env.sew(0, 1)
    assert triangles() == stretched_before
    assert len(before) == len(stretched_before)


def test_a_cut_that_is_refused_leaves_all_tables_as_they_were(monkeypatch):
    """New corners come before the centers of cells that are cut, which make room; after a refusal they go back."""

    def refuse(*_):
        raise InvalidInput("hexes", "is refused")

    env = warped(np.random.default_rng(11), 2)
    env.interior.bring_up_to_date()
    rows = env.interior.fabric.vertex_rows
    before = [table.copy() for table in (env.vertices, rows["vertices"], rows["origin"], *env.darts[1:])]
    stars = [env.interior.fabric.stars[row].tolist() for row in range(rows.count)]
    monkeypatch.setattr(surgery_commit, "graft", refuse)
    for normal in ((1, 2, 3), (1, 0, 0)):
        for slit in (False, True):
            with pytest.raises(InvalidInput):
                env.cut(plane=([0.9, 0.9, 0.9], normal), slit=slit)
            after = (env.vertices, rows["vertices"], rows["origin"], *env.darts[1:])
            assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
            assert [env.interior.fabric.stars[row].tolist() for row in range(rows.count)] == stars

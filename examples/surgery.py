"""A soft ball is pushed along a bent tube by a tool: the surgical scene of Meseure 1998, figure 4, without a window.

python examples/surgery.py [--picture surgery.svg]

Each frame deforms the ball, moves the tool, and asks which faces meet and how deep. The run ends in assertions.
The picture shows the faces in contact: yellow on the ball, red on the tube and the tool.
"""

import argparse
from pathlib import Path

import numpy as np

import abut
from abut.mesh.picture import draw_mesh
from abut.papers.grid import Voxels

STEPS = 60
COMPARED = (0, 7, 20, 33, 46, 59)  # frames at which the voxels are asked too
SHOWN = 46
VIEW = np.array([0.1, -1.0, 0.45])
BESIDE = np.array([7.4, 0.0, -3.2])  # where the second view stands
SHORT = 10 * 14 / 27  # ten rings of the tube are shown there
TUBE, ORGAN, BALL, TOOL = (222, 160, 150), (200, 182, 154), (104, 146, 196), (170, 176, 184)
HIT_BALL, HIT_RIGID = (250, 205, 60), (205, 40, 40)


def pairs_of(contacts: abut.Contacts) -> np.ndarray:
    """(n,2) faces of a and b."""
    return np.stack((contacts.face_a, contacts.face_b), axis=1)


def axis_of(points: np.ndarray) -> np.ndarray:
    """(n,3) the points of the tube's axis nearest to some points: a line along x, then an arc about (5, 6, 0)."""
    angle = np.where(points[:, 0] > 5.0, np.arctan2(points[:, 0] - 5.0, 6.0 - points[:, 1]), 0.0)
    x = np.where(points[:, 0] > 5.0, 5.0 + 6.0 * np.sin(angle), points[:, 0])
    return np.stack((x, 6.0 - 6.0 * np.cos(angle), np.zeros(len(points))), axis=1)


def draw(ball: abut.Deformable, tube: abut.Rigid, organ: abut.Rigid, tool: abut.Rigid) -> str:
    """Above, the ball in the tube, of which the near half is left out; below, the other half from inside, without the ball."""
    with_tube, with_tool = abut.collide(ball, tube), abut.collide(ball, tool)
    ball_colors, tube_colors, tool_colors = (
        np.tile(color, (len(body.mesh), 1)) for body, color in ((ball, BALL), (tube, TUBE), (tool, TOOL))
    )
    ball_colors[np.concatenate((with_tube.face_a, with_tool.face_a))] = HIT_BALL
    tube_colors[with_tube.face_b], tool_colors[with_tool.face_b] = HIT_RIGID, HIT_RIGID
    middles = tube.vertices[tube.mesh.faces].mean(axis=1)
    radial = middles - axis_of(middles)
    inner = (tube.mesh.face_normals * radial).sum(axis=1) < 0.0
    turn = np.diag([-1.0, -1.0, 1.0])  # half a turn about z: seen from behind
    half = inner & (radial @ VIEW < 0.0)
    parts = [
        (tube.vertices, tube.mesh.faces[half], tube_colors[half]),
        (ball.vertices, ball.mesh.faces, ball_colors),
        (tool.vertices, tool.mesh.faces, tool_colors),
        (organ.vertices, organ.mesh.faces, np.tile(ORGAN, (len(organ.mesh), 1))),
    ]
    other = inner & (radial @ turn @ VIEW < 0.0) & (middles[:, 0] < SHORT)
    parts.append((tube.vertices @ turn + BESIDE, tube.mesh.faces[other], tube_colors[other]))
    starts = np.cumsum([0] + [len(vertices) for vertices, _, _ in parts])
    faces = [rows + start for (_, rows, _), start in zip(parts, starts, strict=False)]
    mesh = abut.Mesh(np.concatenate([vertices for vertices, _, _ in parts]), np.concatenate(faces))
    return draw_mesh(mesh, np.concatenate([colors for _, _, colors in parts]), towards=VIEW)


def main(picture: Path | None = None) -> None:
    """Run all frames, print a few, and check the answers."""
    scene = abut.scenes.surgical_scene(step_count=STEPS)
    ball, tool = abut.Deformable(scene.ball), abut.Rigid(scene.tool)
    tube, *organs = (abut.Rigid(mesh) for mesh in scene.immobile)
    bodies = [tube, *organs, tool]
    grid = Voxels()
    handles = [grid.add(mesh, immobile=True, group=0) for mesh in scene.immobile] + [grid.add(scene.tool, group=0)]
    soft = grid.add(scene.ball, group=1)

    answers = []
    for step in range(STEPS):
        ball.update(scene.ball_vertices(step))
        tool.pose = scene.tool_pose(step)
        contacts = [abut.collide(ball, body) for body in bodies]
        gap = abut.distance(ball, tool).distance
        answers.append((pairs_of(contacts[0]), pairs_of(contacts[-1]), gap))
        if step % 10 == 0:
            print(
                f"frame {step:2d}: {len(contacts[0]):3d} pairs with the tube, {len(contacts[-1]):2d} with the tool, {gap:+.3f} from it"
            )
        if step in COMPARED:
            grid.update(soft, ball.vertices)
            grid.update(handles[-1], tool.vertices)
            hits = grid.collide()
            for handle, body, found in zip(handles, bodies, contacts, strict=True):
                assert np.array_equal(pairs_of(found), hits[soft, handle])
                back = abut.collide(body, ball)
                assert {(j, i) for i, j in pairs_of(back).tolist()} == set(map(tuple, pairs_of(found).tolist()))
                assert bool(back) == bool(found)
        if step == SHOWN and picture is not None:
            picture.write_text(draw(ball, tube, organs[0], tool), encoding="utf-8")
            print(f"the picture is {picture}")

    assert all(len(with_tube) > 0 for with_tube, _, _ in answers), "the ball is pressed against the wall in every frame"
    for _, with_tool, gap in answers:  # the sign of the distance tells what collide tells
        assert (gap < 0) == (len(with_tool) > 0)
    assert answers[0][2] > 1.0
    assert answers[-1][2] < -0.02
    # The bodies remember nothing: back at the first frame they answer as they did there.
    kept = abut.collide(ball, tube)
    before = pairs_of(kept), kept.point.copy()
    ball.update(scene.ball_vertices(0))
    tool.pose = scene.tool_pose(0)
    assert np.array_equal(pairs_of(abut.collide(ball, tube)), answers[0][0])
    assert np.array_equal(pairs_of(abut.collide(ball, tool)), answers[0][1])
    assert abut.distance(ball, tool).distance == answers[0][2]
    # … and an answer does not change when the bodies do.
    assert np.array_equal(pairs_of(kept), before[0])
    assert np.array_equal(kept.point, before[1])
    print(f"{STEPS} frames, {sum(len(a) + len(b) for a, b, _ in answers):,} pairs of faces, as the voxels found them")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path, help="write an SVG here")
    main(parser.parse_args().picture)

"""Bodies and results in a console and in a notebook."""

import numpy as np

from abut import Deformable, Rigid, collide, distance, scenes

LOW, HIGH = scenes.box(), scenes.box(center=(0.0, 0.0, 0.9))


def test_bodies_name_their_mesh_and_draw_it_where_it_is():
    pose = np.eye(4)
    pose[0, 3] = 1.0
    assert repr(Rigid(LOW, pose)) == "Rigid(Mesh(8 vertices, 12 faces))"
    assert repr(Deformable(LOW)) == "Deformable(Mesh(8 vertices, 12 faces))"
    for body in (Rigid(LOW, pose), Deformable(LOW)):
        assert body._repr_html_().count("<path") == 6


def test_contacts_count_and_show_their_first_rows():
    hits = collide(LOW, HIGH)
    assert repr(hits) == f"Contacts({len(hits)} pairs, 1 of 1 query colliding)"
    assert f"and {len(hits) - 8} more" in hits._repr_html_()
    apart = collide(LOW, scenes.box(center=(0.0, 0.0, 9.0)))
    assert repr(apart) == "Contacts(0 pairs, 0 of 1 query colliding)"
    assert apart._repr_html_().count("<tr>") == 1
    many = collide(LOW, HIGH, poses=np.tile(np.eye(4), (3, 1, 1)), first=True)
    assert repr(many) == "Contacts(3 pairs, 3 of 3 queries colliding)"


def test_a_distance_is_its_number_and_its_faces():
    gap = distance(LOW, scenes.box(center=(0.0, 0.0, 3.25)))
    assert repr(gap) == f"Distance(2.25, face {gap.face_a} of a, face {gap.face_b} of b)"
    assert gap._repr_html_().count("<tr>") == 3

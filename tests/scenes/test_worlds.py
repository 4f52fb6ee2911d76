"""Worlds to let run: what stands in them, and that what is handed out cannot be changed."""

import numpy as np
import pytest

from abut import InvalidInput, scenes


def test_a_pile_names_the_bodies_that_fall_first():
    scene = scenes.pile(7, seed=3)
    assert len(scene.world) == len(scene.bodies) == 7 + 5
    heights = scene.world.poses(scene.bodies)[:, 2, 3]
    assert (heights[:7] >= 0.8).all()
    again, other = scenes.pile(7, seed=3), scenes.pile(7, seed=4)
    assert np.array_equal(scene.world.poses(), again.world.poses())
    assert not np.array_equal(scene.world.poses(), other.world.poses())


def test_linkages_come_with_what_draws_them():
    ((doll, bones_only),) = scenes.rag_doll_on_stairs(2).linkages
    assert bones_only is None
    assert len(doll.bones) > 0
    ((blanket, mesh),) = scenes.cloth_on_terrain(3).linkages
    assert np.array_equal(blanket.position, mesh.vertices)


def test_what_is_handed_out_cannot_be_changed():
    for make in scenes.WORLDS.values():
        with pytest.raises(ValueError, match="read-only"):
            make(3).bodies[0] = 1
    with pytest.raises(TypeError):
        scenes.WORLDS["mine"] = scenes.pile


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: scenes.pile(0), "count"),
        (lambda: scenes.pile(3, seed=-1), "seed"),
        (lambda: scenes.rag_doll_on_stairs(0), "steps"),
        (lambda: scenes.cloth_on_terrain(1), "squares"),
    ],
)
def test_bad_arguments_are_named(make, name):
    with pytest.raises(InvalidInput) as caught:
        make()
    assert caught.value.name == name

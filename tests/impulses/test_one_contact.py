"""One contact of two bodies: momenta stay, it never pulls, friction stays in its circle; in the plane as in space."""

import numpy as np
import pytest

from abut.core.jit import kernel
from abut.core.records import vector
from abut.impulses.one_contact import press, rub
from abut.impulses.records import ALONE, BODY, CONTACT
from abut.impulses.sides import mobility, relative_velocity, sides_of


@kernel
def solve(bodies, contact, speed, firm, give, held, with_friction):
    a, b = sides_of(contact)
    n, t, s = vector(contact.normal), vector(contact.tangent), vector(contact.bitangent)
    contact.normal_mass = 1.0 / (mobility(bodies, a, n) + mobility(bodies, b, n))
    contact.tangent_mass = 1.0 / (mobility(bodies, a, t) + mobility(bodies, b, t))
    contact.bitangent_mass = 1.0 / (mobility(bodies, a, s) + mobility(bodies, b, s))
    press(bodies, contact, a, b, 0, speed, firm, give, held)
    if with_friction:
        rub(bodies, contact, a, b, 0)
    return relative_velocity(bodies, a, b)


def two_bodies(rng):
    """Bodies with their inertias in the world, and a contact between them."""
    bodies, contacts = np.zeros(2, BODY), np.zeros(1, CONTACT)
    bodies["velocity"], bodies["angular_velocity"] = rng.normal(size=(2, 2, 3))
    bodies["inverse_mass"] = rng.uniform(0.2, 5.0, 2)
    for i in range(2):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        bodies["inverse_inertia"][i] = (turn * rng.uniform(0.2, 5.0, 3) @ turn.T).ravel()
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    contact = contacts[0]
    contact.body_b, contact.end_a, contact.end_b = 1, ALONE, ALONE
    contact.normal[:], contact.tangent[:], contact.bitangent[:] = axes
    contact.friction = rng.uniform(0.0, 2.0)
    centers, point = rng.normal(size=(2, 3)), rng.normal(size=3)
    contact.anchor_a[:], contact.anchor_b[:] = point - centers
    return bodies, contact, centers


def momenta(bodies, centers):
    """The momentum and the angular momentum of both."""
    own = bodies["velocity"] / bodies["inverse_mass"][:, np.newaxis]
    turned = [
        np.linalg.solve(w.reshape(3, 3), v)
        for w, v in zip(bodies["inverse_inertia"], bodies["angular_velocity"], strict=True)
    ]
    return np.concatenate((own.sum(axis=0), (np.cross(centers, own) + turned).sum(axis=0)))


@pytest.mark.parametrize("seed", range(20))
def test_impulses_keep_momenta_and_the_cone_of_friction(seed):
    rng = np.random.default_rng(seed)
    bodies, contact, centers = two_bodies(rng)
    before = momenta(bodies, centers)
    v = solve(bodies, contact, 0.0, 1.0, 0.0, 0.0, True)
    assert np.abs(momenta(bodies, centers) - before).max() < 1e-12 * max(1.0, np.abs(before).max())
    assert contact.normal_impulse >= 0.0
    assert (
        np.hypot(contact.tangent_impulse, contact.bitangent_impulse)
        <= contact.friction * contact.normal_impulse + 1e-15
    )
    if contact.normal_impulse == 0.0:
        assert v @ contact.normal >= 0.0


@pytest.mark.parametrize("speed", [0.0, 0.7, -0.3])
@pytest.mark.parametrize("seed", range(5))
def test_a_contact_parts_with_the_speed_that_is_asked_for(seed, speed):
    rng = np.random.default_rng(seed)
    bodies, contact, _ = two_bodies(rng)
    v = np.array(solve(bodies, contact, speed, 1.0, 0.0, 0.0, False))
    if contact.normal_impulse > 0.0:
        assert v @ contact.normal == pytest.approx(speed, abs=1e-12)
    else:
        assert v @ contact.normal >= speed


def test_what_a_contact_bears_beyond_what_is_held_is_taken_back_in_part():
    bodies, contact, _ = two_bodies(np.random.default_rng(0))
    contact.normal_impulse = 5.0
    solve(bodies, contact, -1e9, 0.0, 0.25, 3.0, False)
    assert contact.normal_impulse == pytest.approx(5.0 - 0.25 * (5.0 - 3.0))


def test_work_is_the_energy_that_a_contact_takes():
    bodies, contact, _ = two_bodies(np.random.default_rng(3))

    def energy():
        spins = zip(bodies["inverse_inertia"], bodies["angular_velocity"], strict=True)
        turning = sum(v @ np.linalg.solve(w.reshape(3, 3), v) for w, v in spins)
        return 0.5 * ((bodies["velocity"] ** 2).sum(axis=1) / bodies["inverse_mass"]).sum() + 0.5 * turning

    before = energy()
    solve(bodies, contact, 0.4, 1.0, 0.0, 0.0, False)
    assert contact.normal_impulse > 0.0
    assert before - energy() == pytest.approx(contact.work, rel=1e-12)


def test_bodies_of_the_plane_stay_in_it():
    rng = np.random.default_rng(1)
    bodies, contacts = np.zeros(2, BODY), np.zeros(1, CONTACT)
    bodies["velocity"][:, :2], bodies["angular_velocity"][:, 2] = ((1.0, 0.2), (-1.0, 0.1)), rng.normal(size=2)
    bodies["inverse_mass"], bodies["inverse_inertia"][:, 8] = rng.uniform(0.5, 2.0, (2, 2))
    contact = contacts[0]
    contact.body_b, contact.end_a, contact.end_b, contact.friction = 1, ALONE, ALONE, 0.5
    contact.normal[:], contact.tangent[:], contact.bitangent[:] = (0.6, 0.8, 0.0), (-0.8, 0.6, 0.0), (0.0, 0.0, 1.0)
    contact.anchor_a[:2], contact.anchor_b[:2] = rng.normal(size=(2, 2))
    solve(bodies, contact, 0.0, 1.0, 0.0, 0.0, True)
    assert contact.normal_impulse > 0.0
    assert contact.bitangent_impulse == 0.0
    assert not bodies["velocity"][:, 2].any()
    assert not bodies["angular_velocity"][:, :2].any()

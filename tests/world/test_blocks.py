"""Contacts that are solved eight pairs at a time, against the same contacts one by one: another layout, another code, the same order."""

import numpy as np
import pytest

import abut
from abut import shapes
from abut.core import jit
from abut.world import Material, step
from abut.world.solver.blocks import NOBODY, Bench
from abut.world.solver.packing import pack_busy, unpack

DT = 1 / 60


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def heap(count, seed):
    """Boxes and balls in a bin with all that contacts may have: belts, bounces, locked axes, what the user moves, and what rolls."""
    rng = np.random.default_rng(seed)
    world = abut.World(sleeping=False)
    belt = Material(0.6, surface_velocity=(0.3, 0.1, 0.0))
    world.add(shapes.Box((9, 9, 1)), at(0, 0, -0.5), kind="static", material=belt)
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        world.add(shapes.Box((1 + 2 * abs(y), 1 + 2 * abs(x), 20)), at(1.9 * x, 1.9 * y, 10), kind="static")
    world.add(shapes.Box((0.4, 0.4, 0.2)), at(0, 0, 0.1), kind="kinematic", angular_velocity=(0, 0, 0.5))
    for k in range(count):
        place = at(0.8 * (k % 3 - 1), 0.8 * (k // 3 % 3 - 1), 0.6 + 0.7 * (k // 9))
        place[:3, 3] += rng.uniform(-0.1, 0.1, 3)
        shape = shapes.Sphere(0.3) if k % 2 else shapes.Box(rng.uniform(0.4, 0.6, 3))
        locked = "rz" if k % 7 == 3 else ""
        world.add(shape, place, restitution=0.3 * (k % 5 == 0), friction=rng.uniform(0, 1), locked=locked)
    return world


def motion_of(numbers):
    """What moves of bodies."""
    return {name: numbers[name].copy() for name in ("position", "quaternion", "velocity", "angular_velocity")}


@pytest.mark.parametrize("seed", range(2))
def test_eight_pairs_at_a_time_are_solved_as_one_by_one(seed, monkeypatch):
    count, settled = (9, 4) if jit.INTERPRETED else (40, 120)
    world, compared, solve = heap(count, seed), [], step.solve_step

    def solve_twice(bodies, contacts, blocks, *others):
        """One substep: what closes a gap ends with a gap of 0, and in the next one rounding tells whether it is deep."""
        *rest, settings = others
        island = rest[-2]
        once, found = settings._replace(dt=settings.dt / settings.substeps, substeps=1), []
        check_blocks(bodies, contacts, blocks)
        for particles in (0, len(bodies)):  # 0: nothing may stand beside others
            own, points = bodies.copy(), contacts.copy()
            found.append(
                (own, points, solve(own, points, Bench().lay_out(own, points, island, particles), *rest, once))
            )
        if found[0][2] == found[1][2] == 0:  # else sweeps over impacts end by a tolerance
            compared.append((*found[0][:2], *found[1][:2]))
        return solve(bodies, contacts, blocks, *others)

    for _ in range(settled):
        world.step(DT)
    monkeypatch.setattr(step, "solve_step", solve_twice)
    for _ in range(2 if jit.INTERPRETED else 20):
        world.step(DT)
    assert len(compared) > 2 or jit.INTERPRETED
    for own, points, bodies, contacts in compared:
        for name, value in motion_of(own).items():
            np.testing.assert_allclose(bodies[name], value, rtol=0, atol=1e-9)
        for name in ("normal_impulse", "tangent_impulse", "rolling_impulse", "total_normal_impulse", "separation"):
            np.testing.assert_allclose(contacts[name], points[name], rtol=0, atol=1e-9)
        bounces = contacts["restitution"] > 0.0  # of others nobody asks for the work
        np.testing.assert_allclose(contacts["work"][bounces], points["work"][bounces], rtol=0, atol=1e-9)
        np.testing.assert_array_equal(contacts["has_pushed"], points["has_pushed"])


def check_blocks(bodies, contacts, blocks):
    """No moving body twice in a block; each contact once; the pairs of each body in the order of the contacts."""
    seen, last = [], {}
    for block in blocks.blocks:
        rows = range(block["first"], block["first"] + block["count"])
        mine = [[row] for row in rows] if not block["is_wide"] else [
            [c for c in blocks.lanes["contact"][list(rows), k] if c != NOBODY] for k in range(block["pairs"])
        ]  # fmt: skip
        firsts = []
        for lane in mine:
            seen += lane
            first = contacts[lane[0]]
            firsts += [b for b in {first["body_a"], first["body_b"]} if bodies["inverse_mass"][b] > 0.0]
            for body in (first["body_a"], first["body_b"]):
                if bodies["inverse_mass"][body] > 0.0:
                    assert last.get(body, -1) < lane[0]
                    last[body] = lane[-1]
        if block["is_wide"]:
            assert len(firsts) == len(set(firsts))
    assert sorted(seen) == list(range(len(contacts)))


def test_busy_pairs_are_packed_and_come_back(monkeypatch):
    """Against lists: the pairs of busy bodies, all their fields, in the order in which each body meets them; and what a sweep changes comes back."""
    world, asked, solve = heap(9 if jit.INTERPRETED else 40, 3), [], step.solve_step
    rng = np.random.default_rng(5)

    def pack(bodies, contacts, blocks, *others):
        island, busy = others[-3], np.zeros(len(bodies))
        busy[rng.choice(len(bodies), len(bodies) // 3, replace=False)] = 1.0
        before = [blocks.blocks.copy(), blocks.lanes.copy()]
        pairs, count = pack_busy(bodies, contacts, blocks, island, busy)
        check_packed(blocks, pairs, count, island, busy)
        few = blocks.few_blocks[:count]
        rows = [r for b in few if b["is_wide"] for r in range(b["first"], b["first"] + b["count"])]
        blocks.few_lanes["normal_impulse"][rows] += 1.0
        unpack(blocks, pairs)
        check_returned(blocks, before, island, busy)
        blocks.lanes["normal_impulse"] = before[1]["normal_impulse"]
        asked.append(pairs)
        return solve(bodies, contacts, blocks, *others)

    monkeypatch.setattr(step, "solve_step", pack)
    for _ in range(3 if jit.INTERPRETED else 40):
        world.step(DT)
    assert sum(asked) > 0 or jit.INTERPRETED


def is_busy(block, k, island, busy):
    ends = (block["body_a"][k], block["body_b"][k])
    return any(busy[body] for body in ends) and max(island[body] for body in ends) >= 0


def check_packed(blocks, pairs, count, island, busy):
    wanted = {
        (number, k)
        for number, block in enumerate(blocks.blocks)
        for k in range(block["pairs"])
        if block["is_wide"] and is_busy(block, k, island, busy)
    }
    found, last = set(), {}
    for number, k, at, lane in blocks.places[:pairs].tolist():
        block, few = blocks.blocks[number], blocks.few_blocks[at]
        if not block["is_wide"]:
            continue
        found.add((number, k))
        for name in ("body_a", "body_b", "island"):
            assert few[name][lane] == block[name][k]
        for row in range(block["count"]):
            here, there = blocks.lanes[block["first"] + row], blocks.few_lanes[few["first"] + row]
            for name in ("normal_impulse", "normal", "anchor_a", "load", "approach_speed", "slip"):
                np.testing.assert_array_equal(there[name][..., lane], here[name][..., k])
        for body in (block["body_a"][k], block["body_b"][k]):
            if island[body] >= 0:
                assert last.get(body, -1) < at
                last[body] = at
    assert found == wanted
    assert count >= len(set(blocks.places[:pairs, 2].tolist()))


def check_returned(blocks, before, island, busy):
    """What was packed has come back one larger, all else is as it was."""
    then, lanes = before
    for number, block in enumerate(then):
        for row in range(block["first"], block["first"] + block["count"]) if block["is_wide"] else ():
            for k in range(block["pairs"]):
                more = 1.0 if is_busy(block, k, island, busy) else 0.0
                assert blocks.lanes["normal_impulse"][row, k] == lanes["normal_impulse"][row, k] + more
                assert blocks.lanes["separation"][row, k] == lanes["separation"][row, k]
        np.testing.assert_array_equal(blocks.blocks[number]["body_a"], block["body_a"])

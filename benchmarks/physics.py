"""Does it move as nature does? Tests with a known answer, for abut, pybullet and MuJoCo in one run.

`abut bench bodies` calls it too. Each row is a number that theory gives, and what each engine makes of it; in brackets how far that is off, in parts
of the answer, or of the scale named in the row where the answer is zero. All take the same step: 1/240 s, for structures 1/120.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from scipy.integrate import solve_ivp
from scipy.special import ellipk

from abut.app.bench import load, table
from abut.scenes import arch, card_house, dominoes, pyramid

_engines = load("_engines")
Body, engines, of_scene, run_for = _engines.Body, _engines.engines, _engines.of_scene, _engines.run_for
DT, LONG = 1 / 240, 1 / 120
G = 9.81
DOWN = (0.0, 0.0, -G)
NONE = (0.0, 0.0, 0.0)
GOOD = 0.02
"""What a law may be off by, and what has moved by so many of its bodies' sizes does not stand."""
FLOOR = Body("box", (60.0, 60.0, 1.0), (0, 0, -0.5), mass=None)


class Row(NamedTuple):
    name: str
    answer: float
    scale: float
    """what an error is measured by"""
    measure: Callable[[Any], float]


def tilted(angle: float) -> tuple[float, float, float]:
    return (G * math.sin(angle), 0.0, -G * math.cos(angle))


def floor(**changes: Any) -> Any:
    return Body("box", FLOOR.size, FLOOR.position, mass=None, **changes)


def free_flight(make: Any) -> float:
    engine = make([Body("sphere", 0.1, (0, 0, 0), velocity=(3, 0, 12))], DOWN, DT)
    run_for(engine, 2.0, DT)
    return float(engine.place(0)[2])


def slip_angle(make: Any) -> float:
    low, high = math.radians(20), math.radians(33)
    for _ in range(9):
        angle = 0.5 * (low + high)
        engine = make([floor(friction=0.5), Body("box", (0.5, 0.5, 0.2), (0, 0, 0.1), friction=0.5)], tilted(angle), DT)
        run_for(engine, 1.0, DT)
        low, high = (low, angle) if engine.place(1)[0] > 0.02 else (angle, high)
    return math.degrees(0.5 * (low + high))


def sliding(make: Any) -> float:
    box = Body("box", (0.5, 0.5, 0.1), (0, 0, 0.05), velocity=(4, 0, 0), friction=0.5)
    engine = make([floor(friction=0.5), box], DOWN, DT)
    run_for(engine, 2.0, DT)
    return float(engine.place(1)[0])


def bounce(restitution: float) -> Callable[[Any], float]:
    def measure(make: Any) -> float:
        ball = Body("sphere", 0.1, (0, 0, 1.1), restitution=restitution)
        engine = make([floor(restitution=restitution), ball], DOWN, DT)
        heights = []
        for _ in range(240):
            engine.step()
            heights.append(engine.place(1)[2] - 0.1)
        first = int(np.argmin(heights[:150]))
        return float(max(heights[first:]))

    return measure


def pair(ratio: float) -> Callable[[Any], float]:
    def measure(make: Any) -> float:
        balls = [
            Body("sphere", 0.2, (-0.5, 0, 0), velocity=(1, 0, 0), restitution=1.0, friction=0.0),
            Body("sphere", 0.2, (0.5, 0, 0), mass=ratio, restitution=1.0, friction=0.0),
        ]
        engine = make(balls, NONE, DT)
        run_for(engine, 1.5, DT)
        return float(engine.speed(1)[0])

    return measure


def rolling(make: Any) -> float:
    angle = math.radians(20)
    engine = make([floor(friction=0.8), Body("sphere", 0.2, (0, 0, 0.2), friction=0.8)], tilted(angle), DT)
    run_for(engine, 0.5, DT)
    before = engine.speed(1)[0]
    run_for(engine, 1.0, DT)
    return float(engine.speed(1)[0] - before)


WINGS = (0.3, 1.0, 2.0)
SPIN = (0.01, 5.0, 0.0)


def flip_time(make: Any) -> float:
    """When the second axis first points the other way by more than a right angle."""
    engine = make([Body("box", WINGS, NONE, spin=SPIN)], NONE, DT)
    before = 1.0
    for k in range(240 * 12):
        engine.step()
        now = float(engine.turn(0)[1, 1])
        if now < 0.0:
            return (k + before / (before - now)) * DT
        before = now
    return math.inf


def flip_answer() -> float:
    inertia = (
        np.array([(WINGS[1] ** 2 + WINGS[2] ** 2), (WINGS[0] ** 2 + WINGS[2] ** 2), (WINGS[0] ** 2 + WINGS[1] ** 2)])
        / 12
    )

    def slope(_: float, y: np.ndarray) -> np.ndarray:
        spin, turn = y[:3], y[3:].reshape(3, 3)
        cross = np.array([[0, -spin[2], spin[1]], [spin[2], 0, -spin[0]], [-spin[1], spin[0], 0]])
        return np.concatenate((np.cross(inertia * spin, spin) / inertia, (turn @ cross).ravel()))

    def down(_: float, y: np.ndarray) -> float:
        return y[7]

    down.terminal, down.direction = True, -1  # pyright: ignore[reportFunctionMemberAccess]
    start = np.concatenate((SPIN, np.eye(3).ravel()))
    return float(solve_ivp(slope, (0, 30), start, events=down, rtol=1e-11, atol=1e-12).t_events[0][0])


ROD = (1.0, 0.05, 0.05)


def rods(count: int) -> list[Any]:
    hang = {"axis": (0, 1, 0), "mass": 1.0}
    return [Body("box", ROD, (k + 0.5, 0, 0), parent=k - 1, anchor=(float(k), 0, 0), **hang) for k in range(count)]


def energy(engine: Any, bodies: list[Any]) -> float:
    """Of rods, by their places, turns and velocities."""
    total = 0.0
    for i, body in enumerate(bodies):
        a, b, c = body.size
        inertia = np.array([b * b + c * c, a * a + c * c, a * a + b * b]) * body.mass / 12
        spin = engine.turn(i).T @ engine.spin(i)
        total += (
            0.5 * body.mass * engine.speed(i) @ engine.speed(i)
            + 0.5 * inertia @ spin**2
            + body.mass * G * engine.place(i)[2]
        )
    return float(total)


def period(make: Any) -> float:
    """Of a rod let go from level: from one passage through the bottom to the second next."""
    engine, passed, before = make(rods(1), DOWN, DT), [], 0.5
    for k in range(240 * 8):
        engine.step()
        now = float(engine.place(0)[0])
        if before * now < 0:
            passed.append((k + before / (before - now)) * DT)
        before = now
    return float(passed[2] - passed[0]) if len(passed) > 2 else math.inf


def period_answer() -> float:
    inertia = (ROD[0] ** 2 + ROD[2] ** 2) / 12 + 0.25
    return float(4 * math.sqrt(inertia / (G * 0.5)) * ellipk(math.sin(math.pi / 4) ** 2))


def drift(count: int) -> Callable[[Any], float]:
    """Energy after ten seconds, in parts of that of a fall from level."""

    def measure(make: Any) -> float:
        bodies = rods(count)
        engine = make(bodies, DOWN, DT)
        before, worst = energy(engine, bodies), 0.0
        for k in range(2400):
            engine.step()
            if k % 8 == 0:
                worst = max(worst, abs(energy(engine, bodies) - before))
        return worst / (G * sum(k + 0.5 for k in range(count)))

    return measure


def chain(make: Any) -> float:
    """Of a hundred links, the last a thousand times as heavy, that falls from level: how far the worst joint opens, in links."""
    bodies = [
        Body("sphere", 0.05, (0.2 * k + 0.1, 0, 0), parent=k - 1, anchor=(0.2 * k, 0, 0), loose=True)
        for k in range(100)
    ]
    bodies[-1].mass = 1000.0
    engine = make(bodies, DOWN, LONG)
    worst, half = 0.0, np.array([0.1, 0, 0])
    for k in range(360):
        engine.step()
        if k % 6 == 0:
            ends = [
                (engine.place(i) - engine.turn(i) @ half, engine.place(i) + engine.turn(i) @ half) for i in range(100)
            ]
            worst = max(worst, *(float(np.linalg.norm(ends[i][1] - ends[i + 1][0])) for i in range(99)))
    return worst / 0.2


def stack(count: int) -> Callable[[Any], float]:
    """How far the top box has come after ten seconds."""

    def measure(make: Any) -> float:
        boxes = [Body("box", (0.5, 0.5, 0.5), (0, 0, 0.25 + 0.5 * k)) for k in range(count)]
        engine = make([floor(), *boxes], DOWN, LONG)
        run_for(engine, 10.0, LONG)
        return float(np.linalg.norm(engine.place(count) - boxes[-1].position)) / 0.5

    return measure


def stands(scene: Any, seconds: float, size: float, friction: float = 0.6) -> Callable[[Any], float]:
    """How far the worst body has come."""

    def measure(make: Any) -> float:
        bodies = of_scene(scene, friction)
        engine = make(bodies, DOWN, LONG)
        run_for(engine, seconds, LONG)
        moved = [engine.place(i) - body.position for i, body in enumerate(bodies) if body.mass is not None]
        return float(np.linalg.norm(moved, axis=1).max()) / size

    return measure


def fallen(make: Any) -> float:
    bodies = of_scene(dominoes(30), 0.4)
    engine = make(bodies, DOWN, LONG)
    run_for(engine, 8.0, LONG)
    return float(sum(engine.turn(i)[2, 2] < 0.9 for i, body in enumerate(bodies) if body.mass is not None))


def cradle(make: Any) -> float:
    """Five balls that touch, one comes from the left: the speed with which the last one leaves."""
    balls = [Body("sphere", 0.1, (0.2001 * k, 0, 0), restitution=1.0, friction=0.0) for k in range(5)]
    balls[0] = Body("sphere", 0.1, (-0.3, 0, 0), velocity=(1, 0, 0), restitution=1.0, friction=0.0)
    engine = make(balls, NONE, DT)
    run_for(engine, 1.0, DT)
    return float(engine.speed(4)[0])


def ratio(heavy: float) -> Callable[[Any], float]:
    """A box on a lighter one: how far it has sunk, in heights."""

    def measure(make: Any) -> float:
        boxes = [Body("box", (0.5, 0.5, 0.5), (0, 0, 0.25)), Body("box", (0.5, 0.5, 0.5), (0, 0, 0.75), mass=heavy)]
        engine = make([floor(), *boxes], DOWN, LONG)
        run_for(engine, 5.0, LONG)
        return float(np.linalg.norm(engine.place(2) - boxes[1].position)) / 0.5

    return measure


def bullets(make: Any) -> float:
    """Twenty balls of 2 cm at 100 to 480 m/s, at a sheet of 1 mm: how many are behind it."""
    sheet = Body("box", (0.001, 4.0, 4.0), (0, 0, 0), mass=None)
    balls = [
        Body(
            "sphere",
            0.01,
            (-5.0, 0.15 * (k % 5), 0.15 * (k // 5)),
            velocity=(100 + 20.0 * k, 0, 0),
            mass=0.01,
            fast=True,
        )
        for k in range(20)
    ]
    engine = make([sheet, *balls], NONE, DT)
    run_for(engine, 0.2, DT)
    return float(sum(engine.place(i + 1)[0] > 0 for i in range(20)))


def rows() -> list[Row]:
    angle = math.radians(20)
    return [
        Row("free flight, height after 2 s, m", 12 * 2 - 0.5 * G * 4, 19.62, free_flight),
        Row("slips from, degrees (friction 0.5)", math.degrees(math.atan(0.5)), 26.57, slip_angle),
        Row("slides v²/2μg, m", 16 / (2 * 0.5 * G), 1.63, sliding),
        Row("bounces to e² (e = 0.5), m", 0.25, 0.25, bounce(0.5)),
        Row("bounces to e² (e = 0.8), m", 0.64, 0.64, bounce(0.8)),
        Row("elastic pair 1:1, m/s", 1.0, 1.0, pair(1.0)),
        Row("elastic pair 1:3, m/s", 0.5, 0.5, pair(3.0)),
        Row("rolls at 5/7 g sin θ, m/s²", 5 / 7 * G * math.sin(angle), 2.397, rolling),
        Row("Dzhanibekov, first flip, s", flip_answer(), flip_answer(), flip_time),
        Row("pendulum from level, period, s", period_answer(), period_answer(), period),
        Row("pendulum, energy off in 10 s", 0.0, 1.0, drift(1)),
        Row("double pendulum, energy off in 10 s", 0.0, 1.0, drift(2)),
        Row("100 links and 1,000 at the end, opening, links", 0.0, 1.0, chain),
        Row("stack of 20, moved, boxes", 0.0, 1.0, stack(20)),
        Row("stack of 50, moved, boxes", 0.0, 1.0, stack(50)),
        Row("pyramid of 12 rows, moved, boxes", 0.0, 1.0, stands(pyramid(12), 5.0, 0.5)),
        Row("card house, moved, cards", 0.0, 1.0, stands(card_house(3), 5.0, 1.0, 0.7)),
        Row("arch of 13, moved, stones", 0.0, 1.0, stands(arch(13), 5.0, 0.5, 0.8)),
        Row("dominoes fallen, of 30", 30.0, 30.0, fallen),
        Row("Newton's cradle, last ball, m/s", 1.0, 1.0, cradle),
        Row("1:100 on a box, sunk, boxes", 0.0, 1.0, ratio(100.0)),
        Row("1:1000 on a box, sunk, boxes", 0.0, 1.0, ratio(1000.0)),
        Row("bullets through paper, of 20", 0.0, 20.0, bullets),
    ]


def error(row: Row, value: float) -> float:
    return abs(value - row.answer) / row.scale if math.isfinite(value) else math.inf


def compare(console: Console) -> None:
    makers = engines()
    result = table("as nature has it", "what", "theory", *(make.name for make in makers))
    worst, off = list[str](), list[str]()
    for row in rows():
        errors, cells = list[float](), list[str]()
        for make in makers:
            value = row.measure(make)
            errors.append(error(row, value))
            cells.append(f"{value:.4g} ({100 * errors[-1]:.2g} %)" if math.isfinite(value) else "never")
        result.add_row(row.name, f"{row.answer:.4g}", *cells)
        if len(errors) > 1 and errors[0] > max(errors[1:]) and errors[0] > 1e-6:
            worst.append(row.name)
        if errors[0] > GOOD:
            off.append(row.name)
    console.print(result)
    console.print(
        f"abut is off by more than {100 * GOOD:.0f} % (structures: of a body's size) in: {'; '.join(off) or 'none'}",
        highlight=False,
    )
    console.print(f"abut is the worst of those here in: {'; '.join(worst) or 'none'}", highlight=False)


def run(console: Console) -> None:
    compare(console)

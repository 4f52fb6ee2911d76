"""Models that move freely."""

from abut import dynamics


def step(model, dt, count=1):
    for _ in range(count):
        dynamics.couple(model, None, dt)

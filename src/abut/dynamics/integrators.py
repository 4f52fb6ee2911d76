"""Steps of x″ = a(x, x′): symplectic Euler, velocity Verlet and the classical Runge–Kutta method of fourth order.

Each takes the acceleration as a function of position and velocity, both (n,3), and returns both after a step. For forces that depend on the
position only, Euler and Verlet are symplectic: the energy of a free body oscillates within a bound and does not drift (Hairer, Lubich and Wanner,
Geometric Numerical Integration, §IX.8). Runge–Kutta is more accurate per step and loses energy steadily. All three are unstable where the step
exceeds about 2 / ω, ω being the highest angular frequency of the system.
"""

from collections.abc import Callable

from abut.core.arrays import Floats

Acceleration = Callable[[Floats, Floats], Floats]
Step = Callable[[Acceleration, Floats, Floats, float], tuple[Floats, Floats]]


def symplectic_euler(
    acceleration: Acceleration, position: Floats, velocity: Floats, dt: float
) -> tuple[Floats, Floats]:
    """First order: the new velocity moves the body."""
    velocity = velocity + dt * acceleration(position, velocity)
    return position + dt * velocity, velocity


def velocity_verlet(acceleration: Acceleration, position: Floats, velocity: Floats, dt: float) -> tuple[Floats, Floats]:
    """Second order: half a kick, a drift, half a kick. A force that depends on velocities sees those after the first half."""
    half = velocity + 0.5 * dt * acceleration(position, velocity)
    position = position + dt * half
    return position, half + 0.5 * dt * acceleration(position, half)


def runge_kutta_4(acceleration: Acceleration, position: Floats, velocity: Floats, dt: float) -> tuple[Floats, Floats]:
    """Fourth order, four evaluations: the thesis' choice (Jund 2010, §5.1)."""
    a1 = acceleration(position, velocity)
    v2 = velocity + 0.5 * dt * a1
    a2 = acceleration(position + 0.5 * dt * velocity, v2)
    v3 = velocity + 0.5 * dt * a2
    a3 = acceleration(position + 0.5 * dt * v2, v3)
    v4 = velocity + dt * a3
    a4 = acceleration(position + dt * v3, v4)
    return (
        position + dt / 6.0 * (velocity + 2.0 * v2 + 2.0 * v3 + v4),
        velocity + dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4),
    )


INTEGRATORS: dict[str, Step] = {"euler": symplectic_euler, "verlet": velocity_verlet, "rk4": runge_kutta_4}

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
    """A step of first order: the new velocity moves the body.

    Args:
        acceleration: what gives the acceleration (n,3) at a position and velocity (n,3).
        position, velocity: (n,3) at the beginning of the step.
        dt: the length of the step.

    Returns:
        Position and velocity (n,3) at its end.

    Examples:
        >>> import numpy as np
        >>> from abut.dynamics import symplectic_euler
        >>> x, v = symplectic_euler(lambda x, v: -x, np.array([[1.0, 0.0, 0.0]]), np.zeros((1, 3)), 0.1)
        >>> x.round(6).tolist(), v.round(6).tolist()  # a spring that is let go
        ([[0.99, 0.0, 0.0]], [[-0.1, 0.0, 0.0]])
    """
    velocity = velocity + dt * acceleration(position, velocity)
    return position + dt * velocity, velocity


def velocity_verlet(acceleration: Acceleration, position: Floats, velocity: Floats, dt: float) -> tuple[Floats, Floats]:
    """A step of second order: half a kick, a drift, half a kick. A force that depends on velocities sees those after the first half.

    Args:
        acceleration: what gives the acceleration (n,3) at a position and velocity (n,3).
        position, velocity: (n,3) at the beginning of the step.
        dt: the length of the step.

    Returns:
        Position and velocity (n,3) at its end.

    Examples:
        >>> import numpy as np
        >>> from abut.dynamics import velocity_verlet
        >>> x, v = np.array([[1.0, 0.0, 0.0]]), np.zeros((1, 3))
        >>> for _ in range(63):  # once round, in 63 steps: 2π is 62.8 of them
        ...     x, v = velocity_verlet(lambda x, v: -x, x, v, 0.1)
        >>> x.round(3).tolist()
        [[1.0, 0.0, 0.0]]
    """
    half = velocity + 0.5 * dt * acceleration(position, velocity)
    position = position + dt * half
    return position, half + 0.5 * dt * acceleration(position, half)


def runge_kutta_4(acceleration: Acceleration, position: Floats, velocity: Floats, dt: float) -> tuple[Floats, Floats]:
    """A step of fourth order, with four evaluations: the thesis' choice (Jund 2010, §5.1).

    Args:
        acceleration: what gives the acceleration (n,3) at a position and velocity (n,3).
        position, velocity: (n,3) at the beginning of the step.
        dt: the length of the step.

    Returns:
        Position and velocity (n,3) at its end.

    Examples:
        >>> import numpy as np
        >>> from abut.dynamics import runge_kutta_4
        >>> x, v = runge_kutta_4(lambda x, v: -x, np.array([[1.0, 0.0, 0.0]]), np.zeros((1, 3)), 0.5)
        >>> float(abs(x[0, 0] - np.cos(0.5)).round(6))  # the path of a spring is a cosine
        2.2e-05
    """
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

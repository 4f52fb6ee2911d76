"""What springs pull: the accelerations of all particles.

On one thread each spring is looked at once, and pulls both its ends. On several, each particle gathers its own springs in their order: both ends
then compute the same bits with opposite signs, so results do not depend on threads.
"""

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel, parallel, prange
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import Vec3, add_scaled, dot, norm, subtract

CHUNK = 1024


@element
def pull_of_spring(d: Vec3, relative: Vec3, rest: float, stiffness: float, damping: float) -> float:
    """The force on an end, as a part of d, its place from the other end; `relative` is its velocity from there."""
    length = norm(d)
    if length == 0.0:
        return 0.0
    return (stiffness * (rest - length) - damping * (dot(relative, d) / length)) / length


@kernel
def accelerate(
    position: Floats,
    velocity: Floats,
    springs: Integers,
    constants: Floats,
    inverse_mass: Floats,
    outer: Floats,
    result: Floats,
) -> None:
    """Accelerations of all particles by their springs, added to those of `outer`."""
    for i in range(len(position)):
        put_vector(result, i, 0, (0.0, 0.0, 0.0))
    for s in range(len(springs)):
        i, j = springs[s, 0], springs[s, 1]
        d = subtract(vector_at(position, i), vector_at(position, j))
        relative = subtract(vector_at(velocity, i), vector_at(velocity, j))
        pull = pull_of_spring(d, relative, constants[s, 0], constants[s, 1], constants[s, 2])
        put_vector(result, i, 0, add_scaled(vector_at(result, i), d, pull))
        put_vector(result, j, 0, add_scaled(vector_at(result, j), d, -pull))
    for i in range(len(position)):
        put_vector(result, i, 0, add_scaled(vector_at(outer, i), vector_at(result, i), inverse_mass[i]))


@kernel
def accelerate_rows(
    first: int,
    last: int,
    position: Floats,
    velocity: Floats,
    offsets: Integers,
    others: Integers,
    constants: Floats,
    inverse_mass: Floats,
    outer: Floats,
    result: Floats,
) -> None:
    """The same for particles first to last − 1, each from its own springs: constants (2k,3) go from particle to particle."""
    for i in range(first, last):
        x, v = vector_at(position, i), vector_at(velocity, i)
        force = (0.0, 0.0, 0.0)
        for slot in range(offsets[i], offsets[i + 1]):
            j = others[slot]
            d = subtract(x, vector_at(position, j))
            relative = subtract(v, vector_at(velocity, j))
            pull = pull_of_spring(d, relative, constants[slot, 0], constants[slot, 1], constants[slot, 2])
            force = add_scaled(force, d, pull)
        put_vector(result, i, 0, add_scaled(vector_at(outer, i), force, inverse_mass[i]))


@parallel
def accelerate_chunks(
    position: Floats,
    velocity: Floats,
    offsets: Integers,
    others: Integers,
    constants: Floats,
    inverse_mass: Floats,
    outer: Floats,
    result: Floats,
) -> None:
    """Accelerations of all particles, on all threads."""
    total = len(position)
    for chunk in prange((total + CHUNK - 1) // CHUNK):
        accelerate_rows(
            chunk * CHUNK,
            min(total, (chunk + 1) * CHUNK),
            position,
            velocity,
            offsets,
            others,
            constants,
            inverse_mass,
            outer,
            result,
        )

"""What impulses act on and between: a record for each body and each contact, as Box2D names them (Catto 2005).

What a sweep reads stands first in a record. Particles of linkages and of soft bodies are bodies that do not turn; bodies of the plane move along x
and y, and turn about z.
"""

from abut.core.records import record

ALONE = -1

BODY = record(
    ("velocity", "f8", 3),
    ("angular_velocity", "f8", 3),
    ("inverse_mass", "f8"),
    ("inverse_inertia", "f8", 9),  # in the world
    ("position", "f8", 3),
    ("quaternion", "f8", 4),
    ("acceleration", "f8", 3),  # gravity, and what else pulls
    ("time", "f8"),  # the part of the step that passes for it
    ("inertia", "f8", (3, 3)),  # in its own frame
    ("own_inverse_inertia", "f8", 9),
    ("displacement", "f8", 3),  # of the last substep
    ("rotation", "f8", 3),
    ("kept_velocity", "f8", 3),  # before a pass of which a part may be taken back
    ("kept_angular_velocity", "f8", 3),
    ("is_free", "?"),  # touched by nothing
    ("is_locked", "?"),  # along some axes, or about some
    ("is_driven", "?"),  # by a torque, or damped
    ("locked", "f8", 6),  # 1: it does not move along x, y, z, or does not turn about them
    ("torque", "f8", 3),
    ("damping", "f8", 2),  # rates at which its momentum and its angular momentum fade
    ("lag", "f8", 3),  # its velocity at the end of a substep in free flight, less the mean
    ("spin_lag", "f8", 3),  # the same of its angular momentum
)

CONTACT = record(
    ("body_a", "i8"),  # or the first particle of a bone
    ("body_b", "i8"),
    ("end_a", "i8"),  # its second particle, or ALONE
    ("end_b", "i8"),
    ("normal", "f8", 3),  # from a to b
    ("tangent", "f8", 3),
    ("bitangent", "f8", 3),
    ("anchor_a", "f8", 3),  # from the centers of mass to one point
    ("anchor_b", "f8", 3),
    ("separation", "f8"),  # from the depth at which bodies rest
    ("normal_mass", "f8"),
    ("tangent_mass", "f8"),
    ("bitangent_mass", "f8"),
    ("friction", "f8"),
    ("rolling_lever", "f8"),  # at which the normal force holds what rolls; 0: it does not
    ("normal_impulse", "f8"),  # of the substep
    ("tangent_impulse", "f8"),
    ("bitangent_impulse", "f8"),
    ("load", "f8"),  # the normal impulse that the substep started from
    ("work", "f8"),  # that the contact took in the step
    ("standing", "i8"),  # the side that the other presses against the ground: −1 a, 1 b, 0 none
    ("rolling_impulse", "f8", 3),
    ("rolling_mass", "f8"),
    ("restitution", "f8"),
    ("approach_speed", "f8"),  # at which it is hit
    ("parting_speed", "f8"),  # that it shall have after a bounce
    ("bounce_impulse", "f8"),
    ("total_normal_impulse", "f8"),  # of the step
    ("last_impulse", "f8"),  # of the substep before
    ("borne_impulse", "f8"),  # of a substep, from the step before
    ("pushed_impulse", "f8"),  # with the push out of a depth
    ("share_a", "f8"),  # where on a bone the contact is: 0 at its first particle, 1 at the second
    ("share_b", "f8"),
    ("third_a", "i8"),  # the third corner of a face of a soft body, of which the first two are body and end; or ALONE
    ("third_b", "i8"),
    ("part_a", "f8"),  # of an impulse that the third corner gets; the second gets the share, the first the rest
    ("part_b", "f8"),
    ("lead", "f8"),  # the side that the point follows: 0 a, 1 b, or between
    ("radius_a", "f8"),  # of a ball, else 0
    ("radius_b", "f8"),
    ("slip", "f8", 3),  # how the surface of b moves on its body, less that of a
    ("center_a", "f8", 3),  # of a ball, from the center of mass
    ("center_b", "f8", 3),
    ("is_cold", "?"),  # starts from no impulses
    ("has_pushed", "?"),  # in the step, even if it took back all of it
    ("yields", "?"),  # to what a joint holds in its way
)

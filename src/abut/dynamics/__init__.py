"""How bodies move: rigid bodies, springs, shape matching, Verlet with relaxation, and the loop that couples them to contact."""

from abut.dynamics.rigid import MassProperties, RigidState, advance, mass_properties, rigid_state

__all__ = ["MassProperties", "RigidState", "advance", "mass_properties", "rigid_state"]

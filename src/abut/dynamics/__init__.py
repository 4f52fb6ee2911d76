"""How bodies move: rigid bodies, springs, shape matching, Verlet with relaxation, and the loop that couples them to contact."""

from abut.dynamics.builders import RAG_DOLL_PARTS, cloth, rag_doll, rope
from abut.dynamics.coupling import Model, couple
from abut.dynamics.integrators import runge_kutta_4, symplectic_euler, velocity_verlet
from abut.dynamics.linkage import AngleLimits, Linkage
from abut.dynamics.matching import ShapeMatching
from abut.dynamics.meeting import BodyImpacts, find_impacts
from abut.dynamics.particles import ParticleModel
from abut.dynamics.rigid import MassProperties, RigidState, advance, mass_properties, rigid_state
from abut.dynamics.springs import MassSpring, bending_pairs

__all__ = [
    "RAG_DOLL_PARTS",
    "AngleLimits",
    "BodyImpacts",
    "Linkage",
    "MassProperties",
    "MassSpring",
    "Model",
    "ParticleModel",
    "RigidState",
    "ShapeMatching",
    "advance",
    "bending_pairs",
    "cloth",
    "couple",
    "find_impacts",
    "mass_properties",
    "rag_doll",
    "rigid_state",
    "rope",
    "runge_kutta_4",
    "symplectic_euler",
    "velocity_verlet",
]

"""How bodies move: rigid bodies, springs, shape matching, Verlet with relaxation, and the loop that couples them to contact."""

from abut.dynamics.builders import RAG_DOLL_PARTS, cloth, rag_doll, rope, tissue
from abut.dynamics.contact_history import ContactHistory, ContactKind
from abut.dynamics.coupling import Model, couple
from abut.dynamics.impacts import BodyImpacts, find_impacts
from abut.dynamics.integrators import runge_kutta_4, symplectic_euler, velocity_verlet
from abut.dynamics.linkage import AngleLimits, Linkage
from abut.dynamics.particles import ParticleModel
from abut.dynamics.rigid_bodies import MassProperties, RigidState, advance, mass_properties, rigid_state
from abut.dynamics.rigid_tool import RigidTool
from abut.dynamics.several.together import JointMoves, move_together
from abut.dynamics.shape_matching import ShapeMatching
from abut.dynamics.springs.bending import bending_pairs
from abut.dynamics.springs.mass_spring import MassSpring
from abut.dynamics.tool_impulses import WallPoints

__all__ = [
    "RAG_DOLL_PARTS",
    "AngleLimits",
    "BodyImpacts",
    "ContactHistory",
    "ContactKind",
    "JointMoves",
    "Linkage",
    "MassProperties",
    "MassSpring",
    "Model",
    "ParticleModel",
    "RigidState",
    "RigidTool",
    "ShapeMatching",
    "WallPoints",
    "advance",
    "bending_pairs",
    "cloth",
    "couple",
    "find_impacts",
    "mass_properties",
    "move_together",
    "rag_doll",
    "rigid_state",
    "rope",
    "runge_kutta_4",
    "symplectic_euler",
    "tissue",
    "velocity_verlet",
]

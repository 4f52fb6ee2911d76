"""Soft bodies: models of particles (`abut.dynamics`) whose surfaces are bodies of a world (Meseure 1998)."""

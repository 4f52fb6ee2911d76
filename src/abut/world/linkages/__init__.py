"""Linkages of particles and bones (`abut.dynamics`) in a world."""

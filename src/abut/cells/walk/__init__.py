"""Particles that follow straight paths: by planes, by darts, and where they stop."""

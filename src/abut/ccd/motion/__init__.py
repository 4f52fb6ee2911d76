"""How bodies move during a step: the paths of their vertices, motions, and what of them is a surface."""

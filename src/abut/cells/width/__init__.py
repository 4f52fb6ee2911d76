"""Mobiles with a width: vertices as balls, edges as capsules, faces with thickness, and the walls that are nearer to them than a radius."""

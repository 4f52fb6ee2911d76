"""Particles on edges that hit something, and the response that puts them there (Jund 2010, §4.2.1, §5.3)."""

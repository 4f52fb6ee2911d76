"""Cells are cut by planes and along corners, opened and sewn."""

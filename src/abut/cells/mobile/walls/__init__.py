"""Walls that move into a mobile: which of its edges and faces they come through, and where these go."""

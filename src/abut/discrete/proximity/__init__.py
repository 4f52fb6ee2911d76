"""Features of one surface, or of two, that are near each other: vertices and faces, edges and edges."""

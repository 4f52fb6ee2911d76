"""The combinatorial map: darts, orbits, integrity, sewing, and tables that grow."""

"""Slow and obvious answers, which share no code with what they check: `from oracles import bodies`.

`rationals` points, segments and triangles in exact arithmetic · `mesh` adjacency by dictionaries · `bodies` brute force over pairs of faces ·
`distance` closest points in many digits · `ccd` polynomials in integers · `start` contact before a step · `contours` bundles of curves.
Oracles of one part alone (`cells`, `contours`, `shapes`) stand beside its tests.
"""

"""What stands in which column of the rows that the kernels of this part write: the first column of each field."""

POINT, NORMAL, SEPARATION = 0, 3, 6
CONTACT_NUMBERS = 7
"""Of a contact: a point midway between the two surfaces, the normal from a to b, and how far they are apart there, negative where they overlap."""

FACE_A, FACE_B, FEATURE, COLLIDER_A, COLLIDER_B = range(5)
CONTACT_IDS = 5
"""Of a contact: faces of a surface or polytope, −1 elsewhere; the features that touch (`clipping`, `manifold`); and the colliders."""

GAP, GAP_NORMAL, GAP_POINT = 0, 1, 4
GAP_NUMBERS = 7
"""Of what is nearest: signed distance, the normal towards it, and its nearest point."""

TRACKED, TRACKED_NORMAL, TRACKED_A, TRACKED_B = 0, 1, 4, 7
TRACKED_NUMBERS = 10
"""Of two hulls whose closest features were tracked: distance, normal, and a point of each; all in the world."""

OFFSET = 3
"""Of a plane n·x = d: d, behind n."""

START, END, LEFT, RIGHT = range(4)
"""Of an edge of a core: two vertices, and the faces on both sides of the direction from the first to the second, −1 for none."""

CHILD, FIRST, LAST = range(3)
"""Of a node of a surface's tree: the first of two children, or 0; the first triangle, and one beyond the last."""

HIT_COLLIDER, HIT_FACE = 0, 1
HIT_DISTANCE, HIT_NORMAL = 0, 1
"""Of a ray: what it meets first, in whole numbers, and where, in floats."""

FACETED, CYLINDRICAL, CONICAL, HALF_SPACE = range(4)
"""What a core is: itself, or a bound of something round, or nothing of a half-space."""

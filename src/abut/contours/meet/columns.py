"""What the columns mean of the rows in which kernels hand on stretches, contacts and distances, and answer a query."""

BEGIN_A, END_A, BEGIN_B, END_B = range(4)
"""Of a stretch and of a contact: the parameters of a where it begins and ends, and those of b there."""

CERTAIN, PLACE_A, PLACE_B, FURTHEST = range(4, 8)
"""Of a stretch: 1 for a certain crossing; the parameters of its place, or −1; and how far this stretch and those before it reach on a, so that rows
before one that ends too early need no look."""
STRETCH_COLUMNS = 8

POINT_X, POINT_Y, NORMAL_X, NORMAL_Y, KIND = range(4, 9)
"""Of a contact: its middle, the unit normal from a to b, and its kind."""
CONTACT_COLUMNS = 9

DISTANCE, NEAREST_A, NEAREST_B, WITNESS_AX, WITNESS_AY, WITNESS_BX, WITNESS_BY, DISTANCE_BOXES, DISTANCE_SEGMENTS = (
    range(9)
)
"""Of a distance: the least one, the parameters where it is taken, the points there, and the boxes and segments compared."""
DISTANCE_COLUMNS = 9

RELATION, CONTACTS, STRETCHES, BOXES, SEGMENTS, PLACES = range(6)
"""Of the numbers of a query: relation, contacts, stretches; boxes, segments and places compared."""
NUMBER_COLUMNS = 6

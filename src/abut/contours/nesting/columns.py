"""What the columns mean of the rows in which the search keeps boxes, intervals, stops and places."""

LOW_X, LOW_Y, HIGH_X, HIGH_Y = range(4)
"""Of a box, and of the extents of a kind at a turn."""

ENTER, LEAVE, WEIGHT = range(3)
"""Of an interval of a line on which two parts overlap: where it begins and ends, and how much the overlap counts."""

BOUND, AT = range(2)
"""Of a place on a line where a piece could stop: an upper bound on its overlap there, and where it is."""

LOSS, X, Y, TURN = range(4)
"""Of a place that is kept: the overlap, where it is, and the number of the turn."""

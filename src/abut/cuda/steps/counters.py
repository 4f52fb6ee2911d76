"""The counters of a step, int64, one row for all kernels; each stage counts on where its row of results is full, and the host makes more room."""

from abut.cuda.steps.sets import MOST_SEARCHES

TILE_PAIRS = 0
"""Pairs of tiles found, a counter for each search; likewise those that follow."""
TAKEN = MOST_SEARCHES
"""Pairs of tiles that warps have taken."""
SURVIVORS = 2 * MOST_SEARCHES
"""Pairs of features that no axis keeps apart, or that are candidates."""
COPLANAR = 3 * MOST_SEARCHES
"""Those of them that may lie in one plane at some time."""
HITS = 4 * MOST_SEARCHES
"""Those that meet."""
UNDECIDED = 5 * MOST_SEARCHES
"""Those that floating point leaves to integers."""
BAD_ROW = 6 * MOST_SEARCHES
"""The first row of vertices at t = 0 with a number that is not finite or too large, and at t = 1."""
COUNTERS = 6 * MOST_SEARCHES + 2
NO_ROW = 1 << 62

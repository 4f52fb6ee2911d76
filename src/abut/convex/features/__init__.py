"""Features of two hulls: the walk to the closest ones, what proves them, and all of them tried."""

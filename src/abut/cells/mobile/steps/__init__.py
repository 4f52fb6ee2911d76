"""One vertex after another moves: in which order, what is tested, and how the answer travels."""

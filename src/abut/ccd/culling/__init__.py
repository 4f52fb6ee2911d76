"""Which pairs of features may meet: the search of their swept volumes, a chunk at a time, and the filters that rule pairs out."""

"""The pairs that floating point leaves undecided, in integers of any size."""

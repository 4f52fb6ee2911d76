"""When two features first meet, and where: one pair in floating point, then in integers (`exact`), then many pairs on all threads."""

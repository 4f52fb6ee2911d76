"""Bodies that must not pass through anything within a step."""

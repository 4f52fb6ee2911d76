"""Exit codes of the command `abut`, for scripts. 1 only ever means collisions: what Python would end with 1 for ends with 3."""

CLEAN, COLLISIONS, BAD_INPUT, UNFINISHED = 0, 1, 2, 3
INTERRUPTED, TERMINATED = 130, 143
"""128 and the number of the signal, as shells have it."""

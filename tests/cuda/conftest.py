"""Loads numba-cuda as the library does before tests ask for it: its import warns with a NumPy that is newer than itself, and warnings are errors here."""

import contextlib

from abut.core import jit

if not jit.INTERPRETED:
    with contextlib.suppress(ImportError):
        import abut.cuda.device  # noqa: F401

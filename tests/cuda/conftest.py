"""Loads numba-cuda as the library does, before tests ask for it: where NumPy is newer than it the import warns, and warnings are errors here."""

import contextlib

from abut.core import jit

if not jit.INTERPRETED:
    with contextlib.suppress(ImportError):
        import abut.cuda.device  # noqa: F401

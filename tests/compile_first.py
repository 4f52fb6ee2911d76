"""Compile what most tests need, on all cores, each function once, so that the test workers find it on disk and do not all compile it at once.

Run as a script before pytest; it changes no result, only the time from an empty cache.
"""

import sys

from abut.app.warming import Stage, compile_ahead


def say(stage: Stage) -> None:
    if not stage.function:
        sys.stderr.write(f"{stage.done}/{stage.total} {stage.entry}: {stage.compiled} functions compiled\n")


if __name__ == "__main__":
    compile_ahead(native=True, report=say)

"""Locks that a forked child must not inherit closed: whoever held one in the parent is no thread of the child, and never opens it.

Before Python 3.12 `functools.cached_property` computes under a lock of its own. A thread that asks for one while another forks would leave
it closed in the child, and the child would wait for ever when it asks for the same property of any object. (`core.compiling.threads` looks after
the locks of parallel loops and of the compiler.)
"""

import functools
import os
import sys
import threading

PACKAGE = __name__.partition(".")[0]


def open_properties() -> None:
    """Give every cached property of the package a new lock."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] != PACKAGE:
            continue
        for kind in list(vars(module).values()):
            if isinstance(kind, type) and kind.__module__ == name:
                for held in vars(kind).values():
                    if isinstance(held, functools.cached_property):
                        held.lock = threading.RLock()  # pyright: ignore[reportAttributeAccessIssue]


def look_after_children() -> None:
    """From now on no child of a fork has a cached property whose lock is closed."""
    if sys.version_info < (3, 12) and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=open_properties)

"""What a process may do with threads: after a fork, and where the layer that runs parallel loops allows one at a time."""

import os
import threading
from typing import Any

import numba
from numba.core.compiler_lock import global_compiler_lock
from numba.np.ufunc import parallel as numba_parallel


class Threads:
    """What this process may do with threads.

    A forked child has its parent's memory and none of its threads. Numba's layers cannot start theirs again: GNU OpenMP's ends the child. And
    the layer `workqueue`, which is always there, ends the process when two threads launch a loop at the same time."""

    def __init__(self) -> None:
        self.lost = False
        """Whether the threads were launched in a process that this one was forked from: loops then run in their serial form."""
        self.turn: Any = None
        """Held while a loop runs, where the layer allows no second one beside it."""
        self.known = False
        """Whether the layer has been asked for."""
        self._starting = threading.Lock()

    def launch(self) -> None:
        """Let Numba choose its layer and start the threads, and see which it is."""
        with self._starting:
            if not self.known:
                numba.get_num_threads()
                # A signal handler may ask something while its own thread has the turn, and has no loop running then.
                self.turn = threading.RLock() if numba_parallel.threading_layer() == "workqueue" else None
                self.known = True

    def wait(self) -> None:
        """Before a fork: until no other thread compiles, or starts the threads. The child would have a copy of a lock that nobody opens."""
        self._starting.acquire()
        global_compiler_lock.acquire()

    def go_on(self) -> None:
        """After it, in the parent."""
        global_compiler_lock.release()
        self._starting.release()

    def lose(self) -> None:
        """After it, in the child, before anything else."""
        global_compiler_lock.release()
        self.lost = self.lost or bool(numba_parallel._is_initialized)
        self._starting = threading.Lock()
        self.turn = None if self.turn is None else threading.RLock()  # whoever had the turn is not here


threads = Threads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=threads.wait, after_in_parent=threads.go_on, after_in_child=threads.lose)

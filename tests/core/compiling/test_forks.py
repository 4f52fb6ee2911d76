"""What a child of a fork can ask while another thread of its parent was asking the same."""

import contextlib
import os
import signal
import sys
import threading

import numpy as np
import pytest

import abut

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are those of POSIX"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="cached properties have no locks since Python 3.12")
def test_a_property_that_another_thread_computes_can_be_asked_for_in_a_child():
    """The child waited for ever for a lock that a thread of the parent held at the fork."""
    contacts = ask()
    expected = contacts.normal.tobytes(), contacts.point.tobytes()
    locks = [held.lock for held in vars(abut.Contacts).values() if hasattr(held, "lock")]
    assert locks
    computing, forked = threading.Event(), threading.Event()

    def compute():
        with contextlib.ExitStack() as held:
            for lock in locks:
                held.enter_context(lock)
            computing.set()
            forked.wait()

    thread = threading.Thread(target=compute)
    thread.start()
    computing.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        again = ask()
        os._exit(0 if (again.normal.tobytes(), again.point.tobytes()) == expected else 1)
    forked.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def ask():
    ball, pose = abut.scenes.icosphere(1), np.eye(4)
    pose[0, 3] = 1.5
    return abut.collide(abut.Rigid(ball, pose), abut.Rigid(ball))

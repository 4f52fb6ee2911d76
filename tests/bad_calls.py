"""Calls with bad arguments, drawn at random for every public function and method, from arguments that work.

A call takes the needed arguments and some of the optional ones, and puts one or two bad values in their places. Only `InvalidInput` and
`Unsupported` may come out, or an answer without NaN: what is bad for one parameter is good for another. No argument is written to. What has a
`validate` is sound afterwards. A refused call leaves its object, and every other object that it was given, as they were, and the next good call
gives the answer that a new object gives; objects are kept from one refused call to the next. Now and then nothing is bad, and only stored in another
way: the answer is the same.
"""

import contextlib
import dataclasses
import inspect
import signal
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import abut
from abut.core.errors import AbutError, InvalidInput, Unsupported
from bad_subjects import Ready, Subject
from bad_values import bad_value, other_form

PATIENCE = 60  # seconds; no call takes one
MOST_MEMORY = 2 << 30  # bytes more than before; no call takes a hundredth of it
MEASURED = Path("/proc/self/statm").exists()
GOOD_AGAIN = 0.2
"""How often a refused call is followed by a good one."""
OTHER_FORM = 0.1
"""How often nothing is bad."""
WORK = {
    "handle", "interior", "steps", "swap_count", "comparison_count", "tests", "work",
    "box_tests", "leaf_tests", "version", "seconds", "moves", "rotations",
}  # fmt: skip
"""What counts work, and may depend on what was asked before; addresses; what answers of an environment are read from and remembered in; and what
is told of the last proposal, which was made before the mobile refused to move."""
DEPTH = 4
EXPECTED = {
    "contours.Boxes.validate": (AbutError,),
    "cells.channel": (InvalidInput, Unsupported, MemoryError),
}
"""What is raised beside `InvalidInput` and `Unsupported`: validators say what is wrong with what they look at; a million cells, which are no bad
number of them, take more than MOST_MEMORY."""


OPEN_TO_MEMORY = {"convex.track": ("feature_a", "feature_b", "features")}
"""What of an answer may depend on earlier ones, and says so: which of several closest features is named."""


class Failure(NamedTuple):
    """A call that ended otherwise than documented."""

    name: str
    arguments: dict[str, Any]
    error: BaseException

    def __str__(self) -> str:
        said = ", ".join(f"{key}={_show(value)}" for key, value in self.arguments.items())
        return f"{self.name}({said}): {type(self.error).__name__}: {self.error}"[:700]


class TooLong(BaseException):
    """A call that did not return."""


class Wrong(AssertionError):
    """What is wrong with an answer, or with what a call left behind."""


def _show(value: Any) -> str:
    try:
        return repr(value)[:160]
    except Exception:
        return object.__repr__(value)


def _give_up(number: int, frame: Any) -> None:
    raise TooLong(f"no answer after {PATIENCE} s")


@contextlib.contextmanager
def patience() -> Any:
    """Within this context a call that hangs (in Python) is interrupted, and one that takes all memory gets a MemoryError."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    import resource

    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if MEASURED else 0
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_MEMORY if MEASURED else limits[0], limits[1]))
    before = signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, limits)


# --- what a thing looks like


def look(value: Any, depth: int = 0) -> Any:
    """What can be seen of a value, to be compared: arrays by their bytes, objects of the library by their public attributes."""
    if isinstance(value, np.ndarray):
        seen = (
            value.tobytes()
            if value.dtype.kind != "O"
            else tuple(look(item, depth + 1) for item in value.ravel().tolist())
        )
        return (value.dtype.str, value.shape, seen)
    if value is None or isinstance(value, bool | int | str | bytes):
        return value
    if isinstance(value, float | complex | np.generic):
        return repr(value)
    if depth > DEPTH:
        return type(value).__name__
    if hasattr(type(value), "_fields"):
        return tuple((name, look(getattr(value, name), depth + 1)) for name in value._fields if name not in WORK)
    if isinstance(value, list | tuple):
        return tuple(look(item, depth + 1) for item in value)
    if isinstance(value, dict):
        return tuple((look(key, depth + 1), look(item, depth + 1)) for key, item in value.items())
    if type(value).__module__.startswith("abut."):
        return (
            type(value).__name__,
            *((name, look(_get(value, name), depth + 1)) for name in _public(type(value), value)),
        )
    return type(value).__name__


def _public(kind: type, value: Any) -> list[str]:
    names = set(getattr(value, "__dict__", ())) | {
        name for base in kind.__mro__ for name, held in vars(base).items() if _is_data(held)
    }
    return sorted(name for name in names if not name.startswith("_") and name not in WORK)


def _is_data(held: Any) -> bool:
    return isinstance(held, property) or inspect.isdatadescriptor(held) or type(held).__name__ == "cached_property"


def _get(value: Any, name: str) -> Any:
    try:
        found = getattr(value, name)
    except (AbutError, AttributeError) as error:
        return type(error).__name__
    return type(found).__name__ if callable(found) else found


def state_of(value: Any) -> Any:
    """What can be seen of an object of the library, a world's bodies included."""
    if isinstance(value, abut.World):
        return (
            look(value),
            *(look(part) for part in (value.poses(), value.velocities(), value.angular_velocities(), value.asleep())),
        )
    return look(value)


def find_nan(value: Any, depth: int = 0) -> str | None:
    """Where an answer holds NaN."""
    if isinstance(value, np.ndarray):
        return "itself" if value.dtype.kind in "fc" and np.isnan(value).any() else None
    if isinstance(value, float | np.floating):
        return "itself" if value != value else None
    if depth > 2:
        return None
    parts: dict[str, Any] = {}
    if hasattr(type(value), "_fields"):
        parts = value._asdict()
    elif isinstance(value, list | tuple):
        parts = {str(i): item for i, item in enumerate(value[:50])}
    elif dataclasses.is_dataclass(value) or type(value).__module__.startswith("abut."):
        parts = {name: _get(value, name) for name in _public(type(value), value)}
    return next((f"{name}.{where}" for name, item in parts.items() if (where := find_nan(item, depth + 1))), None)


# --- calls


class Caller:
    """Calls one subject, again and again."""

    def __init__(self, name: str, subject: Subject) -> None:
        self.name, self.subject = name, subject
        self._ready: Ready | None = None
        self._state: Any = None
        ready = subject.prepare()
        self._good_answer = self._look(self._call(ready, self._all(ready)))
        self._names = self._keys(ready)

    def _look(self, answer: Any) -> Any:
        seen, left_out = look(answer), OPEN_TO_MEMORY.get(self.name, ())
        return tuple(part for part in seen if part[0] not in left_out) if left_out else seen

    def _all(self, ready: Ready) -> dict[str, Any]:
        return dict(ready.good)

    def _keys(self, ready: Ready) -> tuple[list[str], list[str]]:
        """The arguments that a call needs, and all."""
        known = inspect.signature(ready.call).parameters
        names = list(ready.good)
        needed = [key for key in names if key not in known or known[key].default is inspect.Parameter.empty]
        has_options = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in known.values())
        return [
            key for key in needed if key in known or key in ("a", "others", "motions", "ends") or not has_options
        ], names

    def _call(self, ready: Ready, arguments: dict[str, Any]) -> Any:
        """Parameters by position come first, those of a *name after them."""
        known = inspect.signature(ready.call).parameters
        given, positional = dict(arguments), []
        for key in arguments:
            spread = key not in known or known[key].kind is inspect.Parameter.VAR_POSITIONAL
            if key == "others" or (key in ("motions", "ends") and spread):
                value = given.pop(key)
                if key == "others":
                    positional.append(given.pop("a"))
                positional += list(value) if isinstance(value, tuple | list) else [value]
            elif key in known and known[key].kind is inspect.Parameter.POSITIONAL_ONLY:
                positional.append(given.pop(key))
        return ready.call(*positional, **given)

    def draw(self, ready: Ready, rng: np.random.Generator) -> tuple[dict[str, Any], bool]:
        """Arguments of a call, and whether they are good ones in another form."""
        needed, names = self._names
        if rng.random() < OTHER_FORM:
            arguments = self._all(ready)
            arrays = [key for key in names if type(arguments[key]) is np.ndarray]
            for key in arrays:
                arguments[key] = other_form(rng, arguments[key])
            return arguments, True
        chosen = [key for key in names if key in needed or rng.random() < 0.4] or names[:1]
        arguments = {key: ready.good[key] for key in chosen}
        for key in rng.choice(chosen, min(len(chosen), int(rng.integers(1, 3))), replace=False):
            arguments[str(key)] = bad_value(rng, arguments[str(key)])
        return arguments, False

    def once(self, rng: np.random.Generator) -> Failure | None:
        """One call; what is wrong with how it ended, or None."""
        if self._ready is None:
            self._ready = self.subject.prepare()
            self._state = self._states(self._ready)
        ready, arguments = self._ready, {}
        try:
            arguments, is_good = self.draw(ready, rng)
            self._try(ready, arguments, is_good, rng)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            self._ready = None
            return Failure(self.name, arguments, error)
        return None

    def _states(self, ready: Ready) -> Any:
        return [state_of(value) for value in (ready.owner, *ready.good.values())]

    def _try(self, ready: Ready, arguments: dict[str, Any], is_good: bool, rng: np.random.Generator) -> None:
        before = [_bytes_of(value) for value in arguments.values()]
        try:
            with patience():
                answer = self._call(ready, arguments)
        except EXPECTED.get(self.name, (InvalidInput, Unsupported)) as error:
            if is_good:
                raise Wrong(f"refused, though good: {error}") from error
            self._check_refused(ready, rng)
            answer = None
        else:
            self._ready = None
            where = find_nan(answer)
            if where:
                raise Wrong(f"the answer's {where} holds NaN")
            if is_good and self._look(answer) != self._good_answer:
                raise Wrong("the answer is not that for the same numbers, stored as usual")
        if before != [_bytes_of(value) for value in arguments.values()]:
            raise Wrong("an argument was written to")
        if hasattr(ready.owner, "validate") and "Boxes" not in self.name:
            ready.owner.validate()

    def _check_refused(self, ready: Ready, rng: np.random.Generator) -> None:
        if self._states(ready) != self._state:
            raise Wrong("a refused call has changed its object, or one that it was given")
        if rng.random() < GOOD_AGAIN:
            self._ready = None
            if self._look(self._call(ready, self._all(ready))) != self._good_answer:
                raise Wrong("after a refused call, a good one gives another answer")


def _bytes_of(value: Any) -> Any:
    """The bytes of an array, or of those in a list."""
    if isinstance(value, np.ndarray):
        return value.tobytes()
    return [_bytes_of(item) for item in value] if isinstance(value, list | tuple) else None


def call_badly(name: str, subject: Subject, count: int, seed: int = 0) -> list[Failure]:
    """The failures of so many calls."""
    rng, caller = np.random.default_rng((seed, zlib.crc32(name.encode()))), Caller(name, subject)
    return [failure for _ in range(count) if (failure := caller.once(rng)) is not None]

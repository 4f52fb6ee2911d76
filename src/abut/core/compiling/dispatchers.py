"""Functions as Numba sees them: made when first asked, one form for Python and one for compiled callers, one process at a time.

A package of a thousand compiled functions calls few of them. So a decorated function is at first an empty dispatcher that knows its function and
options (`Lazy`); the first call, from Python or from a function that is being compiled, makes it what it is to be.
"""

import contextlib
import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from numba.core import errors, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from abut.core.compiling.code_cache import INNER, Places, SourcesCache, held
from abut.core.compiling.libraries import Stages, late
from abut.core.compiling.threads import threads


class Kept(CPUDispatcher):
    """A function whose compiled code is kept on disk."""

    def compile(self, sig: Any) -> Any:
        """Numba's, one process at a time where several compile ahead."""
        context: Any = self.targetctx
        with late(context.codegen()):
            return self._compile_alone(sig)

    def _compile_alone(self, sig: Any) -> Any:
        if not Places.shared:
            return super().compile(sig)
        # Others wait, and find it on disk. Who holds a function waits only for functions that it calls, and none calls itself: nobody waits for ever.
        function = self.py_func
        with held(function.__code__.co_filename, f"{function.__module__}.{function.__qualname__}{sig}"):
            return super().compile(sig)


class Twofold(Kept):
    """A function that compiled callers find without the wrapper through which Python calls: a second dispatcher compiles it for them.

    Most functions have compiled callers only, and their wrappers would be a quarter of all that is compiled.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What a function that is being compiled sees. A 0 that stands in its text is an integer like any other, not a type of its own."""
        plain = tuple(map(_plain, args)), {name: _plain(kind) for name, kind in kws.items()}
        if plain != (tuple(args), dict(kws)):
            with contextlib.suppress(errors.TypingError, errors.ForceLiteralArg):
                return self._inner.get_call_template(*plain)
        return self._inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """The same."""
        return self._inner.get_overload(sig)

    @functools.cached_property
    def _inner(self) -> Any:
        function = _rename(self.py_func, self.py_func.__qualname__ + INNER)
        return _fill(Kept.__new__(Kept), function, {**self.targetoptions, "no_cpython_wrapper": True})


def _plain(kind: Any) -> Any:
    return kind.literal_type if isinstance(kind, types.IntegerLiteral) else kind


class Parallel(Twofold):
    """A function over `prange`. Python alone may call it: a compiled caller would launch its loops unseen."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Refuses a function that is being compiled."""
        raise errors.TypingError(f"{self.py_func.__name__} is parallel: only Python may call it")

    def __call__(self, *arguments: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """On all threads, or on one in a child that has lost them."""
        if threads.lost:
            return self._serial(*arguments)
        if not threads.known:
            threads.launch()
        if threads.turn is None:
            return _call(self, *arguments)
        with threads.turn:
            return _call(self, *arguments)

    @functools.cached_property
    def _serial(self) -> Any:
        function = _rename(self.py_func, self.py_func.__qualname__ + "-serial")
        return _fill(Kept.__new__(Kept), function, {**self.targetoptions, "parallel": False})


_call: Any = CPUDispatcher.__call__


class Lazy(CPUDispatcher):
    """A function that nobody has called yet. Whatever is asked of it makes it a dispatcher of its kind, in place."""

    def _wake(self) -> None:
        with global_compiler_lock:
            if type(self) is Lazy:
                options, kind = vars(self).pop("_made_of")
                _fill(self, self.py_func, options)
                self.__class__ = kind

    def __call__(self, *arguments: Any, **named: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The first call."""
        self._wake()
        return self(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # of Python's own protocols, which it does not have
            raise AttributeError(name)
        self._wake()
        return getattr(self, name)

    def __reduce__(self) -> Any:
        self._wake()
        return self.__reduce__()

    @property
    def _numba_type_(self) -> Any:
        self._wake()
        return self._numba_type_

    @property
    def _can_compile(self) -> Any:
        self._wake()
        return self._can_compile


def _fill(dispatcher: Any, function: Any, options: dict[str, Any]) -> Any:
    options = {"boundscheck": None, **options, "nopython": True}
    CPUDispatcher.__init__(dispatcher, function, targetoptions=options, pipeline_class=Stages)
    dispatcher._cache = SourcesCache(function)
    return dispatcher


def lazy(function: Callable[..., Any], options: dict[str, Any], kind: type) -> Any:
    """A dispatcher of the kind that is not made before somebody needs it."""
    dispatcher: Any = Lazy.__new__(Lazy)
    functools.update_wrapper(dispatcher, function)
    dispatcher.py_func = function
    dispatcher._made_of = options, kind
    return dispatcher


def _rename(function: Any, name: str) -> Any:
    """The same function under another name, by which Numba's cache tells the two."""
    copy = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__qualname__, copy.__module__ = name, function.__module__
    return copy

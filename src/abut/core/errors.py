"""The exceptions of abut: bad input, and questions that are not supported.

Both also derive from the built-in exception that fits, so that code which knows nothing of abut can catch them.
"""


class AbutError(Exception):
    """Base of every exception that abut raises on purpose."""


class InvalidInput(AbutError, ValueError):
    """An argument cannot be used. The message names the array, its first bad row where there is one, and the reason.

    Attributes:
        name: the argument, as the called function names it.
        row: index of the first bad row, or None where the array as a whole is wrong.
        reason: what is wrong, in words.
    """

    def __init__(self, name: str, reason: str, row: int | None = None) -> None:
        self.name = name
        self.row = row
        self.reason = reason
        super().__init__(f"{name}: {reason}" if row is None else f"{name}[{row}]: {reason}")

    def __reduce__(self) -> tuple[type["InvalidInput"], tuple[str, str, int | None]]:
        return (type(self), (self.name, self.reason, self.row))


class Unsupported(AbutError, NotImplementedError):
    """A pair, cell, file kind or option that abut does not handle; the message names it."""

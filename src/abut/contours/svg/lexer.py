"""Numbers, letters and flags from an attribute's text, from left to right, each character looked at once.

Repetitions in the patterns are possessive: none is tried again with less, so a text that does not match is refused in linear time.
"""

import re

from abut.core.arrays import LARGEST_COORDINATE
from abut.core.errors import InvalidInput

_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_BLANK = re.compile(r"[ \t\r\n\f,]*+")
_WORD = re.compile(r"[a-zA-Z]++")
SHOWN = 12
"""Characters of a text that an error shows."""


class Lexer:
    """A text and a place in it; errors tell the character."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name, self.at = text, name, 0
        self.skip_blanks()

    def skip_blanks(self) -> None:
        """Go on to the next character that is neither a blank nor a comma."""
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def error(self, reason: str, at: int | None = None) -> InvalidInput:
        """What to raise for what stands here, or at another place."""
        place = self.at if at is None else at
        near = self.text[place : place + SHOWN]
        return InvalidInput(self.name, f"character {place}: {reason}" + (f" at {near!r}" if near else ""))

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return self.at >= len(self.text)

    def letter(self, known: str) -> str | None:
        """The next letter, one of those known, or None where no letter stands."""
        letter = self.text[self.at]
        if not letter.isalpha():
            return None
        if letter not in known:
            raise self.error("unknown command")
        self.at += 1
        self.skip_blanks()
        return letter

    def word(self) -> str | None:
        """All letters up to the next other character; None where there is none."""
        match = _WORD.match(self.text, self.at)
        if not match:
            return None
        self.at = match.end()
        self.skip_blanks()
        return match.group()

    def take(self, character: str) -> bool:
        """Whether this character comes next; it is then passed."""
        if not self.text.startswith(character, self.at):
            return False
        self.at += 1
        self.skip_blanks()
        return True

    def number(self) -> float:
        """The next number."""
        match = _NUMBER.match(self.text, self.at)
        if not match:
            raise self.error("expected a number")
        value = float(match.group())
        if not abs(value) <= LARGEST_COORDINATE:
            raise self.error(f"a number beyond ±{LARGEST_COORDINATE:g}")
        self.at = match.end()
        self.skip_blanks()
        return value

    def flag(self) -> bool:
        """0 or 1, which may stand without a blank before the next number."""
        if self.done or self.text[self.at] not in "01":
            raise self.error("expected a flag, 0 or 1")
        value = self.text[self.at] == "1"
        self.at += 1
        self.skip_blanks()
        return value


def read_numbers(text: str, name: str) -> list[float]:
    """All numbers of a list."""
    lexer, numbers = Lexer(text, name), list[float]()
    while not lexer.done:
        numbers.append(lexer.number())
    return numbers

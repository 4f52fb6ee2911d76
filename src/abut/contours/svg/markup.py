"""XML, element by element, with nothing fetched and nothing blown up: expat calls back, and no tree is built.

Refused by name: what is no regular file or longer than MOST_BYTES; encodings that expat cannot read; entities that name files, hold entities or
could make the document grow by more than MOST_GROWTH ("billion laughs"); and elements nested deeper than MOST_DEPTH. Entities that only
abbreviate, as drawing programs write them for the names of namespaces, are read.
"""

import codecs
import os
import re
import stat
from collections.abc import Callable
from xml.parsers import expat

from abut.core.errors import AbutError, InvalidInput, Unsupported

MOST_BYTES = 2**26
MOST_DEPTH = 10_000
MOST_GROWTH = 2**24
"""Characters that entities may add."""
NAME = "svg"
"""What errors call the document."""

_OWN_ENCODINGS = {"utf-8", "utf-16", "iso-8859-1", "us-ascii"}
_TABLE_ENCODINGS = re.compile(
    r"(?:ascii|iso[-_]8859[-_]\d{1,2}|latin[-_]?\d{1,2}|windows[-_]\d{3,4}|cp\d{3,4}|koi8[-_][rtu]|mac[-_]?roman|macintosh)", re.IGNORECASE
)  # fmt: skip
_REFERENCE = re.compile(rb"&([A-Za-z_:][A-Za-z0-9_:.-]*+);")
_PREDEFINED = {"amp", "lt", "gt", "quot", "apos"}
_OTHER_KINDS = (
    (re.compile(rb"\x1f\x8b"), "compressed (.svgz or .gz): unpack it first"),
    (re.compile(rb"%PDF"), "a PDF document"),
    (re.compile(rb"%!PS"), "a PostScript document"),
    (re.compile(rb"AutoCAD Binary DXF|(?:999[^\n]*\n[^\n]*\n\s*)*0\s*\n\s*SECTION"), "a DXF drawing"),
    (re.compile(rb"AC10\d\d"), "a DWG drawing"),
    (re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8|BM|II\*\0|MM\0\*|RIFF"), "a picture"),
    (re.compile(rb"PK\x03\x04"), "a zip archive"),
    (re.compile(rb"IN;|\x1b%-?\dB"), "an HPGL plot"),
)
_BYTE_ORDER_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a regular file; a pipe or a device is refused without waiting for it."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise InvalidInput(NAME, "is not a regular file")
            if found.st_size > MOST_BYTES:
                raise InvalidInput(NAME, f"has {found.st_size} bytes, more than {MOST_BYTES}")
            with os.fdopen(handle, "rb", closefd=False) as file:
                data = file.read(MOST_BYTES + 1)
        finally:
            os.close(handle)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path, or a character that file names cannot hold
        if isinstance(error, AbutError):
            raise
        raise InvalidInput(NAME, f"cannot be read: {error}") from error
    return data


def _check_kind(data: bytes) -> None:
    """Refuse what cannot be XML, by what it is."""
    if data.startswith(_BYTE_ORDER_MARKS) or data[:2] in (b"<\0", b"\0<"):
        return
    head = data[:4096].lstrip()
    if head.startswith(b"<"):
        return
    if not head:
        raise InvalidInput(NAME, "is empty")
    for pattern, kind in _OTHER_KINDS:
        if pattern.match(head):
            raise Unsupported(f"{NAME}: is {kind}; only SVG drawings are read")
    raise InvalidInput(NAME, "is no SVG drawing: it does not begin with <")


def _check_encoding(name: str | None) -> None:
    if name is None or name.lower() in _OWN_ENCODINGS:
        return
    try:
        known = _TABLE_ENCODINGS.fullmatch(name) and len(bytes(range(256)).decode(name, "replace")) == 256
    except LookupError:
        known = False
    if not known:
        raise Unsupported(
            f"{NAME}: the encoding {name[:40]!r}; UTF-8, UTF-16 and those of one byte a character are read"
        )


class _Declarations:
    """What a document says before its first element."""

    def __init__(self, data: bytes) -> None:
        self.data, self.entities, self.has_external_part = data, set[str](), False

    def doctype(self, name: str, system: str | None, public: str | None, internal: bool) -> None:
        self.has_external_part = system is not None

    def entity(
        self,
        name: str,
        is_parameter: bool,
        value: str | None,
        base: str | None,
        system: str | None,
        public: str | None,
        notation: str | None,
    ) -> None:
        if is_parameter or value is None:
            raise Unsupported(f"{NAME}: the entity {name[:40]!r} is kept in another file or used in declarations")
        if "&" in value or "%" in value:
            raise Unsupported(f"{NAME}: the entity {name[:40]!r} holds other entities")
        if len(value) * self.data.count(b"&") > MOST_GROWTH:
            raise Unsupported(f"{NAME}: the entity {name[:40]!r} could make the document grow beyond all bounds")
        self.entities.add(name)

    def check_references(self) -> None:
        """Where a declaration could be in another file, expat passes over unknown entities without a word, also in an attribute."""
        if self.has_external_part:
            used = {name.decode() for name in _REFERENCE.findall(self.data)}
            unknown = sorted(used - self.entities - _PREDEFINED)
            if unknown:
                raise InvalidInput(NAME, f"the entity {unknown[0][:40]!r} is not declared")


def parse(
    source: bytes | str,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None],
    text: Callable[[str], None],
) -> None:
    """Call back for the beginning and the end of each element, and for text; tags are namespace}name, or name without one."""
    data, encoding = source, None
    if isinstance(data, str):
        try:
            data, encoding = data.encode("utf-8"), "utf-8"  # whatever its declaration says: it has been decoded
        except UnicodeEncodeError as error:
            raise InvalidInput(NAME, f"character {error.start} is no character of Unicode") from error
    if len(data) > MOST_BYTES:
        raise InvalidInput(NAME, f"has {len(data)} bytes, more than {MOST_BYTES}")
    _check_kind(data)
    parser, declared, depth = expat.ParserCreate(encoding, "}"), _Declarations(data), 0

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MOST_DEPTH:
            raise Unsupported(f"{NAME}: elements nested more than {MOST_DEPTH} deep")
        start(tag, attributes)

    def finish(tag: str) -> None:
        nonlocal depth
        depth -= 1
        end(tag)

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, finish, text
    parser.StartDoctypeDeclHandler, parser.EntityDeclHandler = declared.doctype, declared.entity
    if encoding is None:
        parser.XmlDeclHandler = lambda version, name, standalone: _check_encoding(name)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise InvalidInput(NAME, f"is not well-formed XML: {error}") from error
    declared.check_references()

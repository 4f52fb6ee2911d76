"""No document costs more than its length, none makes anything else be read, and what is no drawing is refused as what it is."""

import os

import pytest

from abut import InvalidInput, Unsupported
from abut.contours import svg
from abut.contours.svg.markup import MOST_BYTES, MOST_DEPTH
from abut.core import jit

UNIT = '<rect width="1" height="1"/>'

DRAWING = f"<svg>{UNIT}</svg>"


LONG = 10**6
"""Of what would take hours if each character were looked at once for every other."""


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda n: f'<svg><rect width="{"1" * n}x" height="1"/></svg>', "beyond"),
        (lambda n: f'<svg><rect width="0.{"1" * n}x" height="1"/></svg>', "is no length"),
        (lambda n: f'<svg><rect width="1{" " * n}x" height="1"/></svg>', "is no length"),
        (lambda n: f'<svg><polygon points="{"1 " * (n // 8)}x"/></svg>', "expected a number"),
        (lambda n: f'<svg><g transform="{"a" * n}"/></svg>', "expected a function"),
        (lambda n: f'<svg><g transform="translate(1{" " * n}x"/></svg>', "expected a number"),
        (lambda n: f'<svg><g transform="{"translate(1)" * (n // 200)}{" " * n}x"/></svg>', "expected a function"),
        (lambda n: f'<svg><path d="M0 0h1v1{"." * n}"/></svg>', "expected a number"),
        (lambda n: f'<svg><path d="M0 0h1v1{"e" * n}"/></svg>', "unknown command"),
        (lambda n: f'<svg><path d="M0 0h1v1{" " * n}x"/></svg>', "unknown command"),
        (lambda n: f'<svg style="{":;" * n}"></svg>', "no closed outline"),
        (lambda n: f"<svg><style>{'/*' * n}</style></svg>", "no closed outline"),
        (lambda n: f"<svg><style>{'display ' * (n // 8)}</style></svg>", "no closed outline"),
        (lambda n: "<svg " + " ".join(f"a{k}=''" for k in range(n // 20)) + "/>", "no closed outline"),
        (lambda n: "0" + "\n" * n + "x", "cannot be read|does not begin"),
        (lambda n: "<svg>" + "<!--" + "-" * n, "well-formed"),
    ],
)
def test_long_attributes_are_read_once_from_left_to_right(make, words):
    with pytest.raises((InvalidInput, Unsupported), match=words):
        svg.read(make(2000 if jit.INTERPRETED else LONG))


def test_groups_may_be_nested_deeply():
    for depth in (10, 990, MOST_DEPTH - 2):
        group = '<g transform="translate(1)">'
        (found,) = svg.read(f"<svg>{group * depth}{UNIT}{'</g>' * depth}</svg>")
        assert found.bounds[0, 0] == depth
    with pytest.raises(Unsupported, match="deep"):
        svg.read("<svg>" + "<g>" * 10**5)
    with pytest.raises(Unsupported, match="deep"):
        svg.read("<svg><defs>" + "<g>" * 10**5)


def declared(*entities, text="&a;", public=""):
    return f'<!DOCTYPE svg {public} [{"".join(entities)}]><svg><path id="{text}" d="M0 0h1v1z"/></svg>'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (declared('<!ENTITY a "aaaa">', *(f'<!ENTITY {b} "&{a};&{a};">' for a, b in zip("abcde", "bcdef", strict=True))), "'b' holds"),
        (declared('<!ENTITY a "&#38;a;">'), "'a' holds"),
        (declared(f'<!ENTITY a "{"a" * 10**5}">', text="&a;" * 10**5), "beyond all bounds"),
        (declared('<!ENTITY a SYSTEM "file:///etc/passwd">'), "'a' is kept in another file"),
        (declared('<!ENTITY a PUBLIC "x" "http://localhost/a">'), "'a' is kept in another file"),
        (declared('<!ENTITY % a SYSTEM "http://localhost/a"> %a;'), "'a' is kept in another file"),
        (declared('<!ENTITY % a "x">'), "'a' is kept"),
        (declared(), "undefined entity"),
        (declared(public='SYSTEM "svg.dtd"'), "'a' is not declared"),
    ],
)  # fmt: skip
def test_entities_that_blow_up_or_fetch_are_refused(text, words):
    with pytest.raises((InvalidInput, Unsupported), match=words):
        svg.read(text)


def test_entities_that_abbreviate_are_read():
    """As Adobe Illustrator writes them."""
    kind = 'PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"'
    text = declared('<!ENTITY a "http://ns.adobe.com/Extensibility/1.0/">', text="&a;&amp;&#65;", public=kind)
    assert svg.read(text)[0].name == "http://ns.adobe.com/Extensibility/1.0/&A"


def encoded(name, codec):
    return f'<?xml version="1.0" encoding="{name}"?><svg><path id="é" d="M0 0h1v1z"/></svg>'.encode(codec)


@pytest.mark.parametrize(
    ("name", "codec"),
    [("UTF-8", "utf-8"), ("utf-8", "utf-8-sig"), ("UTF-16", "utf-16"), ("ISO-8859-1", "latin-1"), ("windows-1252", "cp1252"),
     ("iso-8859-15", "iso-8859-15"), ("macintosh", "mac-roman")],
)  # fmt: skip
def test_encodings_of_one_byte_and_of_unicode_are_read(tmp_path, name, codec):
    (tmp_path / "a.svg").write_bytes(encoded(name, codec))
    assert svg.read(tmp_path / "a.svg")[0].name == "é"


@pytest.mark.parametrize(
    "name",
    ["klingon", "shift_jis", "gbk", "euc-jp", "cp932", "utf-7", "utf-32", "base64", "unicode_escape", "idna", "punycode", "iso-8859-99", "x"],
)  # fmt: skip
def test_other_encodings_are_refused_by_name(tmp_path, name):
    (tmp_path / "a.svg").write_bytes(encoded(name, "latin-1"))
    with pytest.raises(Unsupported, match=f"encoding '{name}'"):
        svg.read(tmp_path / "a.svg")
    assert svg.read(encoded(name, "latin-1").decode("latin-1"))[0].name == "é"  # text has been decoded already


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"  0\r\nSECTION\r\n  2\r\nHEADER", "a DXF drawing"),
        (b"999\nmade by\n0\nSECTION\n", "a DXF drawing"),
        (b"AC1027\0\0", "a DWG drawing"),
        (b"%PDF-1.7", "a PDF document"),
        (b"\x1f\x8b\x08\0\0", "compressed"),
        (b"\x89PNG\r\n\x1a\n", "a picture"),
        (b"M0 0h1v1z", "does not begin with <"),
        (b"\xff\xfe<", "well-formed"),
    ],
)
def test_files_of_other_kinds_are_refused_by_what_they_are(tmp_path, content, words):
    (tmp_path / "a.dxf").write_bytes(content)
    with pytest.raises((InvalidInput, Unsupported), match=words):
        svg.read(tmp_path / "a.dxf")


def test_only_regular_files_of_bounded_length_are_read(tmp_path):
    for source, words in [
        (tmp_path, "not a regular file|a folder"), (str(tmp_path / "no.svg"), "cannot be read"), ("a\0b.svg", "cannot be read"),
        ("\ud800.svg", "cannot be read"), (3, "is a int"), (None, "is a NoneType"), (b"a.svg", "is a bytes"), (["a.svg"], "is a list"),
        ("<svg a='\ud800'/>", "no character of Unicode"),
    ]:  # fmt: skip
        with pytest.raises(InvalidInput, match=words):
            svg.read(source)
    with (tmp_path / "long.svg").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(InvalidInput, match="more than"):
        svg.read(tmp_path / "long.svg")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.svg")
        with pytest.raises(InvalidInput, match="not a regular file"):
            svg.read(tmp_path / "pipe.svg")


def test_a_blank_before_the_text_of_a_document_does_no_harm():
    assert len(svg.read("\ufeff\n  <?xml version='1.0'?>" + DRAWING)) == 1

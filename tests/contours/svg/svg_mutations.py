"""Malformed SVG: sound documents with bytes, attributes and path data changed at random, from a seed."""

import re

SEEDS = [
    '<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" width="9mm">'
    '<!-- parts --><g transform="translate(3,4) rotate(30 1 2) scale(2)" style="fill:none;stroke:#000">'
    '<path id="a" d="M0 0 C1 1 2 1 3 0 s2-1 3 0 q-1.5.5-3 3T0 6z m1 1h2v2z"/><rect x="1" width="4" height="3" rx=".5"/></g></svg>',
    '<svg><defs><path id="p" d="M0 0h9v9z"/><style>.a{fill:red}</style></defs><circle cx="1" cy="2" r="3"/>'
    '<ellipse rx="2" ry="1" visibility="visible"/><polygon points="0,0 4,0 0,3" transform="matrix(1 0 0 1 2 3)"/></svg>',
    '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd" [<!ENTITY ns "http://ns.adobe.com/x">]>'
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="&ns;"><switch><foreignObject requiredExtensions="x"/>'
    '<g x:y="1"><path d="M1 0A1 1 0 01-1 0 1 1 0 01 1 0z"/><polyline points="0 0 1 0 1 1 0 0"/></g></switch><text>no &amp; no</text></svg>',
    '<svg width="210mm" height="50%" viewBox="0 0 744 1052"><style>.a,#b{display:none} path.c{visibility:hidden}</style>'
    '<symbol id="s" viewBox="0 0 4 2">'
    '<rect class="d" width="50%" height="1mm"/></symbol><use href="#s" x="1" width="4" height="9"/><g id="b"><line x1="3"/></g>'
    '<svg x="1" width="9" height="9" viewBox="0 0 3 3" preserveAspectRatio="xMinYMax slice"><use href="#q"/></svg><path id="q" d="M0 0h3v3z"/></svg>',
    '<svg><g display="none"><use href="#a"/></g><svg x="1" y="2"><path d="m1,1 2,0 0,2 a1 2 45 1 0 -2 -2 Z"/></svg>'
    '<path d="M0 0L3 0 3 3z" transform="skewX(20) skewY(-1e1)"/></svg>',
]  # fmt: skip
VALUES = [
    "", " ", "0", "-0", "-1", "1e999", "-1e75", "1e75", "1e-320", "5e-324", "nan", "inf", "0x1f", "1_000", "٣", "1,2", "1;2", "auto", "none",
    "50%", "3mm", "2px", "&ns;", "&undefined;", "&#0;", "&#x10FFFF;", "&#xD800;", "\0", "\ufffe", "url(#a)", "M", "z", "M0 0", "M0 0z",
    "M0 0h1v1z", "M0 0A1e75 1e75 0 1 1 1e-300 1z", "M0 0A1e-300 1e75 9e74 1 0 1 1z", "M0 0h1e75v1e75h1e75z", "M0 0" + "h1e75" * 20 + "z",
    "M0 0Q1e75 0 0 0" + "T0 0" * 30 + "z",
    "scale(0)", "scale(1e75)", "rotate(1e75 1e75 1e75)", "matrix(1 2)", "skewX(90)", "display:none",
    "#s", "#q", "#b", "xMidYMid", "none slice", "0 0 1e75 1e-75", "0 0 1e-300 1",
    "0 0 0 0", "1e75mm", "1e-300in", "3em", ".a",
    "transform:scale(2)", "visibility : hidden", "1" * 3000, "0." + "1" * 3000 + "x", "translate(1)" * 200, " " * 3000, "(" * 500,
]  # fmt: skip
PARTS = [
    "<", ">", "/>", "</g>", "<g>", "<svg>", "</svg>", '"', "'", "&", ";", "<!--", "-->", "<![CDATA[", "]]>", "<?x?>", "<!DOCTYPE svg>",
    '<!ENTITY a "b">', '<rect width="1" height="1"/>', "<use/>", "<line/>", "<style>.a{display:none}</style>", "<g>" * 300, "</g>" * 300,
    '<symbol><path d="x"/></symbol>', '<use href="#s"/>', '<use href="#b"/>' * 9, "<style>*{display:none}</style>",
    "<style>a b{display:none}</style>",
    'transform="scale(2)"', 'visibility="hidden"', "xmlns:q='q'", "<q:g/>", "<switch>", "0", "-", ".", "e9",
]  # fmt: skip
ENCODINGS = ["UTF-8", "UTF-16", "ISO-8859-1", "shift_jis", "cp1252", "utf-7", "klingon", "base64", "", "utf8", "ucs-4"]
_ATTRIBUTE = re.compile(r'(?<==)"[^"]*"')
_NUMBER = re.compile(r"[-+.0-9eE]+")
_PATH_LETTERS = "MmLlHhVvCcSsQqTtAaZz"


def _choose(rng, values):
    return values[int(rng.integers(len(values)))]


def _swap_attribute(rng, text):
    found = list(_ATTRIBUTE.finditer(text))
    if not found:
        return text
    match = _choose(rng, found)
    return f'{text[: match.start()]}"{_choose(rng, VALUES)}"{text[match.end() :]}'


def _swap_number(rng, text):
    found = list(_NUMBER.finditer(text))
    if not found:
        return text
    match = _choose(rng, found)
    return text[: match.start()] + _choose(rng, VALUES) + text[match.end() :]


def _change_span(rng, text):
    """Leave out, repeat or turn round some of the text, or put something else in."""
    start = int(rng.integers(len(text) + 1))
    end = min(len(text), start + int(rng.integers(1, 40)))
    part = text[start:end]
    kind = rng.integers(5)
    new = [
        "",
        part * int(rng.choice([2, 3, 50])),
        part[::-1],
        part + _choose(rng, PARTS),
        _choose(rng, list(_PATH_LETTERS)),
    ][kind]
    return text[:start] + new + text[end:]


def mutate_text(rng, text):
    """One to four changes, often one."""
    for _ in range(min(4, int(rng.geometric(0.6)))):
        text = _choose(rng, [_swap_attribute, _swap_number, _swap_number, _change_span])(rng, text)[:200_000]
    return text


def mutated_document(rng):
    """Bytes of a document: mutated as text, sometimes declared in another encoding or written in one, sometimes with bytes changed or missing."""
    text = mutate_text(rng, _choose(rng, SEEDS))
    if rng.random() < 0.15:
        text = f'<?xml version="1.0" encoding="{_choose(rng, ENCODINGS)}"?>' + re.sub(r"^<\?.*?\?>", "", text)
    data = text.encode("utf-16" if rng.random() < 0.05 else "utf-8", "replace")
    if rng.random() < 0.15:
        changed = bytearray(data)
        for _ in range(int(rng.integers(1, 8))):
            if changed:
                changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
        data = bytes(changed)
    return data[: int(rng.integers(len(data) + 1))] if rng.random() < 0.1 else data


def mutated_path(rng):
    """Path data, sound or not."""
    if rng.random() < 0.5:
        return mutate_text(
            rng, _choose(rng, ["M0 0 C1 1 2 1 3 0 s2-1 3 0 q-1.5.5-3 3T0 6z", "m1,1 2,0 0,2 a1 2 45 1 0 -2 -2 Z"])
        )
    count, numbers = (
        int(rng.integers(1, 8)),
        ["0", "1", "-2.5", ".5", "1e3", "-1e-9", "7", "1e75", "1e-300", "01", "11"],
    )
    words = [
        _choose(rng, list(_PATH_LETTERS)) + " ".join(_choose(rng, numbers) for _ in range(int(rng.integers(8))))
        for _ in range(count)
    ]
    return "M0 0" + "".join(words) + _choose(rng, ["z", "", "Z z", "zM1 1"])

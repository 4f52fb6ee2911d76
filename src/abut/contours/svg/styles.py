"""What is said of an element's look: attributes, rules of style sheets, and its style, each stronger than the one before; and what its parents say.

Rules for an element's name, class or id are read (`path`, `.cut`, `#logo`, `path.cut`, lists of these), the later and more specific ones win. Rules
with other selectors are not applied; where they would hide, move or reshape something, the drawing is refused by name.
"""

import re
from collections.abc import Mapping

from abut.contours.svg.markup import NAME
from abut.core.errors import Unsupported

INHERITED = (
    "fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-dashoffset", "stroke-linecap",
    "stroke-linejoin", "stroke-miterlimit", "color", "visibility", "font-family", "font-size", "font-style", "font-weight", "font-variant",
    "letter-spacing", "word-spacing", "text-anchor", "writing-mode", "direction", "line-height", "clip-rule", "paint-order",
)  # fmt: skip
OWN = (
    "display",
    "opacity",
    "stop-color",
    "stop-opacity",
    "dominant-baseline",
    "alignment-baseline",
    "text-decoration",
    "vector-effect",
    "mix-blend-mode",
)
MOVING = {"transform", "translate", "rotate", "scale", "d", "offset-path"}
"""Properties of a style that move what is drawn, or draw something else."""
SIZES = {"x", "y", "width", "height", "cx", "cy", "r", "rx", "ry"}
"""Properties of a style that change a shape's outline."""
_SELECTOR = re.compile(r"(?P<kind>[A-Za-z][\w-]*+|\*)?(?P<class>(?:\.[\w-]++)*+)(?P<id>#[\w:.-]++)?")
_LAYING = re.compile(r"(?<![\w-])(?:display\s*+:|visibility\s*+:|(?:transform|scale|d)\s*+:)", re.IGNORECASE)
MOST_RULES = 10_000
Style = dict[str, str]


def read_declarations(text: str) -> Style:
    """Property by property, what stands before `!`."""
    found: Style = {}
    for declaration in text.split(";"):
        key, colon, value = declaration.partition(":")
        if colon:
            found[key.strip().lower()] = value.partition("!")[0].strip()
    return found


def _drop_comments(sheet: str) -> str:
    parts = sheet.split("/*")
    return parts[0] + " ".join(part.partition("*/")[2] for part in parts[1:])


class Rules:
    """The rules of all style sheets of a document."""

    def __init__(self, sheets: list[str]) -> None:
        self.kinds: dict[str, list[tuple[tuple[int, int, int], int, str, frozenset[str], str, Style]]] = {}
        self.count = 0
        for sheet in sheets:
            self._read(_drop_comments(sheet).replace("<!--", " ").replace("-->", " "))

    def _read(self, sheet: str) -> None:
        for block in sheet.split("}"):
            selectors, brace, body = block.partition("{")
            if not brace:
                continue
            style = read_declarations(body.rpartition("{")[2])
            for selector in selectors.split(","):
                self.count += 1
                match = _SELECTOR.fullmatch(selector.strip())
                if not match or not selector.strip() or "{" in body or self.count > MOST_RULES:
                    laying = _LAYING.search(body)
                    if laying:
                        raise Unsupported(
                            f"{NAME}: a style sheet with {laying.group().strip()!r} for {selector.strip()[:40]!r}; use attributes instead"
                        )
                    continue
                kind, classes, label = (
                    match["kind"] or "*",
                    frozenset(match["class"].split(".")[1:]),
                    (match["id"] or "")[1:],
                )
                weight = (int(bool(label)), len(classes), int(kind != "*"))
                key = f"#{label}" if label else (f".{min(classes)}" if classes else kind)
                self.kinds.setdefault(key, []).append((weight, self.count, kind, classes, label, style))

    def apply(self, kind: str, attributes: Mapping[str, str]) -> Style:
        """What the rules say of an element."""
        if not self.kinds:
            return {}
        classes, label = frozenset(attributes.get("class", "").split()), attributes.get("id", "")
        keys = [f"#{label}", kind, "*", *(f".{name}" for name in classes)]
        found = [
            rule
            for key in keys
            for rule in self.kinds.get(key, ())
            if rule[2] in ("*", kind) and rule[3] <= classes and rule[4] in ("", label)
        ]
        result: Style = {}
        for rule in sorted(found, key=lambda rule: rule[:2]):
            result.update(rule[5])
        return result


def read_style(kind: str, attributes: Mapping[str, str], rules: Rules) -> Style:
    """What an element says of itself."""
    found = {key: attributes[key].strip() for key in (*INHERITED, *OWN) if attributes.get(key, "").strip()}
    found.update(rules.apply(kind, attributes))
    found.update(read_declarations(attributes.get("style", "")))
    return found


def inherit(above: Style, own: Style) -> Style:
    """What is in force for an element: its own, and what its parents leave it."""
    found = {key: value for key, value in above.items() if key in INHERITED}
    found.update({key: value for key, value in own.items() if value.lower() != "inherit"})
    return found

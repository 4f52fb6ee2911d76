"""A document as a tree of elements: what `use` refers to may stand behind it. Attributes of other namespaces keep their full names."""

from xml.sax.saxutils import escape, quoteattr

from abut.contours.svg.markup import NAME, parse
from abut.core.errors import InvalidInput

NAMESPACE = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink}href"
MOST_ELEMENTS = 2**21
"""Of one document: about 1 GB while it is read."""


class Element:
    """One element: its name, `""` where it is of another namespace, its attributes, and what stands within it, in order."""

    __slots__ = ("attributes", "children", "kind")

    def __init__(self, kind: str, attributes: dict[str, str]) -> None:
        self.kind, self.attributes = kind, attributes
        self.children: list[Element | str] = []

    @property
    def reference(self) -> str:
        """What it refers to, less the `#`; empty where it refers to nothing of this document."""
        text = self.attributes.get("href", self.attributes.get(XLINK, "")).strip()
        return text[1:] if text.startswith("#") else ""

    @property
    def text(self) -> str:
        """All text directly within it."""
        return "".join(child for child in self.children if isinstance(child, str))


class _Builder:
    def __init__(self) -> None:
        self.root: Element | None = None
        self.open: list[Element] = []
        self.namespaces = {"", NAMESPACE}
        self.count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        space, _, kind = tag.rpartition("}")
        self.count += 1
        if self.count > MOST_ELEMENTS:
            raise InvalidInput(NAME, f"has more than {MOST_ELEMENTS} elements")
        if self.root is None:
            if kind != "svg":
                raise InvalidInput(NAME, f"the outermost element is <{kind[:40]}>, not <svg>")
            self.namespaces.add(space)
        element = Element(kind if space in self.namespaces else "", attributes)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def text(self, data: str) -> None:
        if self.open:
            self.open[-1].children.append(data)


def build_tree(source: bytes | str) -> Element:
    """The outermost element of a document."""
    builder = _Builder()
    parse(source, builder.start, builder.end, builder.text)
    assert builder.root is not None  # expat refuses a document without one
    return builder.root


def list_elements(root: Element) -> list[Element]:
    """All elements, in the document's order."""
    found, waiting = list[Element](), [root]
    while waiting:
        element = waiting.pop()
        found.append(element)
        waiting += [child for child in reversed(element.children) if isinstance(child, Element)]
    return found


def write_attributes(attributes: dict[str, str]) -> str:
    """Those of no namespace, and references, as markup."""
    own = {
        ("href" if key == XLINK else key): value for key, value in attributes.items() if "}" not in key or key == XLINK
    }
    return "".join(f" {key}={quoteattr(value)}" for key, value in own.items())


def write_element(element: Element) -> str:
    """The element with all that stands within it; without those that run anything, and without ids, which copies would repeat."""
    parts, waiting = list[str](), list[Element | str]([element])
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        if item.kind in ("script", ""):
            continue
        kept = {
            key: value for key, value in item.attributes.items() if not key.lower().startswith("on") and key != "id"
        }
        parts.append(f"<{item.kind}{write_attributes(kept)}>")
        waiting.append(f"</{item.kind}>")
        waiting += [escape(child) if isinstance(child, str) else child for child in reversed(item.children)]
    return "".join(parts)

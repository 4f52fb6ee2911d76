"""What is drawn of a document: element by element, with the transforms, sizes and looks of all that is around.

`use` draws what it refers to where it stands; symbols and drawings within the drawing have viewports of their own. What a viewer does not
draw is left out.
"""

import math
import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from abut.contours.curve.contour import Contour
from abut.contours.svg.markup import NAME, read_bytes
from abut.contours.svg.paths import MOST_SEGMENTS, Subpath
from abut.contours.svg.shapes import SHAPES, NoSize, trace_shape
from abut.contours.svg.styles import MOVING, SIZES, Rules, Style, inherit, read_style
from abut.contours.svg.transforms import combine, parse_transform, translation
from abut.contours.svg.tree import Element, build_tree, list_elements
from abut.contours.svg.units import Root, Viewport, fit_view_box, read_length, read_view_box
from abut.core.arrays import LARGEST_COORDINATE, Floats
from abut.core.errors import InvalidInput, Unsupported
from abut.core.types import PathLike

_NOT_DRAWN = {
    "", "defs", "clipPath", "mask", "symbol", "pattern", "marker", "linearGradient", "radialGradient", "meshgradient", "filter", "font",
    "glyph", "missing-glyph", "cursor", "view", "metadata", "title", "desc", "script", "style", "foreignObject", "solidColor", "hatch",
}  # fmt: skip
_PAINTED = ("text", "image")
_CONTAINERS = ("g", "a", "svg", "switch", "symbol")
INKSCAPE = "http://www.inkscape.org/namespaces/inkscape}"
SHEET_MARK = "data-abut"
"""An attribute of what shows the sheet in a layout of ours: it is no piece when the layout is read again."""
MOST_REPEATED = 2**18
"""Elements that `use` draws again, all together."""
MOST_USES = 64
"""Elements that `use` draws within one another."""


class Drawn(NamedTuple):
    """One element that is drawn."""

    element: Element
    name: str
    """what errors call it"""
    label: str
    """its id, or of an element that `use` draws without an id that of the `use`"""
    layer: str
    style: Style
    """all that is in force for it"""
    matrix: Floats
    """(3,3) from its own coordinates to the user units of the document"""
    subpaths: list[Subpath]
    """in its own coordinates; none for text and images"""
    anchor: tuple[float, float]
    """where text begins or the middle of an image, in its own coordinates"""


class _Frame(NamedTuple):
    """What is around an element."""

    matrix: Floats
    style: Style
    viewport: Viewport
    layer: str
    label: str
    uses: tuple[Element, ...]
    """elements that are being drawn for `use`, from the outermost"""


def name_of(element: Element) -> str:
    """What errors call an element: one line, of any id."""
    shown = "".join(c if c.isprintable() else "?" for c in element.attributes.get("id", "")[:60])
    return f"<{element.kind}" + (f' id="{shown}"' if shown else "") + ">"


def _layer_of(element: Element, above: str, depth: int) -> str:
    """Inkscape's layers by their labels; groups at the top of a drawing by their ids, as Illustrator writes layers."""
    if element.kind != "g":
        return above
    if element.attributes.get(f"{INKSCAPE}groupmode") == "layer":
        return element.attributes.get(f"{INKSCAPE}label") or element.attributes.get("id", "")
    return above or (element.attributes.get("id", "") if depth == 1 else "")


class Walk:
    """Goes through a document, and yields what is drawn of it."""

    def __init__(
        self, root: Element, lost: Callable[[str, str], None] | None, matrix: Floats, viewport: Viewport
    ) -> None:
        """`lost` is told what cannot be read and why; without it the document is refused."""
        every = list_elements(root)
        self.root, self.lost, self.matrix, self.viewport = root, lost, matrix, viewport
        self.rules = Rules([element.text for element in every if element.kind == "style"])
        self.by_id: dict[str, Element] = {}
        for element in every:
            label = element.attributes.get("id", "")
            if label:
                self.by_id.setdefault(label, element)
        self.count, self.most, self.segments = 0, len(every) + MOST_REPEATED, 0

    def __iter__(self) -> Iterator[Drawn]:
        waiting = [(self.root, _Frame(self.matrix, {}, self.viewport, "", "", ()))]
        while waiting:
            element, frame = waiting.pop()
            self.count += 1
            if self.count > self.most:
                raise InvalidInput(NAME, f"draws more than {MOST_REPEATED} elements again by <use>")
            style = read_style(element.kind, element.attributes, self.rules)
            if not self._is_drawn(element, frame, style):
                continue
            inner = self._enter(element, frame, style)
            is_visible = inner.style.get("visibility", "").lower() not in ("hidden", "collapse")
            if element.kind in SHAPES:
                if is_visible:
                    yield self._trace(element, inner)
            elif element.kind in _PAINTED:
                if is_visible:
                    yield self._anchor(element, inner)
            elif element.kind == "use":
                target = self._follow(element, inner, is_visible)
                waiting += [] if target is None else [target]
            else:
                children = [child for child in element.children if isinstance(child, Element)]
                if element.kind == "switch":
                    children = self._choose(children)
                waiting += [(child, inner) for child in reversed(children)]

    def _is_drawn(self, element: Element, frame: _Frame, style: Style) -> bool:
        is_used = bool(frame.uses) and frame.uses[-1] is element
        if element.kind in _NOT_DRAWN and not (is_used and element.kind == "symbol"):
            return False
        return style.get("display", "").lower() != "none" and element.attributes.get(SHEET_MARK) != "sheet"

    @staticmethod
    def _choose(children: list[Element]) -> list[Element]:
        """Of a switch's children, the first that needs nothing special."""
        for child in children:
            if (
                not child.attributes.get("requiredExtensions")
                and "systemLanguage" not in child.attributes
                and child.kind not in _NOT_DRAWN
            ):
                return [child]
        return []

    def _enter(self, element: Element, frame: _Frame, style: Style) -> _Frame:
        name, matrix, viewport = name_of(element), frame.matrix, frame.viewport
        is_root = element is self.root and not frame.uses
        if moving := sorted((MOVING | SIZES if element.kind in SHAPES else MOVING).intersection(style)):
            raise Unsupported(f"{name}: {moving[0]} in its style")
        text = element.attributes.get("transform", "")
        if text.strip() and not is_root:
            own = np.vstack([parse_transform(text, f"{name} transform"), (0.0, 0.0, 1.0)])
            matrix = combine(matrix, own, f"{name} transform")
        if element.kind in ("svg", "symbol") and not is_root:
            matrix, viewport = self._open_viewport(element, matrix, viewport, name, frame.uses)
        label = element.attributes.get("id", "")
        if frame.uses and (not label or element.kind == "symbol"):
            label = frame.label or label
        layer = _layer_of(element, frame.layer, 1 if frame.matrix is self.matrix and not frame.layer else 2)
        return _Frame(matrix, inherit(frame.style, style), viewport, layer, label, frame.uses)

    def _open_viewport(
        self, element: Element, matrix: Floats, viewport: Viewport, name: str, uses: tuple[Element, ...]
    ) -> tuple[Floats, Viewport]:
        attributes = dict(element.attributes)
        if len(uses) > 1 and uses[-1] is element:  # the `use` that draws it may say its size
            attributes.update(
                {key: uses[-2].attributes[key] for key in ("width", "height") if key in uses[-2].attributes}
            )
        x, y = (
            read_length(attributes.get(key, "0") or "0", f"{name} {key}", viewport, axis)
            for axis, key in enumerate("xy")
        )
        matrix = combine(matrix, translation(x, y), f"{name} x, y")
        width, height = (
            viewport[axis]
            if attributes.get(key, "auto").strip() == "auto"
            else read_length(attributes[key], f"{name} {key}", viewport, axis)
            for axis, key in enumerate(("width", "height"))
        )
        box = read_view_box(attributes, name)
        if box is None:
            return matrix, (width, height)
        if width <= 0.0 or height <= 0.0:
            raise InvalidInput(name, f"its viewport is {width:g} × {height:g}")
        return combine(matrix, fit_view_box(attributes, box, width, height, name), f"{name} viewBox"), (box[2], box[3])

    def _follow(self, element: Element, frame: _Frame, is_visible: bool) -> tuple[Element, _Frame] | None:
        """What `use` draws, and where."""
        name, target = name_of(element), self.by_id.get(element.reference)
        if target is None or target in frame.uses or len(frame.uses) >= 2 * MOST_USES:
            if is_visible:
                reason = (
                    "refers to nothing in the document"
                    if target is None
                    else "draws itself, or too many within one another"
                )
                if self.lost is None:
                    raise Unsupported(f"{name}: {reason}")
                self.lost(name, reason)
            return None
        x, y = (
            read_length(element.attributes.get(key, "0") or "0", f"{name} {key}", frame.viewport, axis)
            for axis, key in enumerate("xy")
        )
        matrix = combine(frame.matrix, translation(x, y), f"{name} x, y")
        return target, frame._replace(matrix=matrix, uses=(*frame.uses, element, target))

    def _trace(self, element: Element, frame: _Frame) -> Drawn:
        name = name_of(element)
        try:
            subpaths = trace_shape(element.kind, element.attributes, name, frame.viewport)
        except NoSize as error:
            if self.lost is None:
                raise
            self.lost(name, error.reason)
            subpaths = []
        self.segments += sum(len(subpath.segments) for subpath in subpaths)
        if self.segments > MOST_SEGMENTS:
            raise InvalidInput(NAME, f"has more than {MOST_SEGMENTS} segments")
        return Drawn(element, name, frame.label, frame.layer, frame.style, frame.matrix, subpaths, (0.0, 0.0))

    def _anchor(self, element: Element, frame: _Frame) -> Drawn:
        """Text where it begins, an image at its middle."""
        name, found = name_of(element), list[float]()
        holder = element
        if element.kind == "text" and "x" not in element.attributes:
            holder = next(
                (c for c in element.children if isinstance(c, Element) and c.kind == "tspan" and "x" in c.attributes),
                element,
            )
        for axis, (key, size) in enumerate((("x", "width"), ("y", "height"))):
            words = holder.attributes.get(key, "0").replace(",", " ").split() or ["0"]
            value = read_length(words[0], f"{name} {key}", frame.viewport, axis)
            if element.kind == "image":
                value += 0.5 * read_length(
                    element.attributes.get(size, "0").replace("auto", "0") or "0",
                    f"{name} {size}",
                    frame.viewport,
                    axis,
                )
            found.append(value)
        return Drawn(element, name, frame.label, frame.layer, frame.style, frame.matrix, [], (found[0], found[1]))


def place(points: Floats, matrix: Floats, name: str) -> Floats:
    """Points of an element in coordinates of the document."""
    placed = points @ matrix[:2, :2].T + matrix[:2, 2]
    if not np.abs(placed).max(initial=0.0) <= LARGEST_COORDINATE:
        raise InvalidInput(name, f"its outline is beyond ±{LARGEST_COORDINATE:g}")
    return placed


def read_tree(source: PathLike) -> Element:
    """The document of a file, or of a text that begins with "<"."""
    if not isinstance(source, str | os.PathLike):
        raise InvalidInput("source", f"is a {type(source).__name__}, expected a path or the text of a document")
    content: str | bytes = source.lstrip("\ufeff \t\r\n") if isinstance(source, str) else ""
    return build_tree(content if content.startswith("<") else read_bytes(source))


def read(source: PathLike) -> list[Contour]:
    """Every closed outline of an SVG document, in its order.

    Coordinates are those of the document's user units, y down as SVG has it. `abut.contours.drawings.read` reads pieces in millimetres,
    with their holes and marks.

    Args:
        source: a file, or the text itself where it begins with "<".

    Returns:
        One contour per subpath, named after its element's id.

    Raises:
        InvalidInput: what is no SVG drawing, or one without any closed outline, or with an open one.
        Unsupported: what would be lost or have a wrong size, by name.

    Examples:
        >>> from abut.contours import svg
        >>> svg.read('<svg><rect id="tile" width="2" height="1"/><path id="tip" d="M5 0h1v1z"/></svg>')
        [Contour('tile', 4 segments), Contour('tip', 3 segments)]
    """
    root, found = read_tree(source), list[Contour]()
    viewport = Root(root.attributes, NAME, None).viewport
    for drawn in Walk(root, None, np.eye(3), viewport):
        for segments, is_closed, began in drawn.subpaths:
            if not is_closed:
                away = math.hypot(*(segments[-1, 3] - segments[0, 0]))
                where = f"character {began}: " if drawn.element.kind == "path" else ""
                raise InvalidInput(drawn.name, f"{where}the subpath is open, it ends {away:.3g} from where it began")
            try:
                found.append(Contour.from_segments(place(segments, drawn.matrix, drawn.name), name=drawn.label))
            except InvalidInput as error:
                raise InvalidInput(drawn.name, f"its outline {error.reason}") from error
    if not found:
        raise InvalidInput(NAME, "holds no closed outline")
    return found

"""How things show themselves: one short line in a console, a small picture or table in a notebook. Offline: everything is in the text itself."""

import base64
import html
from collections.abc import Iterable, Sequence

ROWS_SHOWN = 8
"""Of a result: the others are counted below the table."""


def describe(thing: object, *facts: str) -> str:
    """`Name(fact, fact)`: the text of a `__repr__`. Facts are counts and sizes, never arrays."""
    return f"{type(thing).__name__}({', '.join(facts)})"


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 face`, `2 faces`, `12,000 faces`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def table_html(caption: str, names: Sequence[str], columns: Sequence[Iterable[object]], total: int) -> str:
    """A table of the first rows of a result, one column per name, under a caption; `total` rows are there in all."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    rows = [row for row, _ in zip(zip(*columns, strict=False), range(ROWS_SHOWN), strict=False)]
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in rows)
    more = f"<p>… and {total - len(rows):,} more</p>" if total > len(rows) else ""
    return f"<div><p>{html.escape(caption)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"


def picture_html(caption: str, png: bytes) -> str:
    """A picture under its caption, as one element without a link to any file."""
    source = base64.b64encode(png).decode("ascii")
    return f'<figure><img src="data:image/png;base64,{source}" alt="{html.escape(caption)}"/><figcaption>{html.escape(caption)}</figcaption></figure>'


def svg_html(caption: str, svg: str) -> str:
    """A drawing, the text of an <svg> element, under its caption."""
    return f"<figure>{svg}<figcaption>{html.escape(caption)}</figcaption></figure>"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return html.escape("(" + ", ".join(f"{x:.4g}" if isinstance(x, float) else str(x) for x in value) + ")")
    return html.escape(str(value))

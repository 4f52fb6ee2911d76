"""One line in a console, one element in a notebook, and no link to anything."""

import pytest

from abut.core.showing import ROWS_SHOWN, count, describe, picture_html, svg_html, table_html


class Thing:
    def __repr__(self):
        return describe(self, count(1, "face"), count(12_000, "vertex", "vertices"))


def test_a_thing_is_its_name_and_its_counts():
    assert repr(Thing()) == "Thing(1 face, 12,000 vertices)"


def test_a_table_has_its_first_rows_and_counts_the_others():
    rows = list(range(ROWS_SHOWN + 4))
    text = table_html("many <b>", ("number", "point"), (rows, [(0.5, 1.0 / 3.0)] * len(rows)), len(rows))
    assert text.count("<tr>") == 1 + ROWS_SHOWN
    assert "many &lt;b&gt;" in text
    assert "(0.5, 0.3333)" in text
    assert "and 4 more" in text
    assert "more" not in table_html("few", ("number",), ([1, 2],), 2)


@pytest.mark.parametrize("text", [svg_html("a & b", "<svg/>"), picture_html("a & b", b"png")])
def test_a_picture_has_its_caption_and_no_link(text):
    assert text.startswith("<figure>")
    assert "a &amp; b" in text
    assert "http" not in text

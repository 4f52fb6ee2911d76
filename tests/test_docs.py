"""The Python blocks of README.md and of the documentation run, and print what their comments say.

A line `print(…)  # text` must print that text, and nothing else prints. The blocks of a page share their names.
"""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(path for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^\s*print\(.*\)  # (?P<text>.*)$", re.MULTILINE)


def blocks_of(path):
    return BLOCK.findall(path.read_text(encoding="utf-8"))


WITH_CODE = [path for path in PAGES if blocks_of(path)]


def test_start_pages_have_code():
    assert {"README.md", "index.md", "bodies.md"} <= {path.name for path in WITH_CODE}


@pytest.mark.large  # interpreted, meshes of thousands of faces take minutes
@pytest.mark.parametrize("path", WITH_CODE, ids=lambda path: path.name)
def test_blocks_run_and_print_what_they_say(path):
    names, checked = {}, 0
    for block in blocks_of(path):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block, path.name, "exec"), names)
        expected = [match["text"] for match in PRINTED.finditer(block)]
        assert out.getvalue().splitlines() == expected
        checked += len(expected)
    assert checked > 0

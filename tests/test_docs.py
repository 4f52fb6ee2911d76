"""The documentation is true: its blocks run, what it names exists, all that is public is shown, each picture tells how it was made.

Of a Python block, a line `print(…)  # text` must print that text, and nothing else prints. The blocks of a page share their names.
"""

import contextlib
import io
import re

import pytest

from docs_names import PAGES, ROOT, is_there, missing_on
from docs_references import found_by, is_shown, references
from public_surface import PARTS, home_of

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


# --- names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_exists(page):
    """Files, modules, constants, attributes, options and commands in backticks."""
    missing = missing_on(page)
    assert not missing, f"{page.relative_to(ROOT)} names what is not there: {', '.join(missing)}"


@pytest.mark.parametrize(
    "name",
    [
        "core/gone.py", "core/gone/", "gone.py", "gone.md", "GONE", "GONE=1", "NUMBA_GONE=1", "abut.gone", "abut.core.jit.gone", "jit.gone",
        "World.gone", "world.gone(1)", "gone_name", "gone_name(1)", "body.gone_name", "abut gone", "abut bench gone", "abut check --gone", "--gone",
        "make gone", "python examples/gone.py", "python examples/surgery.py --gone", "pytest tests/gone", "abut.gone/1",
    ],
)  # fmt: skip
def test_a_name_that_is_gone_is_noticed(name):
    assert not is_there(name)


@pytest.mark.parametrize(
    "name",
    [
        "core/jit.py", "docs/check.md", "surgery.py", "CONTRIBUTING.md", "NUMBA_DISABLE_JIT=1", "ABUT_SOAK=1 pytest tests/core", "abut.collide",
        "abut.core.jit.thread_count()", "jit.kernel", "World.step", "world.step(dt)", "Mesh.edges", "frame_count", "body.update(vertices)", "x = 3",
        "abut bench NAME", "abut check frames/ --html report.html", "--min-distance D", "make test-part PART=convex", "out.svg", "abut.check/1",
    ],
)  # fmt: skip
def test_a_name_that_is_there_is_found(name):
    assert is_there(name)


# --- references


@pytest.mark.parametrize("part", PARTS)
def test_everything_public_stands_on_a_page(part):
    """As `::: abut.contours.nest`, by the path that users import; a module stands for its members."""
    missing = [f"{part}.{name}" for name, value in home_of(part) if not is_shown(value)]
    assert not missing, f"on no page of docs/: {', '.join(missing)}"


def test_references_lead_somewhere():
    assert [f"{page}: {path}" for page, path, _ in references() if not found_by(path)] == []


# --- the gallery

PICTURE = re.compile(r"\[!\[[^]]+\]\(pictures/([\w-]+\.(?:svg|png))\)\]\(scripts\.md#([\w-]+)\)\n\n[^\n]*`([^`]+)`\n")
SCRIPT = re.compile(r"^## (\S+)\n\n`([^`]+)`\n\n``` \{ \.py \}\n--8<-- \"([^\"]+)\"\n```$", re.MULTILINE)


def test_each_picture_of_the_gallery_links_to_the_script_that_made_it():
    """Which stands in scripts.md, is there, and is what the command below the picture runs."""
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    scripts = {
        title: path for title, _, path in SCRIPT.findall((ROOT / "docs" / "scripts.md").read_text(encoding="utf-8"))
    }
    pictures = PICTURE.findall(text)
    assert len(pictures) == text.count("![") > 0
    for picture, anchor, command in pictures:
        assert (ROOT / "docs" / "pictures" / picture).is_file()
        assert (ROOT / scripts[anchor]).is_file()
        assert is_there(command), command
        name = re.search(r"examples/(\w+)\.py|abut bench ([\w-]+)", command)
        assert scripts[anchor] == (name[0] if name[1] else f"benchmarks/{name[2].replace('-', '_')}.py")


def test_each_script_is_named_by_its_path():
    text = (ROOT / "docs" / "scripts.md").read_text(encoding="utf-8")
    scripts = SCRIPT.findall(text)
    assert len(scripts) == text.count("--8<--") > 0
    for title, path, included in scripts:
        assert path == included
        assert title == included.rpartition("/")[2].removesuffix(".py").replace("_", "-")


def test_every_picture_is_shown():
    shown = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [path.name for path in (ROOT / "docs" / "pictures").iterdir() if f"pictures/{path.name}" not in shown] == []

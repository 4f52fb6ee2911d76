import ast
import contextlib
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from abut.core import jit
from abut.core.compiling import cache_root, sources

PACKAGE = cache_root.PACKAGE

pytestmark = pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled when interpreted")


def copy_package(target: Path) -> Path:
    """A package of core/jit.py, what it imports, and two small modules: a caller, and its callee in another file."""
    (target / "abut" / "core").mkdir(parents=True)
    for folder in ("abut", "abut/core"):
        (target / folder / "__init__.py").write_text("")
    for name in ("jit.py", "errors.py"):
        shutil.copy(PACKAGE / "core" / name, target / "abut" / "core")
    shutil.copytree(
        PACKAGE / "core" / "compiling",
        target / "abut" / "core" / "compiling",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (target / "abut" / "callee.py").write_text(
        "from abut.core.jit import element\n\n@element\ndef answer(x):\n    return x + 1.0\n"
    )
    (target / "abut" / "caller.py").write_text(
        "from abut.callee import answer\nfrom abut.core.jit import kernel\n\n@kernel\ndef ask(x):\n    return answer(x)\n"
    )
    return target


ASK = """
import abut.caller
from abut.core import jit
compiled = []
with jit.compiling(compiled.append):
    from abut.caller import ask
    print(ask(1.0))
print(jit.cache_folder(abut.caller.__file__))
print(",".join(compiled))
"""


def run(code: str, root: Path, **environment: str) -> list[str]:
    env = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES")}
    env.update(PYTHONPATH=str(root), **environment)
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_edited_callee_is_never_run_stale(tmp_path):
    root = copy_package(tmp_path)
    value, folder, compiled = run(ASK, root)
    assert float(value) == 2.0
    assert {"ask", "answer"} == set(compiled.split(","))
    callee = root / "abut" / "callee.py"
    before = callee.stat()
    callee.write_text(callee.read_text().replace("x + 1.0", "x + 5.0"))
    os.utime(callee, ns=(before.st_atime_ns, before.st_mtime_ns))  # not even the time of change tells
    value, other_folder, _ = run(ASK, root)
    assert float(value) == 6.0
    assert other_folder != folder


def test_an_edit_elsewhere_compiles_nothing_again(tmp_path):
    root = copy_package(tmp_path)
    first = run(ASK, root)
    (root / "abut" / "stranger.py").write_text("from abut.caller import ask\n")
    (root / "abut" / "__init__.py").write_text("# a comment\n")
    assert run(ASK, root) == [*first[:2], ""]


def test_comments_docstrings_and_annotations_compile_nothing_again(tmp_path):
    root = copy_package(tmp_path)
    first = run(ASK, root)
    callee = root / "abut" / "callee.py"
    callee.write_text(
        '"""A module."""\nfrom abut.core.jit import element\n\n\n# A comment that moves everything down.\n@element\n'
        'def answer(x: float) -> float:\n    """A docstring."""\n    return (x  # and one more\n            + 1.0)\n'
    )
    assert run(ASK, root) == [*first[:2], ""]


def test_whatever_else_is_edited_changes_the_meaning():
    text = "LIMIT = 1.0\n\ndef f(x, y=2):\n    return x + LIMIT * y\n\nclass Box:\n    side: float = 1.0\n"
    edits = (
        ("1.0\n\ndef", "2.0\n\ndef"), ("y=2", "y=3"), ("x + ", "x - "), ("LIMIT * y", "y * LIMIT"), ("side", "size"),
        (": float = 1.0", ": int = 1.0"), ("def f", "@jit\ndef f"), ("return x", "x = 'text'\n    return x"),
    )  # fmt: skip
    meanings = {sources.meaning(text.replace(*edit, 1).encode()) for edit in [("", ""), *edits]}
    assert len(meanings) == 1 + len(edits)


def test_no_two_functions_of_a_file_share_a_name():
    """Compiled code is told apart by name, within a file. The signatures of an overload are no code."""
    for path, text in sources.read_sources().items():
        functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
        names = [node.name for node in functions if "overload" not in map(ast.unparse, node.decorator_list)]
        assert len(names) == len(set(names)), path


def test_the_table_of_meanings_may_be_anything(tmp_path):
    """Cut short, of another form, or not to be written: what it would tell is worked out."""
    root, chosen = copy_package(tmp_path / "package"), tmp_path / "chosen"
    first = run(ASK, root, NUMBA_CACHE_DIR=str(chosen))
    (table,) = chosen.glob("meanings-*.json")
    for content in ("", "{", "[]", '{"a": "b"}'):
        table.write_text(content)
        assert run(ASK, root, NUMBA_CACHE_DIR=str(chosen)) == [*first[:2], ""]
    table.unlink()
    table.mkdir()
    assert run(ASK, root, NUMBA_CACHE_DIR=str(chosen)) == [*first[:2], ""]
    assert [path.name for path in chosen.iterdir() if path.name.startswith("meanings")] == [table.name]


def test_an_implementation_that_the_caller_does_not_import_is_reached(tmp_path):
    root = copy_package(tmp_path)
    package = root / "abut"
    (package / "question.py").write_text(
        "from abut.core.jit import generic\n\n@generic\ndef size(box):\n    raise NotImplementedError\n"
    )
    (package / "answer.py").write_text(
        "from typing import NamedTuple\n\nfrom abut.core.jit import implement\nfrom abut.question import size\n\n"
        "class Box(NamedTuple):\n    side: float\n\n@implement(size, Box)\ndef size_box(box):\n    return box.side\n"
    )
    (package / "caller.py").write_text(
        "from abut.question import size\nfrom abut.core.jit import kernel\n\n@kernel\ndef ask(box):\n    return size(box)\n"
    )
    code = "from abut.answer import Box\nfrom abut.caller import ask\nprint(ask(Box(3.0)))"
    assert run(code, root) == ["3.0"]
    (package / "answer.py").write_text((package / "answer.py").read_text().replace("box.side\n", "2.0 * box.side\n"))
    assert run(code, root) == ["6.0"]


def test_every_form_of_import_is_followed():
    """Python's own parser finds no import statement that the reading of the text has passed over."""
    for path, text in sources.read_sources().items():
        named = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "abut":
                assert not node.level
                module = node.module.partition(".")[2]
                named.update(
                    sources._file_of(f"{module}.{a.name}".lstrip(".")) or sources._file_of(module) for a in node.names
                )
            elif isinstance(node, ast.Import):
                names = [a.name for a in node.names if a.name.split(".")[0] == "abut"]
                named.update(sources._file_of(name.partition(".")[2]) for name in names)
        assert sources._imported(path) == named, path


def test_locators_of_the_user_do_not_bring_stale_code_back(tmp_path):
    root = copy_package(tmp_path)
    locators = {"NUMBA_CACHE_LOCATOR_CLASSES": "InTreeCacheLocator"}
    assert float(run(ASK, root, **locators)[0]) == 2.0
    callee = root / "abut" / "callee.py"
    callee.write_text(callee.read_text().replace("x + 1.0", "x + 5.0"))
    assert float(run(ASK, root, **locators)[0]) == 6.0


def test_second_process_compiles_nothing(tmp_path):
    root = copy_package(tmp_path)
    first = run(ASK, root)
    second = run(ASK, root)
    assert second[:2] == first[:2]
    assert second[2] == ""


def test_cache_folder_can_be_chosen(tmp_path):
    root = copy_package(tmp_path / "package")
    chosen = tmp_path / "chosen"
    assert Path(run(ASK, root, NUMBA_CACHE_DIR=str(chosen))[1]).parent == chosen


def test_bounds_checked_code_is_kept_apart(tmp_path):
    root = copy_package(tmp_path)
    assert run(ASK, root)[1] != run(ASK, root, NUMBA_BOUNDSCHECK="1")[1]


def test_read_only_installation_uses_the_users_folder(tmp_path):
    root = copy_package(tmp_path / "package")
    package = root / "abut"
    # A file in the place of __pycache__ refuses writing even to root, whom permissions do not stop.
    shutil.rmtree(package / "__pycache__", ignore_errors=True)
    (package / "__pycache__").write_text("")
    package.chmod(stat.S_IRUSR | stat.S_IXUSR)
    home = tmp_path / "home"
    try:
        value, folder, _ = run(
            ASK, root, HOME=str(home), XDG_CACHE_HOME=str(home / "cache"), PYTHONDONTWRITEBYTECODE="1"
        )
        assert float(value) == 2.0
        assert home in Path(folder).parents
        assert run(ASK, root, HOME=str(home), XDG_CACHE_HOME=str(home / "cache"), PYTHONDONTWRITEBYTECODE="1")[2] == ""
    finally:
        package.chmod(stat.S_IRWXU)


def test_nothing_writable_still_computes(tmp_path):
    root = copy_package(tmp_path / "package")
    shutil.rmtree(root / "abut" / "__pycache__", ignore_errors=True)
    (root / "abut" / "__pycache__").write_text("")
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    code = (
        f"from pathlib import Path; from abut.core.compiling import cache_root as c; blocked = Path({str(blocked)!r}); "
        "c.user_cache_folder = lambda: blocked / 'a'; c.tempfile.gettempdir = lambda: str(blocked / 'b'); "
        "assert c.cache_root() is None; "
        "from abut.caller import ask; print(ask(1.0))"
    )
    assert float(run(code, root)[0]) == 2.0


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners and modes of folders are those of POSIX")
def test_the_folder_in_the_temporary_directory_is_the_users_alone(tmp_path):
    """An index is a pickle: who can write it runs code as its reader."""
    shared = tmp_path / "tmp"
    shared.mkdir()
    place = shared / f"abut-cache-{os.getuid()}"
    code = (
        f"from pathlib import Path; from abut.core.compiling import cache_root as c; c.tempfile.gettempdir = lambda: {str(shared)!r}; "
        "c.PACKAGE = Path('/dev/null'); c.user_cache_folder = lambda: Path('/dev/null/none'); print(c.cache_root())"
    )
    assert run(code, PACKAGE.parent) == [str(place)]
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    for mode in (0o770, 0o702, 0o755):
        place.chmod(mode)
        assert run(code, PACKAGE.parent) == ["None"]
    place.rmdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    place.symlink_to(elsewhere)
    assert run(code, PACKAGE.parent) == ["None"]
    place.unlink()
    if os.getuid() == 0:
        place.mkdir(mode=0o700)
        os.chown(place, 12345, -1)
        assert run(code, PACKAGE.parent) == ["None"]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners and modes of folders are those of POSIX")
def test_a_cache_folder_that_others_may_write_is_passed_over(tmp_path):
    package, home = tmp_path / "package", tmp_path / "home"
    (package / "__pycache__").mkdir(parents=True)
    (package / "__pycache__").chmod(0o777)
    home.mkdir(mode=0o700)
    code = (
        f"from pathlib import Path; from abut.core.compiling import cache_root as c; c.PACKAGE = Path({str(package)!r}); "
        f"c.user_cache_folder = lambda: Path({str(home)!r}); print(c.cache_root())"
    )
    assert run(code, PACKAGE.parent) == [str(home)]


def test_import_compiles_nothing():
    code = (
        "from numba.core import event\n"
        "with event.install_recorder('numba:compile') as recorder:\n    from abut import *\n"
        "print(len(recorder.buffer))"
    )
    assert run(code, PACKAGE.parent) == ["0"]


def test_unused_folders_are_removed(tmp_path):
    old, recent, foreign = (tmp_path / name for name in ("abut-0", "abut-1", "other"))
    for folder in (old, recent, foreign):
        folder.mkdir()
    os.utime(old, (0, 0))
    os.utime(foreign, (0, 0))
    cache_root.remove_unused(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["abut-1", "other"]


def test_few_things_run_on_one_thread():
    before = numba.get_num_threads()
    with jit.threads_for(jit.WORK_FOR_THREADS - 1):
        assert numba.get_num_threads() == 1
    assert numba.get_num_threads() == before
    with jit.threads_for(9, least=10):
        assert numba.get_num_threads() == 1
    with jit.threads_for(jit.WORK_FOR_THREADS):
        assert numba.get_num_threads() == before
    with contextlib.suppress(ZeroDivisionError), jit.threads_for(0):
        raise ZeroDivisionError
    assert numba.get_num_threads() == before


@jit.element
def _shift(values, i):
    return values[i] + i


@jit.kernel
def _shift_thrice(values, i):
    return _shift(values, 0) + _shift(values, 1) + _shift(values, i)


def test_an_integer_in_the_text_is_no_type_of_its_own():
    """One form of the callee serves them all; but a tuple of several types needs to know which of them is meant."""
    assert _shift_thrice((1.0, 2.0, 3.0), 2) == 1.0 + 3.0 + 5.0
    _shift_thrice.recompile()  # it may have come from disk, where nobody asked for its callee
    assert len(_shift._inner.signatures) == 1

    @jit.element
    def second(pair, i):
        return pair[i]

    @jit.kernel
    def take(x):
        return second((x, True), 0) + second((x, True), 1)

    assert take(2.5) == 3.5


@pytest.mark.skipif(jit.INTERPRETED or sys.platform == "win32", reason="nothing is kept, or no file can be locked")
def test_indexes_are_written_by_one_process_at_a_time():
    """Two that read the same index would take the same name for two signatures."""
    from abut.core.compiling.code_cache import held

    code = f"from abut.core.compiling.code_cache import held\nwith held({__file__!r}, 'index of f'): print('in', flush=True)"
    with held(__file__, "index of g"):
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=120)
    with held(__file__, "index of f"):
        other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        with pytest.raises(subprocess.TimeoutExpired):
            other.communicate(timeout=5)
    assert other.communicate(timeout=120)[0] == "in\n"

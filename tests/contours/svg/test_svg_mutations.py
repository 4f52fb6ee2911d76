"""Whatever a file, a text or path data hold: contours come out, or `InvalidInput` or `Unsupported`; from the command line, one line and code 2."""

import sys

import numpy as np
import pytest

from abut import InvalidInput, Unsupported, contours
from abut.app import cli
from abut.contours import Contour, svg
from abut.core import jit
from conftest import SOAK
from contours.svg.svg_mutations import SEEDS, mutated_document, mutated_path

BLOCK = 10 if jit.INTERPRETED else 500
BLOCKS = 400 if SOAK else 1
"""200,000 documents with ABUT_SOAK."""


def outcome(read, source):
    """Contours, or None where the source was refused."""
    try:
        found = read(source)
    except (InvalidInput, Unsupported):
        return None
    except Exception as error:
        raise AssertionError(f"{read.__name__}({source!r}) raises {error!r}") from error
    for contour in found if isinstance(found, list) else [found]:
        assert isinstance(contour, Contour), source
        assert np.isfinite(contour.segments).all(), source
        np.testing.assert_array_equal(contour.segments[:, 3], np.roll(contour.segments[:, 0], -1, axis=0))
    return found


def test_the_documents_that_are_mutated_are_sound():
    assert [len(svg.read(text)) for text in SEEDS] == [3, 3, 2, 3, 2]


@pytest.mark.parametrize("block", range(BLOCKS))
def test_mutated_files_are_read_or_refused_by_name(tmp_path, block):
    rng, file, read = np.random.default_rng([21, block]), tmp_path / "drawing.svg", 0
    for _ in range(BLOCK):
        data = mutated_document(rng)
        file.write_bytes(data)
        found = outcome(svg.read, file)
        read += found is not None
        text = data.decode("latin-1")
        if text.startswith("<"):
            outcome(svg.read, text)
    assert BLOCK // 20 <= read <= BLOCK - BLOCK // 20, read


@pytest.mark.parametrize("block", range(BLOCKS))
def test_mutated_paths_are_read_or_refused_by_name(block):
    rng = np.random.default_rng([22, block])
    read = sum(outcome(Contour.from_svg, mutated_path(rng)) is not None for _ in range(BLOCK))
    assert read >= BLOCK // 50, read


@pytest.mark.large
@pytest.mark.parametrize("block", range(BLOCKS // 8 + 1))
def test_mutated_files_on_the_command_line_are_nested_or_refused_in_one_line(tmp_path, monkeypatch, capsys, block):
    """Short of SOAK the search itself is left out: a drawing that is read counts as nested."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    if not SOAK:
        monkeypatch.setattr(contours, "nest", lambda *arguments, **options: (_ for _ in ()).throw(KeyboardInterrupt))
    rng, seen = np.random.default_rng([23, block]), set()
    for _ in range(50):
        (tmp_path / "drawing.svg").write_bytes(mutated_document(rng))
        monkeypatch.setattr(sys, "argv", ["abut", "nest", "drawing.svg", "--sheet", "x20", "--time", "0.01"])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        _, errors = capsys.readouterr()
        code = caught.value.code
        assert "Traceback" not in errors
        if code == 2:
            assert errors.startswith("abut: ")
            assert errors.count("\n") == 1
        seen.add(code)
    assert seen == ({0, 2} if SOAK else {2, 130})

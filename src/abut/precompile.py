"""`python -m abut.precompile [FOLDER]`: compile what users ask for, for the baseline processor, into a folder that travels in a wheel.

Without a folder, into the package (`PREBUILT` of `core.compiling.cache_root`). Kept is what Python calls, as machine code; what only compiled
functions call is part of it already. Beside it lies what each source means (`core.compiling.sources`), so that nobody has to parse them again.
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from abut.app.warming import Stage, compile_ahead
from abut.core.compiling.baseline import BASELINE
from abut.core.compiling.cache_root import FOLDER_PREFIX, PREBUILT
from abut.core.compiling.code_cache import INNER
from abut.core.compiling.sources import TABLE, table_of_all
from abut.core.errors import Unsupported


def precompile(folder: Path, parts: list[str] | None = None, processes: int | None = None) -> int:
    """Compile into the folder, and return how many functions it holds.

    Args:
        folder: is replaced.
        parts: which entries; all by default.
        processes: how many, one a core by default.

    Raises:
        Unsupported: on a processor that has no baseline.
    """
    if BASELINE is None:
        raise Unsupported("there is no baseline for processors of this kind")
    folder = folder.absolute()
    with tempfile.TemporaryDirectory() as place:
        processor = {"NUMBA_CPU_NAME": BASELINE.name, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": place}
        # Of Intel's vector mathematics there may be none where the code will run.
        compile_ahead(
            parts or (),
            processes=processes,
            native=True,
            environment={**processor, "NUMBA_DISABLE_INTEL_SVML": "1"},
            report=_say,
        )
        return _collect(Path(place), folder)


def _collect(found: Path, folder: Path) -> int:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o755, parents=True)
    (folder / TABLE).write_text(json.dumps(table_of_all()))
    count = 0
    for source in sorted(found.glob(FOLDER_PREFIX + "*")):
        files = [file for file in sorted(source.iterdir()) if INNER not in file.name]
        if files:
            target = folder / source.name
            target.mkdir(mode=0o755)
            for file in files:
                shutil.copyfile(file, target / file.name)
            count += sum(file.suffix == ".nbi" for file in files)
    return count


def _say(stage: Stage) -> None:
    if not stage.function:
        text = f"{stage.entry}: {stage.compiled} functions ({stage.done} of {stage.total})"
        sys.stderr.write(text + "\n")


def main(words: list[str]) -> None:
    """The command: a folder, then parts."""
    folder, *parts = words or [str(PREBUILT)]
    count = precompile(Path(folder), parts)
    size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    sys.stdout.write(f"{count} functions, {size / 1e6:.1f} MB{os.linesep}")


if __name__ == "__main__":
    main(sys.argv[1:])

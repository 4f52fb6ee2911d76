"""How a wheel comes to carry compiled code: with `ABUT_PRECOMPILE=1` (`make wheel`) the build runs `python -m abut.precompile` into the wheel.

Such a wheel is for one platform and one Python, and asks for the minor version of Numba that it was made with. Without the variable, and in
editable installations, the wheel is pure Python, and compiles on first use. `ABUT_PRECOMPILE=boxes,sweep` compiles these parts alone.
"""

import importlib.metadata
import os
import subprocess
import sys
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Precompile(BuildHookInterface):
    """The hook: `hatchling` calls `initialize` before it gathers files, and `finalize` after."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and add the folder to the wheel."""
        wanted = os.environ.get("ABUT_PRECOMPILE", "")
        if self.target_name != "wheel" or version == "editable" or wanted in ("", "0"):
            return
        self.made = tempfile.TemporaryDirectory()
        folder = os.path.join(self.made.name, "prebuilt")
        parts = [] if wanted == "1" else wanted.split(",")
        sources = os.path.join(self.root, "src")
        variables = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        subprocess.run(
            [sys.executable, "-m", "abut.precompile", folder, *parts],
            env={**variables, "PYTHONPATH": sources}, check=True,
        )  # fmt: skip
        build_data["force_include"][folder] = "abut/prebuilt"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        numba = importlib.metadata.version("numba")
        build_data["dependencies"].append(f"numba=={'.'.join(numba.split('.')[:2])}.*")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled: it is in the wheel."""
        if hasattr(self, "made"):
            self.made.cleanup()

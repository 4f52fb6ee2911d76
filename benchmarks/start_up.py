"""How long `import abut` takes, and the first call, with an empty and with a filled cache of compiled code."""

import subprocess
import sys
import tempfile

from rich.console import Console

from abut.app.bench import measure, table

IMPORT = "import abut"
FIRST_CALL = "import abut; abut.geometry.predicates.orient_3d((0.,0.,0.), (1.,0.,0.), (0.,1.,0.), (0.,0.,1.))"
NOTHING = "pass"
NUMBA = "import numba"


def python(code: str, cache: str) -> None:
    subprocess.run([sys.executable, "-c", code], env={"PATH": "", "NUMBA_CACHE_DIR": cache}, check=True)


def run(console: Console) -> None:
    result = table("seconds of a whole process (quartiles)", "code", "cold cache", "warm cache")
    for name, code in (
        ("an empty script", NOTHING),
        ("import numba", NUMBA),
        ("import abut", IMPORT),
        ("import and a first exact sign", FIRST_CALL),
    ):

        def cold(code: str = code) -> None:
            with tempfile.TemporaryDirectory() as folder:
                python(code, folder)

        with tempfile.TemporaryDirectory() as folder:
            warm = measure(lambda code=code, folder=folder: python(code, folder), seconds=3.0)
        result.add_row(name, str(measure(cold, seconds=3.0, at_least=3)), str(warm))
    console.print(result)

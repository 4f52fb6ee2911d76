"""All kernels of `abut.cuda` as PTX, and what ptxas says of them: without a device, where numba-cuda and NVIDIA's compiler are installed.

`python tests/cuda_ptx.py` prints the table of `docs/cuda.md`: registers, bytes that are spilled, seconds.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ARCHITECTURE = (9, 0)


class Compiled(NamedTuple):
    name: str
    text: str
    registers: int
    spilled: int
    stack: int
    seconds: float


def find_ptxas():
    """NVIDIA's assembler, as its wheel brings it; None where it is not."""
    try:
        import nvidia
    except ImportError:
        return None
    return next((each for root in nvidia.__path__ for each in Path(root).glob("cu*/bin/ptxas")), None)


def pretend_a_device():
    """Let numba-cuda compile device functions for an architecture that nobody has here."""
    import numba.cuda.dispatcher

    device = type("Device", (), {"compute_capability": ARCHITECTURE})
    numba.cuda.dispatcher.get_current_device = lambda: device


def signatures():
    """Kernels and the types of their arguments."""
    from numba import types

    from abut.cuda import scan
    from abut.cuda.steps import crossings, lane_pairs, ordering, rows, single_queries, tile_pairs, tiles
    from abut.cuda.steps.contacts import coplanarity, exact_contacts, first_contacts

    d, f, i, k, b = (each[::1] for each in (types.float64, types.float32, types.int64, types.int32, types.int8))
    n, x = types.int64, types.float64
    queries, workspaces = types.float64[:, :, ::1], types.int64[:, :, ::1]
    yield scan.scan_blocks, (k, i)
    yield scan.scan_sums, (i,)
    yield ordering.clear, (d, i, k, k, d)
    yield ordering.read_vertices, (d, d, d, d, i)
    yield ordering.find_bounds, (i, n, k, d, d, d)
    yield ordering.count_cells, (i, n, k, d, d, d, k, n, k, k, k)
    yield ordering.put_in_order, (i, n, k, i, k, k, k)
    yield tiles.fill_tiles, (i, n, i, k, d, d, d, k, f, k, f, f)
    yield tiles.fill_nodes, (n, i, f)
    yield tile_pairs.find_tile_pairs, (i, n, i, f, n, n, i, n, i)
    pairs = (n, i, i, i, i, n, f, k, f, f, d, d, i, n, i)
    yield lane_pairs.filter_vertex_face, pairs
    yield lane_pairs.filter_edge_edge, pairs
    yield lane_pairs.list_vertex_face, pairs
    yield lane_pairs.list_edge_edge, pairs
    for kind in ("vertex_face", "edge_edge"):
        yield getattr(coplanarity, f"keep_coplanar_{kind}"), (n, i, i, k, d, d, i, n, i, n, i)
        for how in ("solve", "hurry"):
            yield getattr(first_contacts, f"{how}_{kind}"), (n, i, i, k, d, d, i, n, x, i, d, b, n, i, n, i, d)
        yield (
            getattr(exact_contacts, f"decide_{kind}"),
            (n, i, i, k, d, d, i, n, queries, workspaces, i, d, b, n, i),
        )
    yield crossings.find_crossing, (n, i, i, i, n, k, f, d, i, i)
    yield rows.count_rows, (i, n, i, n, i, k, k)
    yield rows.place_in_rows, (i, n, i, n, i, k, i, k, i, k)
    yield rows.sort_rows, (i, n, n, i, n, i, k, i, i, k, i)
    yield rows.describe, (i, n, i, k, d, d, i, d, b, n, i, i, b, i, i, d, d, d, b)
    yield rows.find_earliest, (n, d, n, i, d)
    yield rows.number_pairs, (n, i, i, k, n, n, i, k)
    yield rows.turn_pairs, (n, n, i)
    yield single_queries._decide_queries, (types.boolean, d, n, x, x, n, b, d, i, i)


def assemble(text, max_registers):
    """Registers, bytes spilled, and bytes of stack of a kernel."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernel.ptx"
        source.write_text(text)
        limit = [] if max_registers is None else [f"-maxrregcount={max_registers}"]
        command = [find_ptxas(), "-arch=sm_90", "-v", *limit, source, "-o", f"{folder}/kernel.o"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    words = done.stderr.replace(",", " ").split()
    numbers = {"registers": 0, "spill": 0, "stack": 0}
    for at, word in enumerate(words):
        if word == "registers":
            numbers["registers"] = max(numbers["registers"], int(words[at - 1]))
        elif word in ("spill", "stack") and words[at - 1] == "bytes":
            numbers[word] = max(numbers[word], int(words[at - 2]))
    return numbers["registers"], numbers["spill"], numbers["stack"]


def compile_kernel(kernel, signature):
    from numba import cuda

    from abut.cuda import device

    begin = time.perf_counter()
    with device.rounding():
        text = cuda.compile(kernel.py_func, signature, cc=ARCHITECTURE, device=False, abi="numba", output="ptx")[0]
    figures = assemble(text, kernel.targetoptions.get("max_registers"))
    return Compiled(kernel.py_func.__name__, text, *figures, time.perf_counter() - begin)


def main(names):
    pretend_a_device()
    print("| kernel | registers | bytes spilled | bytes of stack | seconds |\n| --- | --- | --- | --- | --- |")
    for kernel, signature in signatures():
        if not names or kernel.py_func.__name__ in names:
            own = compile_kernel(kernel, signature)
            print(f"| `{own.name}` | {own.registers} | {own.spilled} | {own.stack} | {own.seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

"""The same questions on a CUDA device, of arrays that lie there. The rest of abut reaches it through `core.devices` alone.

`device` the only place that names options of numba-cuda · `memory` its memory from the host's side · `arrays` the border · `warps`, `scan` what
threads of a warp and of a block do together · `steps` continuous collision · `particles` points inside a partition.
"""

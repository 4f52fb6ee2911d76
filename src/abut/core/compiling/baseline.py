"""The processor that prebuilt code is compiled for: the least that nearly every machine of an architecture has had for ten years.

On x86-64 its third level (AVX2, FMA, BMI2: Haswell, Zen), on 64-bit ARM what every such processor has, NEON among it. Code of the baseline
runs where the processor has all of its features and the user has not told Numba to do without one of them; elsewhere it is not looked at.
"""

import functools
import platform
import re
from typing import Any, NamedTuple

import llvmlite.binding as llvm


class Baseline(NamedTuple):
    """A processor by LLVM's name, and the features that code for it may use."""

    name: str
    features: frozenset[str]


_X86 = Baseline(
    "x86-64-v3",
    frozenset(
        {"sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16", "sahf", "avx", "avx2", "bmi", "bmi2", "f16c", "fma"}
        | {"lzcnt", "movbe", "xsave"}
    ),
)
_ARM = Baseline("generic", frozenset())
_BASELINES = {"x86_64": _X86, "amd64": _X86, "aarch64": _ARM, "arm64": _ARM}

BASELINE = _BASELINES.get(platform.machine().lower())
"""That of this architecture, or None."""


@functools.cache
def _host_features() -> frozenset[str]:
    """What the processor of this machine has, whatever Numba was told."""
    try:
        found = llvm.get_host_cpu_features()
    except RuntimeError:
        return frozenset()
    return frozenset(name for name, there in found.items() if there)


def system_of(triple: str) -> str:
    """LLVM's name of architecture and system, without the system's version."""
    return re.sub(r"[\d.]+$", "", triple)


def serves(codegen: Any) -> bool:
    """Whether code of the baseline may run here, and does no more than Numba was told to.

    (`NUMBA_CPU_NAME`, `NUMBA_CPU_FEATURES`, `NUMBA_ENABLE_AVX`.)"""
    if BASELINE is None or not _host_features() >= BASELINE.features:
        return False
    _, name, features = codegen.magic_tuple()
    told = {feature[1:] for feature in features.split(",") if feature.startswith("+")}
    return (name, features) == (BASELINE.name, "") or told >= BASELINE.features

"""What public functions take, by name: an editor shows `points: PointsLike` where `object` would tell nothing.

All are numbers in whatever holds them (lists, NumPy arrays of any integer or float dtype, objects with `__array__` or DLPack); the names tell the
shape that the border (`arrays`) checks. Aliases for the things of one part (`MeshLike`, `ShapeLike` …) stand in that part.
"""

import os
from collections.abc import Sequence
from typing import TypeAlias

from numpy.typing import ArrayLike

Number: TypeAlias = ArrayLike
"""One finite number: a Python or NumPy scalar, or an array without axes."""

VectorLike: TypeAlias = ArrayLike
"""(3,) a vector or point of space; where the text says so, (2,) of the plane."""

PointsLike: TypeAlias = ArrayLike
"""(n,3) points or vectors, one per row; where the text says so, (n,2)."""

PoseLike: TypeAlias = ArrayLike
"""(4,4) a rigid motion on column vectors: rotation, translation, bottom row 0 0 0 1."""

PosesLike: TypeAlias = ArrayLike
"""(k,4,4) rigid motions."""

IndicesLike: TypeAlias = ArrayLike
"""Row numbers, whole and from 0."""

FlagsLike: TypeAlias = ArrayLike
"""Booleans, or integers 0 and 1."""

PathLike: TypeAlias = str | os.PathLike[str]
"""The name of a file or folder."""

Names: TypeAlias = Sequence[str]

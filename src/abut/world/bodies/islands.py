"""Islands: bodies that touch one another, directly or through others. They sleep and wake together."""

from abut.core.arrays import Integers
from abut.core.jit import kernel


@kernel
def find_islands(pairs: Integers, dynamic: Integers, root: Integers) -> None:
    """root[i]: the lowest body that dynamic body i is connected with by contacts; bodies that are not dynamic connect nothing."""
    for i in range(len(root)):
        root[i] = i
    for k in range(len(pairs)):
        a, b = pairs[k, 0], pairs[k, 1]
        if dynamic[a] == 0 or dynamic[b] == 0:
            continue
        while root[a] != a:
            root[a] = root[root[a]]
            a = root[a]
        while root[b] != b:
            root[b] = root[root[b]]
            b = root[b]
        root[max(a, b)] = min(a, b)
    for i in range(len(root)):
        a = i
        while root[a] != a:
            a = root[a]
        root[i] = a

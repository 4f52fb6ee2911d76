"""Which tree: how long each way of building takes, how well it culls, and what a bucket of triangles in the leaves changes.

The binary trees of the paper (Meseure 1998) in each volume and rule of building, and the packet trees that bodies use; two bodies that
overlap a little.
"""

import numpy as np
from rich.console import Console

import abut
from abut.app.bench import measure, table
from abut.trees import binary

FACES = 20_000
LEAF_SIZES = (1, 4, 8)
SEARCHES = (
    ("obb", "median"),
    ("obb", "mean"),
    ("obb", "morton"),
    ("aabb", "middle"),
    ("aabb", "median"),
    ("aabb", "sah"),
    ("aabb", "morton"),
    ("kdop18", "middle"),
    ("kdop26", "middle"),
)


def run(console: Console) -> None:
    mesh = abut.scenes.bumpy(FACES, seed=5)
    moved = abut.Mesh(mesh.vertices + np.array([1.9, 0.1, 0.05]), mesh.faces)
    result = table(
        f"two bodies of {FACES:,} faces: all pairs that meet",
        "tree",
        "leaf",
        "build",
        "search",
        "box tests",
        "triangle tests",
        "pairs",
    )
    found = set()
    for kind, rule in SEARCHES:
        for leaf_size in LEAF_SIZES:
            trees = [binary.build(kind, m.vertices, m.faces, rule=rule, leaf_size=leaf_size) for m in (mesh, moved)]

            def search(trees: list[binary.Tree] = trees) -> binary.Pairs:
                return binary.find_collisions(*trees, mesh.vertices, mesh.faces, moved.vertices, moved.faces)

            pairs = search()
            found.add(pairs.pairs.tobytes())
            build = measure(
                lambda kind=kind, rule=rule, size=leaf_size: binary.build(
                    kind, mesh.vertices, mesh.faces, rule=rule, leaf_size=size
                ),
                seconds=0.5,
            )
            cells = (str(build), str(measure(search, seconds=0.5)), f"{pairs.box_tests:,}", f"{pairs.leaf_tests:,}")
            result.add_row(f"{kind}, {rule}", str(leaf_size), *cells, f"{len(pairs.pairs):,}")
    for kind, body in (("packets of obb", abut.Rigid), ("packets of aabb", abut.Deformable)):
        a, b = body(mesh), body(moved)
        contacts = abut.collide(a, b)
        found.add(np.stack([contacts.face_a, contacts.face_b], axis=1).tobytes())
        search_time = measure(lambda a=a, b=b: abut.collide(a, b).face_a, seconds=0.5)
        build = measure(lambda body=body: body(mesh), seconds=0.5)
        tests = (f"{contacts.box_tests:,}", f"{contacts.triangle_tests:,}")
        result.add_row(kind, "8", str(build), str(search_time), *tests, f"{len(contacts):,}")
    console.print(result)
    assert len(found) == 1, "the trees disagree"

"""How long a mesh of a million faces takes: checking it, its edges and adjacency, its questions."""

import numpy as np
from rich.console import Console

import abut
from abut.app.bench import measure, table

FACES = 1_000_000


def run(console: Console) -> None:
    ordered = abut.scenes.bumpy(FACES, seed=1)
    rng = np.random.default_rng(2)
    names = rng.permutation(len(ordered.vertices))
    shuffled = abut.Mesh(ordered.vertices[np.argsort(names)], names[ordered.faces][rng.permutation(FACES)])
    result = table(f"{FACES:,} faces (quartiles)", "", "faces in order", "faces and vertices shuffled")

    def fresh(mesh: abut.Mesh) -> abut.Mesh:
        return abut.Mesh(mesh.vertices, mesh.faces)  # shares the arrays, has computed nothing yet

    questions = {
        "Mesh(vertices, faces), copied and checked": lambda m: abut.Mesh(np.array(m.vertices), np.array(m.faces)),
        "edges, face_edges, edge_faces": lambda m: fresh(m).edges,
        "vertex_faces": lambda m: fresh(m).vertex_faces,
        "is_closed, is_oriented, is_manifold": lambda m: (lambda f: (f.is_closed, f.is_oriented, f.is_manifold))(
            fresh(m)
        ),
        "components": lambda m: fresh(m).components,
        "area and volume": lambda m: (lambda f: (f.area, f.volume))(fresh(m)),
    }
    for name, ask in questions.items():
        times = [measure(lambda ask=ask, m=m: ask(m), seconds=2.0, at_least=3) for m in (ordered, shuffled)]
        result.add_row(name, *map(str, times))
    console.print(result)

"""Points and rays: how long many questions of one closed mesh take, beside libigl, FCPW, embree and trimesh.

A bumpy body of 70,000 faces, and the mesh in the file that ABUT_MESH names. A tenth of the points lies on vertices, edges and faces, and a tenth of
the rays is aimed at them; all are drawn from a seed. Then rays from inside, aimed at every vertex and at the middle of every edge: how many leave the
surface unseen. trimesh answers a sample. What is not installed is left out.
"""

import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console

import abut
from abut.app.bench import Timing, measure, table

COUNT, SAMPLE = int(os.environ.get("ABUT_POINTS", "1000000")), 2_000
AIMED = 10  # one in so many
INSIDE = 0.02  # how far towards the middle rays from inside begin


def features(rng: np.random.Generator, mesh: abut.Mesh, count: int) -> np.ndarray:
    """Points of vertices, of edges and of faces."""
    corners = mesh.vertices[mesh.faces[rng.integers(0, len(mesh.faces), count)]]
    kind = rng.integers(0, 3, count)
    middles = np.stack((corners[:, 0], 0.5 * corners[:, 0] + 0.5 * corners[:, 1], corners.mean(axis=1)), axis=1)
    return middles[np.arange(count), kind]


def questions(mesh: abut.Mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    low, high = mesh.bounds
    size = high - low
    points = rng.uniform(low - 0.1 * size, high + 0.1 * size, (COUNT, 3))
    points[::AIMED] = features(rng, mesh, len(points[::AIMED]))
    origins = rng.uniform(low - size, high + size, (COUNT, 3))
    aims = rng.uniform(low, high, (COUNT, 3))
    aims[::AIMED] = features(rng, mesh, len(aims[::AIMED]))
    return points, origins, aims - origins


Call = Callable[[np.ndarray], Any]
Rays = Callable[[np.ndarray, np.ndarray], Any]


def libigl(mesh: abut.Mesh) -> dict[str, Call]:
    igl: Any = importlib.import_module("igl")
    tree = igl.AABB()
    tree.init(mesh.vertices, mesh.faces)
    return {
        "closest points": lambda p: tree.squared_distance(mesh.vertices, mesh.faces, p),
        "signed distance": lambda p: igl.signed_distance(p, mesh.vertices, mesh.faces),
        "winding number": lambda p: igl.fast_winding_number(mesh.vertices, mesh.faces, p),
    }


def fcpw(mesh: abut.Mesh) -> dict[str, Call]:
    library: Any = importlib.import_module("fcpw")
    scene = library.scene_3D()
    scene.set_object_count(1)
    scene.set_object_vertices(mesh.vertices.astype(np.float32), 0)
    scene.set_object_triangles(mesh.faces.astype(np.int32), 0)
    scene.build(library.aggregate_type.bvh_surface_area, True, True, True)

    def ask(points: np.ndarray) -> Any:
        found = library.interaction_3D_list()
        scene.find_closest_points(points.astype(np.float32), np.full(len(points), np.inf, np.float32), found)
        return found

    return {"closest points": ask}


def trimesh_points(mesh: abut.Mesh) -> dict[str, Call]:
    trimesh: Any = importlib.import_module("trimesh")
    importlib.import_module("rtree")
    query = trimesh.proximity.ProximityQuery(trimesh.Trimesh(mesh.vertices, mesh.faces, process=False))
    return {"closest points": query.on_surface, "signed distance": query.signed_distance}


def embree(mesh: abut.Mesh) -> tuple[Rays, Rays]:
    """The first face, and whether there is any."""
    trimesh: Any = importlib.import_module("trimesh")
    library: Any = importlib.import_module("trimesh.ray.ray_pyembree")
    caster = library.RayMeshIntersector(trimesh.Trimesh(mesh.vertices, mesh.faces, process=False))
    return (
        caster.intersects_first,
        caster.intersects_any,
    )


def made(make: Callable[[abut.Mesh], Any], mesh: abut.Mesh) -> Any:
    try:
        return make(mesh)
    except ImportError:
        return None


def leaving(mesh: abut.Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Rays from inside towards all vertices and middles of edges."""
    aims = np.concatenate((mesh.vertices, mesh.vertices[mesh.edges].mean(axis=1)))
    middle = mesh.vertices.mean(axis=0)
    origins = mesh.vertices + INSIDE * (middle - mesh.vertices)
    origins = origins[abut.signed_distance(mesh, origins).distance < 0.0]
    origins = origins[np.random.default_rng(1).integers(0, len(origins), len(aims))]
    return origins, aims - origins


def run_mesh(name: str, mesh: abut.Mesh, console: Console) -> None:
    body, (points, origins, ways) = abut.Rigid(mesh), questions(mesh)
    ours: dict[str, Call] = {
        "closest points": lambda p: abut.closest_points(body, p),
        "signed distance": lambda p: abut.signed_distance(body, p),
        "winding number": lambda p: abut.winding_number(body, p),
    }
    peers = {"libigl": made(libigl, mesh), "FCPW": made(fcpw, mesh), "trimesh": made(trimesh_points, mesh)}
    rows = table(f"{name}: {len(mesh.faces):,} faces, {COUNT:,} points", "question", "abut", *peers)
    for question, call in ours.items():
        cells = [str(measure(lambda call=call: call(points)).per(COUNT))]
        for peer, calls in peers.items():
            asked = points[:SAMPLE] if peer == "trimesh" else points
            known = calls is not None and question in calls
            cells.append(str(time_of(calls[question], asked)) if known else "–")
        rows.add_row(question, *cells)
    console.print(rows)
    caster = made(embree, mesh)
    rows = table(f"{name}: {COUNT:,} rays", "hits", "abut", "embree (float32)")
    for i, mode in enumerate(("first", "any", "all")):
        mine = measure(lambda mode=mode: abut.cast(body, origins, ways, mode=mode)).per(COUNT)
        theirs = "–" if caster is None or i > 1 else str(measure(lambda i=i: caster[i](origins, ways)).per(COUNT))
        rows.add_row(mode, str(mine), theirs)
    console.print(rows)
    if mesh.is_closed:
        starts, out = leaving(mesh)
        unseen = int((~abut.cast(body, starts, out).hit).sum())
        line = f"{len(starts):,} rays from inside at vertices and edges: {unseen} leave unseen"
        if caster is not None:
            line += f", of embree's {int((caster[0](starts, out) < 0).sum())}"
        console.print(line)


def time_of(call: Call, points: np.ndarray) -> Timing:
    return measure(lambda: call(points)).per(len(points))


def run(console: Console) -> None:
    run_mesh("bumpy", abut.scenes.bumpy(70_000, seed=1), console)
    if "ABUT_MESH" in os.environ:
        run_mesh(os.environ["ABUT_MESH"], abut.load(os.environ["ABUT_MESH"]), console)

"""What is refused, and the name that the refusal bears."""

import numpy as np
import pytest

from abut import InvalidInput, dynamics


def refusals(points):
    """What must be refused, and the name that the refusal bears."""
    pair, step = [(0, 1)], np.zeros_like(points)
    models = [dynamics.MassSpring(points, pair), dynamics.ShapeMatching(points), dynamics.Linkage(points, pair)]
    for model in models:
        yield "velocity", lambda model=model: setattr(model, "velocity", [(np.nan, 0, 0), (0, 0, 0)])
        for dt in (0.0, np.nan, "soon", 1e-320):
            yield "dt", lambda model=model, dt=dt: model.propose(dt)
        for name, value in (("restitution", 2.0), ("restitution", np.nan), ("friction", -1.0), ("friction", None)):
            yield name, lambda model=model, name=name, value=value: model.accept(points, step, **{name: value})
    yield "dt", lambda: dynamics.MassSpring(points, pair).propose(1e60)  # more substeps than anybody would wait for
    yield "dt", lambda: dynamics.couple(models[1], None, 0.0)
    yield "model", lambda: dynamics.couple(None, None, 0.1)
    yield "mobile", lambda: dynamics.couple(models[1], 5, 0.1)
    yield "springs", lambda: dynamics.MassSpring(points, [(0, 0)])
    yield "stiffness", lambda: dynamics.MassSpring(points, pair, stiffness=-1.0)
    yield "stiffness", lambda: dynamics.MassSpring.from_line(points, stiffness="soft")
    yield "integrator", lambda: dynamics.MassSpring(points, pair, integrator="midpoint")
    yield "integrator", lambda: dynamics.MassSpring(points, pair, integrator=["rk4"])
    yield "mass", lambda: dynamics.ShapeMatching(points, mass=[1.0, 0.0])
    yield "clusters", lambda: dynamics.ShapeMatching(points, [[0, 0]])
    yield "clusters", lambda: dynamics.ShapeMatching(points, 5)
    yield "fixed", lambda: dynamics.ShapeMatching(points, fixed=[2])
    yield "points", lambda: dynamics.ShapeMatching(np.empty((0, 3)))
    yield "bones", lambda: dynamics.Linkage(points, [(1, 1)])
    yield "shortest", lambda: dynamics.Linkage(points, pair, shortest=2.0, longest=1.0)
    yield "angles", lambda: dynamics.Linkage(points, pair, angles=5)
    three, limits = [*points, (2, 2, 2)], dynamics.AngleLimits
    yield "most", lambda: dynamics.Linkage(three, pair, angles=limits([(0, 1, 2)], 0.0, 4.0))
    yield "joints", lambda: dynamics.Linkage(three, pair, angles=limits([(0, 1, 2), (0, 1, 0)]))
    yield "radius", lambda: dynamics.rag_doll(radius=1.0)
    state = dynamics.rigid_state(np.eye(4)[np.newaxis], angular_velocity=[(1, 2, 3)])
    yield "inertia", lambda: dynamics.advance(state, [((1, 0.5, 0), (0, 1, 0), (0, 0, 1))], 0.1)
    yield "inertia", lambda: dynamics.advance(state, [-np.eye(3)], 0.1)
    yield "mesh", lambda: dynamics.mass_properties(None)


def test_bad_input_is_refused_by_name():
    for name, call in refusals(np.array([(0.0, 0, 0), (1.0, 0, 0)])):
        with pytest.raises(InvalidInput) as caught:
            call()
        assert caught.value.name.startswith(name)

"""What sweep and prune and its reports show of themselves."""

from abut.broad import SweepAndPrune

BOXES = [[0, 0, 0, 1, 1, 1], [0.5, 0.5, 0.5, 2, 2, 2], [4, 0, 0, 5, 1, 1]]


def test_sweep_and_prune():
    scene = SweepAndPrune(BOXES)
    assert repr(scene) == "SweepAndPrune(3 boxes)"
    scene.remove([0, 1])
    assert repr(scene) == "SweepAndPrune(1 box)"
    assert "<td>2</td><td>(4, 0, 0)</td><td>(5, 1, 1)</td>" in scene._repr_html_()
    assert "<table>" in SweepAndPrune()._repr_html_()


def test_changes():
    scene = SweepAndPrune(BOXES)
    changes = scene.report()
    assert repr(changes) == "PairChanges(1 begun, 0 persisting, 0 ended)"
    assert "<td>begun</td><td>0</td><td>1</td>" in changes._repr_html_()
    scene.remove([1])
    assert repr(scene.report()) == "PairChanges(0 begun, 0 persisting, 1 ended)"
    assert "<table>" in scene.report()._repr_html_()

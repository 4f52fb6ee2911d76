"""What a search of a step is called with."""

from abut.app.check import search
from abut.app.check.search import Options


def test_memory_reaches_the_sweep(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(search.ccd, "sweep", lambda *step, **options: seen.append(options))
    search._impacts(None, None, None, Options())
    search._impacts(None, None, None, Options(min_distance=0.5, max_memory=7_000_000))
    assert seen == [{"min_distance": 0.0}, {"min_distance": 0.5, "max_memory": 7_000_000}]

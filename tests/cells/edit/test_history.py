"""Notes of what became of cells."""

from abut.cells.edit.history import MANY_NOTES, History


def test_history_tells_what_became_of_cells_and_forgets_what_all_have_seen():
    history = History()
    history.note_part(1, 5, 50)
    history.note_heir(1, 50, 60)
    history.note_heir(2, 60, 70)
    history.note_part(3, 5, 51)
    assert [history.cell_of(5, seen) for seen in (0, 1, 3)] == [50, 51, None]
    assert [history.heirs_of(50, seen) for seen in (0, 1)] == [[50, 60, 70], [50]]
    assert history.heirs_of(60, 1) == [60, 70]
    for part in range(MANY_NOTES):
        history.note_part(4, part + 100, 1)
    history.forget(2)
    assert history.cell_of(5, 2) == 51
    assert history.heirs_of(50, 0) == [50]
    assert history.latest == 4

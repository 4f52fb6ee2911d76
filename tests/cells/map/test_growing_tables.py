"""Growing tables, lists and the notes of surgery against plain dictionaries."""

import numpy as np

from abut.cells.map.growing_tables import Lists, Rows


def test_rows_are_handed_out_lowest_first_and_kept(rng):
    rows, held = Rows(value=np.arange(5)), {k: k for k in range(5)}
    for step in range(300):
        if rng.random() < 0.5 or not held:
            numbers = rows.take(int(rng.integers(1, 6)))
            free = [k for k in range(max(held, default=-1) + 1) if k not in held][: len(numbers)]
            assert numbers[: len(free)].tolist() == free
            assert not set(numbers.tolist()) & set(held)
            rows["value"][numbers] = step
            held |= dict.fromkeys(numbers.tolist(), step)
        else:
            gone = rng.choice(list(held), size=min(len(held), 4), replace=False)
            for number in gone.tolist():
                del held[number]
            rows.give_back(gone)
            rows.trim()
            assert rows.count == max(held, default=-1) + 1
        assert all(rows["value"][number] == value for number, value in held.items())
    used = rows.claim(2, 6)
    assert used.tolist() == [k for k in range(2, 6) if k in held]
    assert not set(rows.take(50).tolist()) & {2, 3, 4, 5, *held}


def test_lists_are_replaced_and_packed(rng):
    lists, expected = Lists(np.array([0, 2]), np.array([2, 3]), np.array([7, 8, 9], np.int32)), {0: [7, 8], 1: [9]}
    longest = 0
    for step in range(400):
        lists.extend(2 + step // 10)
        rows = np.unique(rng.integers(lists.count, size=4))
        owners = np.sort(rng.choice(rows, size=rng.integers(12)))
        numbers = rng.integers(1000, size=len(owners)).astype(np.int32)
        lists.replace(rows, owners, numbers)
        expected |= {row: numbers[owners == row].tolist() for row in rows.tolist()}
        longest = max(longest, len(lists.pool))
        assert all(lists[row].tolist() == expected.get(row, []) for row in range(lists.count))
    every, numbers = lists.gather(np.arange(lists.count))
    assert numbers.tolist() == [number for row in range(lists.count) for number in expected.get(row, [])]
    assert every.tolist() == [row for row in range(lists.count) for _ in expected.get(row, [])]
    assert longest < 5 * (len(numbers) + lists.count)  # packed on the way

"""Rows of any length are sorted, in place and nowhere else."""

import numpy as np
import pytest

from abut.core.jit import INTERPRETED
from abut.trees.blocks.block_tree import WIDTH
from abut.trees.blocks.runs import sort_row

LENGTHS = [0, 1, 2, 15, 16, 17, 31, 32, 33, 48, 64, 65, 100, 129, 255, 257, 500]


@pytest.mark.parametrize("length", LENGTHS if INTERPRETED else [*LENGTHS, 1000, 5000, 20_001])
def test_sort_row(length):
    rng = np.random.default_rng(length)
    for values in (rng.permutation(length), np.arange(length)[::-1], rng.integers(0, 5, length), np.zeros(length)):
        padded = -(-length // WIDTH) * WIDTH
        row = np.full(padded + 10, -7, dtype=np.int32)
        row[5 : 5 + length] = values
        sort_row(row, 5, length)
        assert row[5 : 5 + length].tolist() == sorted(values.tolist())
        assert (row[:5] == -7).all()
        assert (row[5 + padded :] == -7).all()

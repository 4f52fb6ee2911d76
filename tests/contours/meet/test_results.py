"""Results do not change, whatever is done with them."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from abut import contours
from contours.curves import UNIT_SQUARE

SIDE = (0.5, 0.25, 0.0)
ASKED = {
    "contacts": lambda: contours.collide(UNIT_SQUARE, UNIT_SQUARE, pose=SIDE),
    "contacts of many": lambda: contours.collide(UNIT_SQUARE, UNIT_SQUARE, poses=[SIDE, SIDE]),
    "contacts of all": lambda: contours.collide_all([UNIT_SQUARE, UNIT_SQUARE], [(0, 0, 0), SIDE])[1],
    "distance": lambda: contours.distance(UNIT_SQUARE, UNIT_SQUARE, pose=SIDE),
    "distance of many": lambda: contours.distance(UNIT_SQUARE, UNIT_SQUARE, poses=[SIDE, SIDE]),
}


def arrays_of(result):
    names = [name for name, held in vars(type(result)).items() if isinstance(held, property)]
    names += [field.name for field in dataclasses.fields(result)]
    return {name: getattr(result, name) for name in names}


@pytest.mark.parametrize("name", ASKED)
def test_results_are_read_only_and_stay_so_in_copies(name):
    result = ASKED[name]()
    for same in (result, pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        for key, array in arrays_of(result).items():
            assert not getattr(same, key).flags.writeable, key
            np.testing.assert_array_equal(getattr(same, key), array)
        with pytest.raises(dataclasses.FrozenInstanceError):
            same.relation = None
        with pytest.raises(dataclasses.FrozenInstanceError):
            del same._rows

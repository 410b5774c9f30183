"""Arrays: the machine in bulk, and every wrong entry refused."""

from __future__ import annotations

import random

import numpy as np
import pytest
from oracle.random_fst import SEMIRINGS, random_fst
from tokamata.automata import ARC_DTYPE, Fst, FstError


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("seed", range(30))
def test_there_and_back(semiring, seed):
    fst = random_fst(random.Random(seed), semiring, states=8, arcs=30)
    arrays = fst.to_arrays()
    assert arrays.arcs.dtype == ARC_DTYPE
    assert (arrays.offsets.dtype, arrays.finals.dtype) == (np.int64, np.float32)
    for s in fst.states():
        want = [tuple(a) for a in fst.arcs(s)]
        assert arrays.arcs[arrays.offsets[s] : arrays.offsets[s + 1]].tolist() == want
        assert fst.arcs_array(s).tolist() == want
        assert arrays.finals[s] == fst.final(s)
    assert arrays.start == fst.start()
    assert fst.arcs_array().tolist() == arrays.arcs.tolist()
    again = Fst.from_arrays(*arrays, semiring=semiring)
    assert again.to_bytes() == fst.to_bytes()
    again.add_states(1)
    again.add_arc(0, 1, 1, None, 0)
    assert list(again.arcs(0))[:-1] == (list(fst.arcs(0)) if fst.num_states() else [])


def test_arrays_are_copies():
    fst = random_fst(random.Random(1), arcs=20)
    before = fst.to_bytes()
    arrays = fst.to_arrays()
    arrays.arcs["ilabel"] = 9
    arrays.finals[:] = 1
    assert fst.to_bytes() == before
    fst = Fst.from_arrays(*arrays)
    arrays.arcs["ilabel"] = 7
    assert all(a.ilabel == 9 for s in fst.states() for a in fst.arcs(s))


def test_other_layouts_of_records():
    wide = np.zeros(2, [("ilabel", "i8"), ("olabel", "i2"), ("weight", "f8"), ("nextstate", "u4")])
    wide["ilabel"] = 5, 6
    fst = Fst.from_arrays(wide[::-1], [0, 2], [0], 0)
    assert [a.ilabel for a in fst.arcs(0)] == [6, 5]


def parts():
    arcs = np.array([(1, 1, 0.5, 1), (2, 0, 0.0, 0)], ARC_DTYPE)
    return {"arcs": arcs, "offsets": np.array([0, 1, 2]), "finals": np.array([np.inf, 0], np.float32), "start": 0}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"offsets": [0, 2, 1]}, r"offsets must rise from 0 to the number of arcs \(2\), got 1 at index 2"),
        ({"offsets": [1, 1, 2]}, r"got 1 at index 0"),
        ({"offsets": [0, 1, 3]}, r"got 3 at index 2"),
        ({"offsets": [0, 1, 1]}, r"got 1 at index 2"),
        ({"offsets": [0, -1, 2]}, r"got -1 at index 1"),
        ({"offsets": [0, 2]}, r"offsets must have one entry more than finals, got 2 and 2"),
        ({"offsets": [0.0, 1.0, 2.0]}, r"offsets must be a 1-d array of int64"),
        ({"finals": [0.0, np.nan]}, r"the final weight of state 1 is nan"),
        ({"finals": [[0.0, 0.0]]}, r"finals must be a 1-d array of float32"),
        ({"finals": ["a", "b"]}, r"finals must be a 1-d array of float32"),
        ({"start": 2}, r"start is 2; expected a state below 2, or -1 for none"),
        ({"start": -2}, r"start is -2"),
        ({"arcs": np.zeros((2, 4), np.int32)}, r"arcs must be a 1-d array of records"),
        ({"arcs": [1, 2]}, r"arcs must be a 1-d array of records .* fill np\.empty\(n, ARC_DTYPE\)"),
        ({"semiring": "real"}, r'unknown semiring "real"'),
        ({"semiring": "boolean"}, r"arc 0 is 1:1 with weight 0\.5\d* to state 1; expected .* weight of the boolean"),
    ],
)
def test_refused(change, text):
    with pytest.raises(FstError, match=text):
        Fst.from_arrays(**(parts() | change))


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("ilabel", -1, r"arc 1 is -1:0"),
        ("olabel", -5, r"arc 1 is 2:-5"),
        ("nextstate", 2, r"to state 2; expected .* a state below 2"),
        ("nextstate", -1, r"to state -1"),
        ("weight", np.nan, r"with weight nan"),
        ("weight", -np.inf, r"with weight -inf"),
    ],
)
def test_wrong_arcs(field, value, text):
    given = parts()
    given["arcs"][field][1] = value
    with pytest.raises(FstError, match=text):
        Fst.from_arrays(**given)


def test_wide_integers_are_not_cut():
    wide = np.zeros(1, [("ilabel", "i8"), ("olabel", "i4"), ("weight", "f4"), ("nextstate", "i4")])
    wide["ilabel"] = 2**32 + 1
    with pytest.raises(FstError, match=r"ilabel must be integers of 32 bits, got int64"):
        Fst.from_arrays(wide, [0, 1], [0], 0)


def test_a_state_that_does_not_exist():
    with pytest.raises(IndexError, match=r"Fst\.arcs_array: state 5 does not exist"):
        random_fst(random.Random(1)).arcs_array(5)

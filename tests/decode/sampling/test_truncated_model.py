from __future__ import annotations

import numpy as np
import pytest
from oracle.random_model import RandomModel, TableModel
from tokamata.decode.sampling import TruncatedModel


def test_rows_keep_the_likeliest_and_sum_to_one() -> None:
    model = RandomModel(50, 2)
    prefixes = [(), (1,), (2, 3)]
    whole = model.next_log_probs(prefixes)
    for k, p in ((5, None), (None, 0.8), (7, 0.5), (None, 1.0), (50, None), (1, None)):
        table = TruncatedModel(model, top_k=k, top_p=p).next_log_probs(prefixes)
        np.testing.assert_allclose(np.exp(table).sum(axis=1), 1)
        for row, full in zip(table, whole, strict=True):
            order = np.argsort(-full)
            kept = int((row > -np.inf).sum())
            assert set(np.flatnonzero(row > -np.inf)) == set(order[:kept])
            if k is not None:
                assert kept <= k
            if p is not None:
                among = np.exp(full[order[: k or 50]])
                share = np.cumsum(among / among.sum())
                assert share[kept - 1] >= p - 1e-12
                assert kept == 1 or share[kept - 2] < p
            np.testing.assert_allclose(np.diff(row[order[:kept]]), np.diff(full[order[:kept]]), atol=1e-9)


def test_all_of_the_probability_is_no_cut() -> None:
    model = TableModel({(): {0: 1.0, 1: 1e-20}}, size=3)
    table = TruncatedModel(model, top_p=1.0).next_log_probs([()])
    np.testing.assert_allclose(np.exp(table), [[1, 1e-20, 0]])


def test_wrong_numbers() -> None:
    with pytest.raises(ValueError, match="top_k >= 1"):
        TruncatedModel(RandomModel(5, 0), top_k=0)
    with pytest.raises(ValueError, match="0 < top_p <= 1"):
        TruncatedModel(RandomModel(5, 0), top_p=1.5)

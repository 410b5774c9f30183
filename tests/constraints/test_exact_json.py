"""ExactJson: schemas inside JSON texts come out as they are written."""

from __future__ import annotations

import pytest
from tokamata.constraints.exact_json import ExactJson

import tokamata

LONG = "0.1000000000000000000001"


def test_numbers_stay_as_they_are_written() -> None:
    found = ExactJson(f'{{"a~/b": [{{"const": {LONG}}}, 9007199254740993.0, 1e400, "\\ud800", true]}}', "it")
    assert found.value["a~/b"][0] == {"const": 0.1}
    assert found.text("a~/b", 0) == f'{{"const":{LONG}}}'
    assert [found.text("a~/b", i) for i in range(1, 5)] == ["9007199254740993.0", "1e400", '"\\ud800"', "true"]
    assert tokamata.json_schema(found.text("a~/b", 0)).accepts(LONG)
    with pytest.raises(tokamata.ConstraintError, match='nothing is at the JSON Pointer "/b"'):
        found.text("b")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "^it is not JSON that can be read: Expecting property name"),
        (b"\xff", "^it is not JSON that can be read: 'utf-8' codec"),
        ("\ud800", "^it is not JSON that can be read: .*surrogates not allowed"),
        ("[" * 100_000, "^it is not JSON that can be read: maximum recursion depth"),
        ("[NaN]", "^it: line 1, column 2"),
        ('{"a": {"key": 1, "key": 2}}', '^it: line 1, column .*"key"'),
    ],
    ids=range(6),
)
def test_what_is_refused(text: str | bytes, reason: str) -> None:
    with pytest.raises(tokamata.ConstraintError, match=reason):
        ExactJson(text, "it")

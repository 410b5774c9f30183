"""The official test suite and MaskBench, where their files are, and what judges them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from oracle import json_schema_suite, maskbench
from oracle.isolated import Failure, Isolated, serve
from oracle.schema_verdicts import Verdict, judge, table

NO_DATA = "the files are not part of the project: set TOKAMATA_DATA to the folder that has them"


@pytest.mark.parametrize("draft", json_schema_suite.DRAFTS)
def test_official_suite(draft: str) -> None:
    data = json_schema_suite.find()
    if data is None:
        pytest.skip(NO_DATA)
    verdicts = json_schema_suite.run(data, draft)
    refused = [v for v in verdicts if v.outcome == "refused"]
    assert all(v.outcome in ("ok", "refused") for v in verdicts), table(verdicts)
    assert len(refused) <= 0.08 * len(verdicts), table(verdicts)


def test_maskbench_sample() -> None:
    data = maskbench.find()
    if data is None:
        pytest.skip(NO_DATA)
    files = list(maskbench.read(data))
    verdicts = maskbench.run(files[::40])
    assert not any(v.accepted for v in verdicts), table(verdicts)
    assert not any(v.outcome.startswith(("crash", "timeout", "memory")) for v in verdicts), table(verdicts)


def test_verdicts() -> None:
    schema = {"type": "integer", "minimum": 2}
    assert judge("a", schema, [(2, True), (1, False)], {}).outcome == "ok"
    wrong = judge("b", schema, [(2, False)], {})
    assert (wrong.outcome, wrong.accepted) == ("wrong accept", ["2"])
    wrong = judge("c", schema, [([1], True), (3, True)], {})
    assert (wrong.outcome, wrong.rejected) == ("wrong reject", ["⟨here⟩[1]"])
    refused = judge("d", {"$ref": "#/nowhere"}, [(1, True)], {})
    assert (refused.outcome, refused.detail[:16]) == ("refused", "ConstraintError:")
    assert judge("e", False, [(1, False)], {}).outcome == "ok"
    assert judge("f", False, [(1, True)], {}).outcome == "refused"
    shown = table([Verdict("x"), wrong, refused])
    assert "3 schemas, 3 instances" in shown
    assert "wrong reject: c" in shown
    assert "refused    1: ConstraintError: json_schema: at …: the reference …" in shown


def test_children_are_limited_and_started_again(tmp_path: Path) -> None:
    script = tmp_path / "child.py"
    script.write_text(
        "import os\n"
        "from oracle.isolated import serve\n"
        "def answer(question):\n"
        "    if question == 'loop':\n"
        "        while True: pass\n"
        "    if question == 'die': os._exit(3)\n"
        "    if question == 'memory':\n"
        "        kept = []\n"
        "        while True: kept.append(bytearray(10**8))\n"
        "    print('not an answer')\n"
        "    return [os.getpid(), question]\n"
        "serve(answer)\n"
    )
    child = Isolated(str(script), seconds=2, megabytes=300)
    first = child.ask("a")
    assert child.ask("b") == [first[0], "b"]
    assert first[0] != os.getpid()
    for question, failure in (("loop", "timeout"), ("die", "crash (exit code 3)"), ("memory", "memory")):
        with pytest.raises(Failure, match=f"^{failure.replace('(', '.').replace(')', '.')}$"):
            child.ask(question)
        assert child.ask("again")[1] == "again"
    child.close()
    assert callable(serve)

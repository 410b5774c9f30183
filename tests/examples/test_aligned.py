"""The experiments with aligned samplers: interpreters, prompts, curves; no model."""

from __future__ import annotations

import importlib.util
import json
import math
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tokamata.decode.sampling import Sample

import tokamata

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "experiments" / "aligned"
BITS = """(set-logic BV)
(synth-fun inv ((s (BitVec 4)) (t (BitVec 4))) (BitVec 4)
    ((Start (BitVec 4) (s t #x0 #x8 (bvneg Start) (bvnot Start) (bvadd Start Start) (bvand Start Start)))))
(declare-var s (BitVec 4))
(declare-var t (BitVec 4))
(define-fun l ((s (BitVec 4)) (t (BitVec 4))) Bool (= (bvadd (inv s t) s) t))
(constraint (=> (bvult s #x9) (l s t)))
(check-synth)
"""
TEXTS = """(set-logic SLIA)
(synth-fun f ((name String)) String
    ((Start String (ntString))
    (ntString String (name " " "-" (str.++ ntString ntString) (str.substr ntString ntInt ntInt)))
    (ntInt Int (0 1 (str.len ntString) (str.indexof ntString ntString ntInt)))))
(declare-var name String)
(constraint (= (f "Ada Lovelace") "Ada"))
(constraint (= (f "Emmy Noether") "Emmy"))
(check-synth)
"""


@pytest.fixture
def scripts() -> Iterator[dict[str, ModuleType]]:
    """The scripts as modules, with their folders on the path while the test runs."""
    before = list(sys.path)
    sys.path[:0] = [str(FOLDER), str(FOLDER.parents[1])]
    made = {}
    for name in ("sygus", "table", "trees", "brackets"):
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        made[name] = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made[name])
    yield made
    sys.path[:] = before
    for name in made:
        sys.modules.pop(name, None)


def test_bit_vectors(scripts: dict[str, ModuleType], tmp_path: Path) -> None:
    sygus = scripts["sygus"]
    (tmp_path / "plus.sl").write_text(BITS)
    problem = sygus.Problem.load(tmp_path / "plus.sl")
    assert problem.solved_by("(bvadd t (bvneg s))")
    assert not problem.solved_by("(bvadd t s)")
    assert not problem.solved_by("(bvadd t")
    assert not problem.solved_by("(bvadd t s s)")
    assert not problem.solved_by("(unknown t)")
    found = sygus.shortest_solution(problem)
    assert problem.solved_by(found)
    automaton = scripts["table"].constraint(problem)
    assert automaton.accepts(f" {found})")
    assert not automaton.accepts(f" {found}")
    rng = random.Random(1)
    for name, python in (
        ("bvsub", lambda a, b: (a - b) % 16),
        ("bvashr", lambda a, b: (((a ^ 8) - 8) >> min(b, 15)) % 16),
        ("bvlshr", lambda a, b: a >> b),
        ("bvshl", lambda a, b: (a << b) % 16),
        ("bvudiv", lambda a, b: a // b if b else 15),
        ("bvsgt", lambda a, b: ((a ^ 8) - 8) > ((b ^ 8) - 8)),
    ):
        a, b = rng.randrange(16), rng.randrange(16)
        assert sygus.evaluate([name, "a", "b"], {"a": a, "b": b}, {}, 4) == python(a, b), (name, a, b)


def test_texts(scripts: dict[str, ModuleType], tmp_path: Path) -> None:
    sygus = scripts["sygus"]
    (tmp_path / "first.sl").write_text(TEXTS)
    problem = sygus.Problem.load(tmp_path / "first.sl")
    assert problem.solved_by('(str.substr name 0 (str.indexof name " " 0))')
    assert not problem.solved_by("(str.substr name 0 1)")
    assert problem.solved_by(sygus.shortest_solution(problem))
    for term, value in (
        ('(str.replace "banana" "an" "")', "bana"),
        ('(str.at "abc" 3)', ""),
        ('(str.substr "abc" 1 9)', "bc"),
        ('(str.indexof "abc" "c" 0)', 2),
        ('(str.indexof "abc" "x" 0)', -1),
        ('(str.to.int "12")', 12),
        ('(str.to.int "-1")', -1),
        ("(int.to.str (- 1))", ""),
        ('(str.prefixof "ab" "abc")', True),
        ('(ite (str.contains "abc" "b") "yes" "no")', "yes"),
        ('(str.++ "a""b" "c")', 'a"bc'),
    ):
        assert sygus.evaluate(sygus.read(term)[0], {}, {}, 4) == value, term
    with pytest.raises(sygus.NoValue):
        sygus.evaluate(sygus.read('(+ "a" "b")')[0], {}, {}, 4)


def test_prompts_show_other_problems(scripts: dict[str, ModuleType], tmp_path: Path) -> None:
    sygus = scripts["sygus"]
    for name, text in (("a", BITS), ("b", BITS.replace("bvult s #x9", "bvult #x9 s")), ("c", TEXTS)):
        (tmp_path / f"{name}.sl").write_text(text)
    problems = [sygus.Problem.load(tmp_path / f"{n}.sl") for n in "abc"]
    shown = scripts["table"].shown_before(problems[0], problems)
    assert [p.name for p, _ in shown] == ["b"]
    prompt = problems[0].prompt(shown)
    assert prompt.endswith("(define-fun inv ((s (BitVec 4)) (t (BitVec 4))) (BitVec 4)")
    assert shown[0][1] in prompt
    assert "Start" not in prompt  # the grammar is not shown


def test_the_table_goes_on_where_it_stopped(
    scripts: dict[str, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plus.sl").write_text(BITS)
    out = tmp_path / "results.jsonl"
    row = {
        "problem": "plus",
        "samples": [[" t)", -1.0, -0.5], [" s)", -2.0, -0.5]],
        "members": 2,
        "correct": 1,
        "distinct": 2,
        "log_z": -0.25,
        "model_calls": 7,
        "seconds": 1.0,
        "processor_seconds": 1.0,
        "error": "",
    }
    out.write_text("".join(json.dumps({**row, "sampler": s}) + "\n" for s in ("masked", "cars")))
    scripts["table"].main([str(tmp_path), "--out", str(out), "--samplers", "masked,cars"])
    shown = capsys.readouterr().out
    assert "50.0" in shown
    assert len(out.read_text().splitlines()) == 2
    scripts["table"].main([str(tmp_path), "--out", str(out), "--markdown"])
    lines = capsys.readouterr().out.splitlines()
    # KL of masking: log Z - mean log weight = -0.25 + 0.5.
    assert lines[2:] == [
        "| plus | - | 50.0 | - | - | 50.0 | 0.25 | - | - | 0.78 |",
        "| mean | - | 50.00 | - | - | 50.00 | 0.25 | - | - | |",
    ]


def test_the_table_draws_and_judges(
    scripts: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A model that writes each byte with its own probability, whatever comes before.
    import numpy as np

    (tmp_path / "plus.sl").write_text(BITS)
    vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), None], eos_token_ids=[256])
    weights = np.full(257, -9.0)
    for text, weight in ((b" ", 0.0), (b"st", 1.0), (b")", 2.0), (b"(", -1.0), (b"\n", 0.5)):
        weights[list(text)] = weight
    row = weights - np.log(np.exp(weights).sum())

    class Letters:
        def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> object:
            return np.tile(row, (len(prefixes), 1))

    table = scripts["table"]
    monkeypatch.setattr(table, "the_model", lambda console, dtype, device: (None, None, vocabulary))
    monkeypatch.setattr(table, "TransformersModel", lambda model, prompt, tokenizer: Letters())
    out = tmp_path / "results.jsonl"
    table.main([str(tmp_path), "--out", str(out), "--samples", "20", "--max-tokens", "12"])
    rows = {r["sampler"]: r for r in map(json.loads, out.read_text().splitlines())}
    assert list(rows) == list(table.SAMPLERS)
    for name, r in rows.items():
        assert len(r["samples"]) == 20, name
        assert r["members"] == 20 or name == "free"
        assert not r["error"]
    assert rows["free"]["members"] < 20
    assert abs(rows["cars"]["log_z"] - rows["asap"]["log_z"]) < 1


def test_known_solutions_are_checked(scripts: dict[str, ModuleType], tmp_path: Path) -> None:
    sygus = scripts["sygus"]
    (tmp_path / "firstname_small.sl").write_text(TEXTS)
    problem = sygus.Problem.load(tmp_path / "firstname_small.sl")
    assert problem.family == "firstname"
    assert problem.logic == "SLIA"
    assert problem.a_solution() == sygus.KNOWN_SOLUTIONS["firstname_small"]
    (tmp_path / "firstname_small.sl").write_text(TEXTS.replace('"Ada")', '"Ada-")').replace('"Emmy")', '"Emmy-")'))
    changed = sygus.Problem.load(tmp_path / "firstname_small.sl")
    assert changed.a_solution() is None  # the known one fails, and a longer one is not found easily


def test_curves(scripts: dict[str, ModuleType], tmp_path: Path) -> None:
    trees = scripts["trees"]
    model, _ = trees.load(trees.TREES, "binary5-fewshot")
    exact = model.conditional()
    from tokamata.decode.sampling import ASAp, learning_curve, plot_expectation, plot_kl

    curve = learning_curve(trees.maker(ASAp, trees.TREES, "binary5-fewshot"), exact, [0, 10, 50], range(3))
    assert curve.kl.shape == curve.expectation.shape == curve.model_calls.shape == (3, 3)
    assert abs(curve.kl[0, 0] - 1.9866) < 1e-3
    assert (curve.kl[:, 2] < 0.01).all()
    squares = math.fsum(math.exp(2 * p) for p in exact.values())
    assert (abs(curve.expectation[:, 2] - squares) < 0.01).all()
    for plot in (plot_kl, plot_expectation):
        plot({"ASAp": curve}, tmp_path / "curve.svg", title="t", levels={"masking": 1.987})
        before = (tmp_path / "curve.svg").read_text()
        assert "<svg" in before
        plot({"ASAp": curve}, tmp_path / "curve.svg", title="t", levels={"masking": 1.987})
        assert (tmp_path / "curve.svg").read_text() == before  # no dates, no random names


def test_brackets(scripts: dict[str, ModuleType]) -> None:
    brackets = scripts["brackets"]
    for tree in (*brackets.SHOWN, *brackets.ASKED):
        words = brackets.words_of(tree)
        assert brackets.constraint(words).accepts(" " + tree), tree
        assert brackets.f1(tree, tree) == 1
    tree = brackets.ASKED[0]
    half = tree.replace("(VP (VBD watered)", "(NP (VBD watered)")
    samples = [Sample((), " " + t, -1.0, w, False) for t, w in ((half, 0.0), (tree, math.log(3)))]
    first, mean, weighted, _, log_p = brackets.figures(samples, tree)
    assert first < mean < weighted == pytest.approx((first + 3) / 4)
    assert mean == pytest.approx((first + 1) / 2)
    assert log_p == -1
    right = "(S (NP (PRP He)) (VP (VBZ reads)))"
    assert brackets.f1("(S (NP (PRP He)) (NP (VBZ reads)))", right) == pytest.approx(0.8)

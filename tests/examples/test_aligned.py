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
        "correct": 1,
        "distinct": 2,
        "log_z": -0.5,
        "model_calls": 7,
        "seconds": 1.0,
        "error": "",
    }
    out.write_text("".join(json.dumps({**row, "sampler": s}) + "\n" for s in ("masked", "cars")))
    scripts["table"].main([str(tmp_path), "--out", str(out), "--samplers", "masked,cars"])
    shown = capsys.readouterr().out
    assert "50.0" in shown
    assert len(out.read_text().splitlines()) == 2


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
        assert "<svg" in (tmp_path / "curve.svg").read_text()


def test_brackets(scripts: dict[str, ModuleType]) -> None:
    brackets = scripts["brackets"]
    for tree in (*brackets.SHOWN, *brackets.ASKED):
        words = brackets.words_of(tree)
        assert brackets.constraint(words).accepts(" " + tree), tree
        assert brackets.f1(tree, tree) == 1
    right = "(S (NP (PRP He)) (VP (VBZ reads)))"
    assert brackets.f1("(S (NP (PRP He)) (NP (VBZ reads)))", right) == pytest.approx(0.8)

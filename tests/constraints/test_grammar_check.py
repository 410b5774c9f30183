"""Diagnoses of grammars: useless and recursive rules, conflicts, and ambiguity against counted derivations."""

from __future__ import annotations

import itertools
import random

import pytest
from oracle.grammar import derivations
from tokamata.constraints.gbnf_source import read_gbnf
from tokamata.constraints.grammar_check import check
from tokamata.constraints.grammar_source import GrammarSource, Place, Production, Rule, Terminal
from tokamata.constraints.lark_source import read_lark

import tokamata


def random_source(rng: random.Random) -> GrammarSource:
    """Up to four rules over up to three terminals, short right-hand sides, some of them empty."""
    rules, terminals = rng.randrange(1, 5), rng.randrange(1, 4)
    symbols = [*range(rules), *(~t for t in range(terminals)), -1]
    productions = [
        Production(r, tuple(rng.choice(symbols) for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))))
        for r in range(rules)
        for _ in range(rng.randrange(1, 4))
    ]
    return GrammarSource(
        "lark",
        "basic",
        tuple(Terminal("abc"[t], tokamata.literal("abc"[t]), b"abc"[t : t + 1]) for t in range(terminals)),
        tuple(Rule("stuv"[r]) for r in range(rules)),
        tuple(productions),
        0,
    )


def shown(source: GrammarSource) -> str:
    return " ; ".join(source.show(p) for p in source.productions)


@pytest.mark.parametrize("block", range(4))
def test_ambiguity_equals_counted_derivations(block: int) -> None:
    """Of random grammars: a shown sentence has two derivations; a deterministic grammar has none with two."""
    ambiguous = deterministic = 0
    for i in range(60):
        seed = 1000 * block + i
        source = random_source(random.Random(seed))
        diagnosis = check(source)
        names = {source.label(~t): t for t in range(len(source.terminals))}
        most = 0
        for length in range(5):
            for sentence in itertools.product(range(len(source.terminals)), repeat=length):
                most = max(most, derivations(source, sentence))
        if diagnosis.ambiguity is not None:
            ambiguous += 1
            sentence = tuple(names[name] for name in diagnosis.ambiguity.sentence)
            assert derivations(source, sentence) > 1, f"seed {seed}: {shown(source)}: {diagnosis.ambiguity}"
            assert diagnosis.ambiguity.derivations[0] != diagnosis.ambiguity.derivations[1] or any(
                c.kind == "twice" for c in diagnosis.conflicts
            ), f"seed {seed}: {shown(source)}"
        if diagnosis.deterministic:
            deterministic += 1
            assert most <= 1, f"seed {seed}: {shown(source)}"
        if most > 1:
            assert diagnosis.ambiguity is not None, f"seed {seed}: {shown(source)}"
    assert ambiguous > 10
    assert deterministic > 10


def test_useless_and_recursive_rules() -> None:
    source = read_lark(
        'start: b | e\nb: "x" b\n  | c\nc: d "y" | start "z"\nd: d2?\nd2: "z" | none\n'
        'none: none "q"\n unused: "x" unused\ntemplate{x}: x\ne: d e "w" | "v"\n'
    )
    diagnosis = check(source)
    assert [(f.rule, f.place) for f in diagnosis.unreachable] == [("unused", Place(8, 2)), ("template", Place(9, 1))]
    assert [(f.rule, f.place) for f in diagnosis.unproductive] == [("none", Place(7, 1))]
    assert [(f.rule, f.kind, f.path) for f in diagnosis.left_recursive] == [
        ("start", "indirect", ("start", "b", "c", "start")),
        ("b", "indirect", ("b", "c", "start", "b")),
        ("c", "indirect", ("c", "start", "b", "c")),
        ("none", "direct", ("none", "none")),
        ("e", "hidden", ("e", "e")),
    ]
    assert [f.rule for f in diagnosis.nullable] == ["d"]
    assert diagnosis.cyclic == ()
    entries = diagnosis.report_entries()
    assert ("line 8, column 2", "unused", "ignored") in [(e.place, e.subject, e.status) for e in entries]
    assert any(e.detail == "indirect left recursion: start -> b -> c -> start" for e in entries)


def test_cyclic_rules() -> None:
    diagnosis = check(read_lark('start: a\na: b | "x"\nb: c? a d?\nc: "c"\nd: "d"\n'))
    assert [f.rule for f in diagnosis.cyclic] == ["a", "b"]
    assert diagnosis.ambiguity is not None
    assert diagnosis.ambiguity.sentence == ('"x"',)
    assert diagnosis.ambiguity.derivations == ('a("x")', 'a(b(a("x")))')


def test_dangling_else() -> None:
    source = read_lark(
        'start: s+\ns: "if" e "then" s | "if" e "then" s "else" s | N "=" e\ne: e "+" t | t\nt: N\nN: /[a-z]+/\n'
    )
    diagnosis = check(source)
    assert diagnosis.deterministic is False
    (conflict,) = diagnosis.conflicts
    assert (conflict.kind, conflict.terminal) == ("shift/reduce", '"else"')
    assert [source.show(p) for p in conflict.productions] == [
        's: "if" e "then" s',
        's: "if" e "then" s "else" s',
    ]
    assert diagnosis.ambiguity is not None
    assert " ".join(diagnosis.ambiguity.sentence) == '"if" N "then" "if" N "then" N "=" N "else" N "=" N'
    assert set(diagnosis.ambiguity.derivations) == {
        's("if" e "then" s("if" e "then" s "else" s))',
        's("if" e "then" s("if" e "then" s) "else" s)',
    }


def test_lr2_is_not_deterministic_but_no_ambiguity_is_claimed() -> None:
    diagnosis = check(read_lark('start: a "x" "y" | b "x" "z"\na: "q"\nb: "q"\n'))
    assert diagnosis.deterministic is False
    assert [c.kind for c in diagnosis.conflicts] == ["reduce/reduce"]
    assert diagnosis.ambiguity is None


def test_without_a_lexer_bytes_decide() -> None:
    assert check(read_gbnf('root ::= "a" x\nx ::= "b" x | "c"')).deterministic is True
    diagnosis = check(read_gbnf('root ::= "a" x | [a-c]+ x\nx ::= "b" root? | "q"'))
    assert diagnosis.deterministic is False
    assert [c.detail for c in diagnosis.conflicts] == [
        "\"a\" and [a-c]+: both may begin with 'a'",
        "[a-c]+ and \"b\": the first may go on, or the second begin, with 'b'",
    ]
    blanks = check(read_gbnf('root ::= "a" ws root ws | "b"\nws ::= [ ]*\n'))
    assert blanks.deterministic is False
    assert any("[ ]*" in c.detail or "[ ]*" in c.terminal for c in blanks.conflicts)
    assert check(read_gbnf('root ::= "a" ws "b"\nws ::= [ ]*\n')).deterministic is True


def test_written_twice() -> None:
    diagnosis = check(read_gbnf('root ::= "a" (x | y | x)\nx ::= "b" root\ny ::= "c" y | "d"\n'))
    assert diagnosis.deterministic is False
    assert any(e.detail.endswith("is written twice") for e in diagnosis.report_entries())
    assert diagnosis.ambiguity is not None


def test_large_grammars_stay_open() -> None:
    """LR(0) states that grow exponentially: no answer instead of a long search."""
    n = 18
    rules = [f'a{i}: "x" a{i} "y" | {" | ".join(f"T{j} a{i}" for j in range(n) if j != i)} | Z{i}' for i in range(n)]
    terminals = [f'T{i}: "t{i}"\nZ{i}: "z{i}"' for i in range(n)]
    text = "start: " + " | ".join(f"a{i}" for i in range(n)) + "\n" + "\n".join(rules + terminals) + "\n"
    assert check(read_lark(text)).deterministic is None


def test_report_and_strict() -> None:
    """The report of a constraint holds the diagnosis; strict=True refuses what is not deterministic."""
    text = 'start: e\ne: e "+" e | N\nN: /[0-9]+/\nM: "m"\n'
    report = tokamata.grammar(text).report
    assert ("line 4, column 1", "M", "ignored", "no rule uses this terminal") in [
        (e.place, e.subject, e.status, e.detail) for e in report
    ]
    assert any(e.detail.startswith('ambiguous: N "+" N "+" N: e(e ') for e in report)
    with pytest.raises(tokamata.ConstraintError, match=r'strict=True.* line 2, column 1: e: ambiguous: N "\+" N'):
        tokamata.grammar(text, strict=True)
    constraint = tokamata.grammar('start: e\ne: e "+" N | N\nN: /[0-9]+/\n', strict=True)
    assert "deterministic" in [e.detail for e in constraint.report]

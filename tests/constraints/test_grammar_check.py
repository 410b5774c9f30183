"""Diagnoses of grammars: useless and recursive rules, conflicts, and ambiguity against counted derivations."""

from __future__ import annotations

import itertools
import json
import random
import re
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from oracle.grammar import derivations, recognize, shortest, text_derivations
from tokamata.constraints.ebnf_source import read_ebnf
from tokamata.constraints.gbnf_source import read_gbnf
from tokamata.constraints.grammar_ambiguity import ambiguity
from tokamata.constraints.grammar_check import GrammarDiagnosis, check
from tokamata.constraints.grammar_source import (
    GrammarSource,
    GrammarSyntax,
    Lexing,
    Place,
    Production,
    Rule,
    Terminal,
)
from tokamata.constraints.grammar_use import beaten
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


# Terminals of one character, so that longest match plays no part: their order alone decides.
OVERLAPPING = ["a", "b", "[ab]", "[bc]", "[abc]", "a&b", "c", "[ab]"]


def random_overlapping(rng: random.Random, lexer: Lexing) -> GrammarSource:
    """Rules as `random_source` has them, over terminals that share texts, match nothing or are ignored."""
    plain = random_source(rng)
    terminals = []
    for t, written in enumerate(rng.sample(OVERLAPPING, 4)):
        never = tokamata.literal("a") & "b"
        constraint = never if "&" in written else tokamata.regex(written)
        text = written.encode() if len(written) == 1 else None
        terminals.append(Terminal(f"T{t}", constraint, text, ignored=rng.random() < 0.1))
    mixed = tuple(
        Production(p.rule, tuple(~rng.randrange(4) if s < 0 else s for s in p.symbols)) for p in plain.productions
    )
    return replace(plain, lexer=lexer, terminals=tuple(terminals), productions=mixed)


def wins(source: GrammarSource, terminal: int, competing: Iterable[int]) -> bool:
    """Whether some character is of the terminal and of none before it that competes."""
    before = [source.terminals[c].constraint for c in competing if c < terminal]
    own = source.terminals[terminal]
    return not own.ignored and any(own.constraint.accepts(c) and not any(b.accepts(c) for b in before) for c in "abc")


def prefixes(source: GrammarSource, seen: Iterable[int]) -> GrammarSource:
    """A grammar of the prefixes of the sentences over the terminals ``seen``."""
    kept = [p for p in source.productions if all(s >= 0 or ~s in seen for s in p.symbols)]
    size, able = len(source.rules), shortest(replace(source, productions=tuple(kept)))
    kept = [p for p in kept if all(s < 0 or s in able for s in p.symbols)]
    cut = [Production(size + p.rule, ()) for p in kept]
    for p in kept:
        for i, s in enumerate(p.symbols):
            cut.append(Production(size + p.rule, (*p.symbols[:i], s if s < 0 else size + s)))
    return replace(source, rules=source.rules * 2, productions=(*kept, *cut), start=size + source.start)


@pytest.mark.parametrize("lexer", ["basic", "contextual"])
@pytest.mark.parametrize("block", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_terminals_that_are_never_read_take_no_part(lexer: Lexing, block: int) -> None:
    """Derivations are counted over what the lexer yields; what loses everywhere to others makes nothing ambiguous."""
    lost = spared = 0
    for i in range(40):
        seed = 500 * block + i
        source = random_overlapping(random.Random(seed), lexer)
        numbers = range(len(source.terminals))
        ignored = [t for t in numbers if source.terminals[t].ignored]
        seen = [t for t in numbers if wins(source, t, numbers if lexer == "basic" else ignored)]
        begun = prefixes(source, seen)

        def read(sentence: tuple[int, ...], seen: list[int] = seen, begun: GrammarSource = begun) -> bool:
            numbers = range(len(begun.terminals))
            if lexer == "basic":
                return all(t in seen for t in sentence)
            return all(
                wins(
                    begun, t, [c for c in numbers if begun.terminals[c].ignored or recognize(begun, (*sentence[:k], c))]
                )
                for k, t in enumerate(sentence)
            )

        where = f"seed {seed}: {shown(source)} {[(t.constraint.source, t.ignored) for t in source.terminals]}"
        counts = {
            sentence: count
            for length in range(4)
            for sentence in itertools.product(numbers, repeat=length)
            if (count := derivations(source, sentence))
        }
        members = {sentence: count for sentence, count in counts.items() if read(sentence)}
        most = max(members.values(), default=0)
        diagnosis = check(source)
        never = {f.terminal for f in diagnosis.never_read}
        assert not never & {source.label(~t) for sentence in members for t in sentence}, where
        if diagnosis.deterministic:
            assert most <= 1, where
        if most > 1:
            assert diagnosis.ambiguity is not None, where
        if lexer == "basic":
            able = shortest(replace(source, productions=begun.productions))
            called = [
                r
                for r in range(len(source.rules))
                if source.rules[r].name not in {f.rule for f in diagnosis.unreachable}
            ]
            assert [f.rule for f in diagnosis.unproductive] == [source.rules[r].name for r in called if r not in able]
            if diagnosis.ambiguity is not None:
                names = {source.label(~t): t for t in numbers}
                sentence = tuple(names[name] for name in diagnosis.ambiguity.sentence)
                assert read(sentence), where
                assert derivations(source, sentence) > 1, where
        lost += bool(never)
        spared += diagnosis.deterministic is True and max(counts.values(), default=0) > 1
    assert lost > 10
    assert spared > 0 or lexer == "contextual"


def random_gbnf(rng: random.Random) -> str:
    """Up to three rules of strings, classes, groups and calls, over a, b and c."""
    rules = ["root", "x", "y"][: rng.randrange(2, 4)]
    atoms = ['"a"', '"b"', '"ab"', "[ab]", "[bc]", "[a-c]+", '"b"*', '"c"', '"a"?', *rules[1:] * 3]

    def sequence(depth: int) -> str:
        parts = [rng.choice(atoms) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
        if depth and rng.random() < 0.3:
            parts.append(f"({sequence(0)} | {sequence(0)}){rng.choice(['', '', '?', '*', '+'])}")
        return " ".join(parts)

    return "".join(f"{r} ::= {' | '.join(sequence(1) for _ in range(rng.randrange(1, 4)))}\n" for r in rules)


@pytest.mark.parametrize("block", range(4))
def test_ambiguous_texts_equal_counted_derivations(block: int) -> None:
    """Of random GBNF: a shortest text with two derivations is shown; a deterministic grammar has none."""
    texts = [bytes(t) for n in range(5) for t in itertools.product(b"abc", repeat=n)]
    ambiguous = deterministic = 0
    for i in range(25):
        seed = 1000 * block + i
        written = random_gbnf(random.Random(seed))
        source = read_gbnf(written).written()
        diagnosis = check(source)
        short = next((t for t in texts if text_derivations(source, t, 2) > 1), None)
        if diagnosis.deterministic:
            deterministic += 1
            assert short is None, f"seed {seed}: {written} {short!r}"
        if short is not None:
            assert diagnosis.ambiguity is not None, f"seed {seed}: {written} {short!r}"
        if diagnosis.ambiguity is not None:
            ambiguous += 1
            text = diagnosis.ambiguity.text
            assert text is not None
            assert text_derivations(source, text, 2) > 1, f"seed {seed}: {written} {diagnosis.ambiguity}"
            assert diagnosis.ambiguity.derivations[0] != diagnosis.ambiguity.derivations[1] or any(
                c.kind == "twice" for c in diagnosis.conflicts
            ), f"seed {seed}: {written} {diagnosis.ambiguity}"
            if short is not None and text_derivations(source, text) < 100:  # no cycle, whose text may be longer
                assert len(text) == len(short), f"seed {seed}: {written} {short!r} {text!r}"
    assert ambiguous > 10
    assert deterministic > 3


def test_a_shorter_text_than_that_of_what_is_written_twice() -> None:
    diagnosis = check(read_gbnf('root ::= x x | x x | "c" ([a]* | y)\nx ::= "ab"\ny ::= "a"\n'))
    assert any(c.kind == "twice" for c in diagnosis.conflicts)
    assert diagnosis.ambiguity is not None
    assert diagnosis.ambiguity.text == b"ca"


def test_parts_that_call_no_rule_are_one_expression() -> None:
    for text in ("root ::= [ab] | [bc]", 'root ::= "ab" | [ab] [bc]', 'root ::= ("x" | "x") root | "y"'):
        assert tokamata.grammar(text, syntax="gbnf", strict=True).report[-1].detail == "deterministic"
    split = check(read_gbnf("root ::= x | [bc]\nx ::= [ab]\n"))
    assert split.ambiguity is not None
    assert split.ambiguity.text == b"b"


def test_conflicts_without_a_lexer_name_rules_and_places() -> None:
    text = "root ::= x | y\n\n\nx ::= [ab]+\ny ::= [bc]+\n"
    report = tokamata.grammar(text, syntax="gbnf").report
    assert [(e.place, e.subject, e.detail) for e in report] == [
        (
            "line 4, column 7",
            "x",
            "not deterministic: [ab]+ and [bc]+: both may begin with 'b': x: [ab]+ (line 4, column 7), "
            "or y: [bc]+ (line 5, column 7)",
        ),
        ("line 1, column 1", "root", 'ambiguous: "b": root(x("b")) or root(y("b"))'),
    ]
    with pytest.raises(tokamata.ConstraintError, match=r'root: ambiguous: "b".*x: \[ab\]\+ \(line 4, column 7\)'):
        tokamata.grammar(text, syntax="gbnf", strict=True)
    after = check(read_gbnf('root ::= x rest\nx ::= "a" | "b"+ x\nrest ::= y "c"\ny ::= z\nz ::= "bd"\n'))
    assert {(source_rule(after, p), str(p.place)) for c in after.conflicts for p in c.productions} >= {
        ("x", "line 2, column 13"),
    }
    named = check(read_lark("// lexer: none\nstart: A | B\nA: /[ab]/\nB: /[bc]/\n")).ambiguity
    assert named is not None
    assert named.derivations == ('start(A("b"))', 'start(B("b"))')


def source_rule(diagnosis: GrammarDiagnosis, production: Production) -> str:
    return diagnosis.source.rules[production.rule].name


def test_long_texts_around_what_is_ambiguous() -> None:
    """Terminals that are alike in both derivations stay symbols, so that length costs nothing."""
    source = read_gbnf(
        'root ::= x "function of many letters" root | x\nx ::= y | z\n'
        'y ::= "a" [0-9]+ v\nz ::= "a" v [b0-9]+\nv ::= "7" v | "8"\n'
    ).written()
    found = check(source).ambiguity
    assert found is not None
    assert text_derivations(source, found.text or b"", 2) > 1


def test_sides_of_exceptions_are_no_unreachable_rules() -> None:
    text = "a ::= b - c 'z'\nb ::= d+\nc ::= 'xx'\nd ::= 'x'\nf ::= 'y' - e\ne ::= 'z'\n"
    assert [f.rule for f in check(read_ebnf(text)).unreachable] == ["f", "e"]


def test_two_terminals_win_over_one_or_one_with_a_priority() -> None:
    (found,) = check(read_lark("start: A | B | C\nA: /q{1,3}/\nB: /r{1,3}/\nC: /[qr]/\n")).never_read
    assert found.why.startswith("other terminals come first for all that it matches: give it a priority, C.1: ...")
    (found,) = check(read_lark("start: A | C\nA.4: /[a-z]+/\nC: /q/\n")).never_read
    assert found.why.startswith("A comes first for all that it matches: give it a priority, C.5: ...")
    raised = "start: A | C\nA.4: /[a-z]+/\nC.5: /q/\n"
    assert check(read_lark(raised)).never_read == ()


def test_what_matches_nothing_or_always_loses() -> None:
    both = 'start: a | b\na: "y" | EMPTY\nb: "z" | EMPTY\nEMPTY: "p" & "q"\n'
    assert tokamata.grammar(both, strict=True).accepts("z")
    losing = 'start: a | b | A\na: "y" | B\nb: "z" | B\nA: /q/\nB: /q/\n'
    for text, more in ((losing, ', or pass lexer="contextual"'), ("// lexer: contextual\n" + losing, "")):
        diagnosis = check(read_lark(text))
        assert diagnosis.deterministic
        (found,) = diagnosis.never_read
        assert (found.terminal, found.why) == (
            "B",
            f"A comes first for all that it matches: give it a priority, B.1: ...{more}",
        )
    apart = "// lexer: contextual\nstart: a A | b\na: B\nb: B\nA: /q/\nB: /q/\n"
    assert check(read_lark(apart)).never_read == ()
    assert check(read_lark(apart[len("// lexer: contextual\n") :])).never_read != ()
    diagnosis = check(read_lark("start: c | A\nc: B\nA: /q/\nB: /q/\n"))
    assert [(f.rule, f.place) for f in diagnosis.unproductive] == [("c", Place(2, 1))]
    ahead = check(read_lark("start: A | B\nA.1: /q(?=r)/\nB: /q/\n"))  # A wins only before an r
    assert ahead.never_read == ()


def _terminals(rng: random.Random, count: int) -> list[Terminal]:
    made = []
    for i in range(count):
        text = "".join(rng.choices("abc", k=rng.randint(1, 2)))
        if rng.random() < 0.3:
            made.append(Terminal(f'"{text}"', tokamata.literal(text), text.encode()))
        else:
            made.append(Terminal(f"T{i}", tokamata.regex(text + rng.choice(["[ab]*", "[a-c]", "?", "+", "{0}"]))))
    return made


def _source(terminals: list[Terminal]) -> GrammarSource:
    return GrammarSource("lark", "basic", tuple(terminals), (Rule("start"),), (Production(0, (~0,)),), 0)


def test_terminals_are_beaten_by_all_rivals_before_them() -> None:
    lost = kept = 0
    for seed in range(40):
        rng = random.Random(seed)
        terminals = _terminals(rng, rng.randint(2, 24))
        rivals = [t for t in terminals if rng.random() < 0.8]
        among = None if rng.random() < 0.5 else set(rng.sample(range(len(terminals)), k=len(terminals) // 2))
        found = beaten(_source(terminals), rivals, among)
        for i, terminal in enumerate(terminals):
            before: tokamata.Constraint = tokamata.literal("z")
            for other in terminals[:i]:
                before = before | other.constraint if other in rivals else before
            loses = (among is None or i in among) and (terminal.constraint - before).is_empty()
            assert (i in found) == loses, f"seed {seed}: {terminal.name}"
            lost, kept = lost + loses, kept + (not loses)
    assert lost > 50
    assert kept > 100


def test_which_of_many_patterns_are_beaten_is_found_soon() -> None:
    rng = random.Random(1)
    texts = ["".join(rng.choices("abcdefgh", k=5)) for _ in range(2000)]
    source = _source([Terminal(text, tokamata.regex(f"{text}[0-9]+")) for text in texts])
    begin = time.process_time()
    found = beaten(source, source.terminals)
    assert time.process_time() - begin < 1.5  # 0.2; 4 where each was compared with all before it
    assert found == {i for i, text in enumerate(texts) if text in texts[:i]}


@pytest.mark.parametrize(
    ("text", "syntax", "message"),
    [
        (
            'start: a\na: _x{b}\n_x{p}: p | _x{p} p\nb: "b" bb\nbb: bb\n',
            "lark",
            r"line 1, column 1: the start rule start has no text: .*without text are the rules start \(line 1, column "
            r"1\), a \(line 2, column 1\), b \(line 4, column 1\), bb \(line 5, column 1\); add",
        ),
        ("\nstart: start", "lark", "line 2, column 1: the start rule start has no text"),
        ('start: A B\nA: "a"\nB: "x" & "y"\n', "lark", r"terminals B \(line 3, column 1: it matches nothing\); add"),
        (
            'start: x "b".."d"\nx: /[a-e]+/\n',
            "lark",
            r"terminals \"b\"\.\.\"d\" \(line 1, column 10: /\[a-e\]\+/ comes first for all that it matches: pass",
        ),
        ('start: "a" B\nB: "b"\n%ignore B\n', "lark", r"\"b\" \(line 2, column 1: it is ignored"),
        ('root ::= "a" x\nx ::= root "b"\n', "gbnf", r"line 1, column 1: .* root \(.*, x \(line 2, column 1\); add"),
    ],
)
def test_a_start_without_text_names_what_is_to_blame(text: str, syntax: GrammarSyntax, message: str) -> None:
    with pytest.raises(tokamata.ConstraintError, match=message):
        tokamata.grammar(text, syntax=syntax)


def test_what_is_imported_without_text_has_no_place(tmp_path: Path) -> None:
    (tmp_path / "inner.lark").write_text("a: b B\nb: b\nB: C\nC: /x/\n")
    with pytest.raises(tokamata.ConstraintError, match="without text are the rules") as raised:
        tokamata.grammar("start: C a\nC: /x/\n%import .inner.a\n", import_paths=[tmp_path])
    assert "inner__b" in str(raised.value)
    assert "inner__B (" in str(raised.value)
    assert "None" not in str(raised.value)


def test_recursion_inside_groups_is_direct() -> None:
    found = check(read_gbnf('root ::= y | z\ny ::= (y "a")? "b"\nz ::= (w | "c")* "d"\nw ::= z "e"\n')).left_recursive
    assert [(f.rule, f.kind, f.path) for f in found] == [
        ("y", "direct", ("y", "y")),
        ("z", "indirect", ("z", "w", "z")),
        ("w", "indirect", ("w", "z", "w")),
    ]


def _shortest_returns(edges: dict[str, set[str]]) -> dict[str, int]:
    """By relaxing all pairs: how many calls lead back, of each rule from which some do."""
    far = {(a, b): 1 for a, targets in edges.items() for b in targets}
    for k, a, b in itertools.product(edges, repeat=3):
        if (a, k) in far and (k, b) in far:
            far[a, b] = min(far.get((a, b), 99), far[a, k] + far[k, b])
    return {a: far[a, a] for a in edges if (a, a) in far}


def test_left_recursion_of_random_rules() -> None:
    recursive = hidden = 0
    for seed in range(200):
        rng = random.Random(seed)
        size = rng.randint(1, 7)
        calls = {f"r{i}": {f"r{rng.randrange(size)}" for _ in range(rng.randint(0, 2))} for i in range(size)}
        after = {f"r{i}": {f"r{rng.randrange(size)}" for _ in range(rng.choice([0, 0, 1]))} for i in range(size)}
        lines = [
            f"{r} ::= " + " | ".join([f'"{r}"', *(f'{x} "x"' for x in calls[r]), *(f'e {x} "x"' for x in after[r])])
            for r in calls
        ]
        found = check(read_gbnf("\n".join(["root ::= " + " | ".join(calls), 'e ::= "" | "e"', *lines]))).left_recursive
        plain = _shortest_returns(calls)
        every = _shortest_returns({r: calls[r] | after[r] for r in calls})
        want = {r: ("direct" if n == 1 else "indirect", n) for r, n in plain.items()}
        want |= {r: ("hidden", n) for r, n in every.items() if r not in plain}
        assert {f.rule: (f.kind, len(f.path) - 1) for f in found} == want, f"seed {seed}: {lines}"
        recursive += len(plain)
        hidden += len(every) - len(plain)
    assert recursive > 100
    assert hidden > 50


@pytest.mark.parametrize("size", [4_000, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("last", ['"a"', 'r0 "a" | "b"'], ids=["chain", "circle"])
def test_long_left_spines(last: str, size: int) -> None:
    """Rules that begin with the next one, thousands of them: paths back are shown as far as that takes little time."""
    rules = [f'r{i} ::= r{i + 1} "c"' for i in range(size - 1)]
    began = time.process_time()
    found = check(read_gbnf("\n".join(["root ::= r0", *rules, f"r{size - 1} ::= {last}"]))).left_recursive
    assert time.process_time() - began < size / 1000
    assert len(found) == (0 if last == '"a"' else size)
    if found:
        assert len(found[0].path) == size + 1
        assert found[-1].path == (f"r{size - 1}", "...", f"r{size - 1}")


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


def of_shown(source: GrammarSource, rule: int, shown: str) -> tuple[int | str, ...]:
    """The symbols and letters that a derivation derives, each of whose steps is a production."""
    words = re.findall(r'"(?:[^"\\]|\\.)*"|\w+\(?|\)', shown)
    assert "".join(words) == shown.replace(" ", "")
    numbers = {source.name(s): s for s in (*range(len(source.rules)), *(~t for t in range(len(source.terminals))))}
    position = 0

    def below() -> list[tuple[set[int], tuple[int | str, ...]]]:
        """What stands between brackets: of each part the symbols that it may be of, and what it derives."""
        nonlocal position
        found: list[tuple[set[int], tuple[int | str, ...]]] = []
        while position < len(words) and words[position] != ")":
            word = words[position]
            position += 1
            if word[0] == '"':
                text = json.loads(word)
                able = {~t for t, terminal in enumerate(source.terminals) if terminal.constraint.accepts(text)}
                found.append((able, tuple(text)))
            elif word[-1] != "(":
                found.append(({numbers[word]}, (numbers[word],)))
            else:
                symbol, parts = numbers[word[:-1]], below()
                assert words[position] == ")"
                position += 1
                ways = [p.symbols for p in source.productions if p.rule == symbol] if symbol >= 0 else [(symbol,)]
                empty = () in ways and [derived for _, derived in parts] == [()]
                wide = [able for able, _ in parts]
                fitting = [w for w in ways if len(w) == len(wide) and all(map(set.__contains__, wide, w))]
                assert empty or fitting, f"{word} {parts} in {shown}"
                found.append(({symbol}, tuple(s for _, derived in parts for s in derived)))
        return found

    ((able, derived),) = below()
    assert able == {rule}
    return derived


@pytest.mark.parametrize("lexer", ["basic", "none"])
@pytest.mark.parametrize("block", range(2))
def test_shown_derivations_derive(lexer: Lexing, block: int) -> None:
    """Of random grammars, cyclic ones among them: both derivations are some, differ, and derive the same part."""
    texts = ["a", "b", "", "a?", "[ab]"]
    cyclic = 0
    for i in range(100):
        seed = 1000 * block + i
        rng = random.Random(seed)
        source = random_source(rng)
        if lexer == "none":
            chosen = rng.sample(texts, len(source.terminals))
            literals = {"a": b"a", "b": b"b", "": b""}
            terminals = (Terminal(f"T{t}", tokamata.regex(w), literals.get(w)) for t, w in enumerate(chosen))
            source = replace(source, lexer="none", terminals=tuple(terminals))
        diagnosis = check(source)
        found = diagnosis.ambiguity
        if found is None or any(c.kind == "twice" for c in diagnosis.conflicts):
            continue
        rule = next(r for r, made in enumerate(source.rules) if made.name == found.rule)
        where = f"seed {seed}: {shown(source)}: {found}"
        try:
            one, other = (of_shown(source, rule, derivation) for derivation in found.derivations)
        except AssertionError as error:
            raise AssertionError(where) from error
        assert one == other, where
        assert found.derivations[0] != found.derivations[1], where
        if all(isinstance(s, str) for s in one):
            sentence = " ".join(found.sentence).replace('"', "").replace(" ", "")
            assert "".join(map(str, one)) in sentence, where
        cyclic += bool(diagnosis.cyclic)
    assert cyclic > 10


def test_derivations_of_cyclic_rules_name_all_rules() -> None:
    expected = {
        'root ::= x | root\nx ::= "a"\n': ('root(x("a"))', 'root(root(x("a")))'),
        'root ::= "a" root | x\nx ::= root? ""\n': (
            'root(x(root?("") ""))',
            'root(x(root?(root(x(root?("") ""))) ""))',
        ),
    }
    for text, both in expected.items():
        found = check(read_gbnf(text)).ambiguity
        assert found is not None
        assert found.derivations == both


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
    for more in ("", "%import common.WS\n%ignore WS\n"):  # used by its text
        report = tokamata.grammar(f'start: "(" "a"\nLPAR: "("\n{more}').report
        assert [e.detail for e in report if e.subject == "LPAR"] == []
    with pytest.raises(tokamata.ConstraintError, match=r'strict=True.* line 2, column 1: e: ambiguous: N "\+" N'):
        tokamata.grammar(text, strict=True)
    constraint = tokamata.grammar('start: e\ne: e "+" N | N\nN: /[0-9]+/\n', strict=True)
    assert "deterministic" in [e.detail for e in constraint.report]


@pytest.mark.parametrize("lexer", ["none", "basic"])
@pytest.mark.parametrize("letter", ['"b" ', ""])
@pytest.mark.parametrize("order", [1, -1])
def test_long_chains_of_rules(letter: str, order: int, lexer: Literal["none", "basic"]) -> None:
    """What each rule derives depends on the last, be it written last or first; rules of one length call each other."""
    rules = [f"r{i}: {letter}r{i + 1}" for i in range(450)] + ['r450: "z"']
    constraint = tokamata.grammar("start: r0\n" + "\n".join(rules[::order]), lexer=lexer, strict=True)
    assert [entry.detail for entry in constraint.report] == ["deterministic"]


def test_rules_that_nest_too_deeply_for_the_search() -> None:
    """1,500 rules of one length, each of which calls the next one: whether they are ambiguous stays open."""
    rules = [f"r{i}: r{i + 1}" for i in range(1500)] + ['r1500: "z" | "z"']
    source = read_lark("start: r0\n" + "\n".join(rules))
    assert ambiguity(source, range(len(source.rules)), frozenset()) is None


DOUBLED = "root ::= {}\n" + "".join(f"r{i} ::= r{i + 1} r{i + 1}\n" for i in range(60)) + "r60 ::= {}\n"


@pytest.mark.parametrize(
    ("text", "derivations"),
    [
        (DOUBLED.format("r0", '"a" | ""'), ('r59(r60("") r60("a"))', 'r59(r60("a") r60(""))')),
        (DOUBLED.format('r0 x | x r0\nx ::= "a"', '""'), ('root(r0(... "") x("a"))', 'root(x("a") r0(... ""))')),
        (
            DOUBLED.format('y z\ny ::= r0 | "a"\nz ::= r0 | "a"', '""'),
            ('root(y(... "") z("a"))', 'root(y("a") z(... ""))'),
        ),
    ],
)
def test_derivations_with_shared_parts(text: str, derivations: tuple[str, str]) -> None:
    """Rules that double: trees of 2**60 nodes are compared as what they share, and shown as deep as fits."""
    begun = time.process_time()
    report = tokamata.grammar(text, syntax="gbnf").report
    assert max(len(entry.detail) for entry in report) < 1000
    found = check(read_gbnf(text)).ambiguity
    assert found is not None
    assert found.text == b"a"
    assert found.derivations == derivations
    with pytest.raises(tokamata.ConstraintError, match=r"strict=True.*ambiguous: \"a\"") as refused:
        tokamata.grammar(text, syntax="gbnf", strict=True)
    assert len(str(refused.value)) < 3000
    assert time.process_time() - begun < 20


def test_long_sentences_are_shown_in_part() -> None:
    for text in ("root ::= x | y\nx ::= {0}\ny ::= {0}\n", "root ::= ({0} x | {0} x)\nx ::= {0}\n"):
        report = tokamata.grammar(text.format('"' + "ab" * 2000 + '"'), syntax="gbnf").report
        assert any("ambiguous" in entry.detail for entry in report)
        assert max(len(entry.detail) for entry in report) < 2000


def test_a_terminal_that_is_not_regular_leaves_determinism_open() -> None:
    text, parts = 'root ::= "v" j\n', {"j": tokamata.json_value()}
    constraint = tokamata.grammar(text, "gbnf", constraints=parts)
    assert [e.detail for e in constraint.report if e.subject == "root"] == [
        "deterministic: not decided; the grammar is too large, or a terminal is not regular"
    ]
    with pytest.raises(tokamata.LimitError, match="was not decided: a terminal is not regular, or the limit"):
        tokamata.grammar(text, "gbnf", constraints=parts, strict=True)


@pytest.mark.parametrize(
    ("text", "kinds", "cyclic"),
    [
        ('root ::= "b"? root "x" | "y"', ["hidden"], []),
        ('root ::= " "* a "x" | "y"\na ::= "b"? root', ["hidden", "hidden"], []),
        ('root ::= "b"? root | "y"', ["hidden"], ["root"]),
        ('root ::= root "b"? | "y"', ["direct"], ["root"]),
        ('root ::= "b" root | "y"', [], []),
    ],
)
def test_recursion_behind_terminals_that_may_be_empty(text: str, kinds: list[str], cyclic: list[str]) -> None:
    diagnosis = check(read_gbnf(text))
    assert [recursion.kind for recursion in diagnosis.left_recursive] == kinds
    assert [found.rule for found in diagnosis.cyclic] == cyclic


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('start: x+ x+\nx: "a"\n', ("line 1, column 8", "x+")),
        (
            'start: "b"\r\n  | "c" // (\r\n  | (x | "q" y)* y? x+\r\nx: "a"\r\ny: "b"\r\n',
            ("line 3, column 5", '(x | "q" y)*'),
        ),
        ('start: "b" (x\n  | "q" y)+ ("q" y)*\nx: "a"\ny: "b"\n', ("line 1, column 12", '(x | "q" y)+')),
        ('start: a{"x"}\na{p}: p+ p*\n', ("line 2, column 7", "p+")),
        ('start: a{"x"}~1..200 a{"x"}\na{p}: p\n', ("line 1, column 8", 'a{"x"}~1..200')),
        ('start: "q" "a".."d"+ "a".."d"+\n', ("line 1, column 12", '"a".."d"+')),
        ('start: (<|x|> y)+ (<|x|> y)+\ny: "y"\n', ("line 1, column 8", "(<|x|> y)+")),
        ("start: X+ X+\nX: /[a-z]+/ - /if/\n", ("line 1, column 8", "X+")),
        ("start: (x (%json {} y)+ (%json {} y)*)~2\nx: /x/\ny: /y/\n", ("line 1, column 11", "(%json {} y)+")),
        ("start: l\n%import lisp.l\n", ("line 2, column 14", "[repetition of l]")),
    ],
)
def test_repetitions_are_shown_as_they_are_written(text: str, shown: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "lisp.lark").write_text('l: a+ a+\na: "x"\n')
    report = tokamata.grammar(text, lexer="contextual", import_paths=[tmp_path]).report
    found = [(entry.place, entry.subject) for entry in report if entry.detail.startswith("not deterministic")]
    told = "; ".join(f"{entry.subject}: {entry.detail}" for entry in report)
    assert "__" not in told.replace("lisp__a", "")
    assert shown in found, told


def test_conflicts_of_the_steps_of_a_repetition_are_one() -> None:
    report = tokamata.grammar('start: x~0..400 x\nx: "a"\n').report
    (entry,) = (entry for entry in report if entry.detail.startswith("not deterministic"))
    assert entry.subject == "x~0..400"
    wide = " | ".join(f'x y{i} "{i}"' for i in range(12)) + ' | x "q"'
    rest = "".join(f'y{i}: "a"?\n' for i in range(12))
    report = tokamata.grammar(f'start: {wide}\nx: "a"\n{rest}').report
    shown = [entry.detail for entry in report if entry.detail.startswith("not deterministic")]
    assert len(shown) == len(set(shown))

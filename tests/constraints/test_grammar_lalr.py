"""LR(0) states and LALR(1) lookaheads: Lark's own analysis decides, and what long right-hand sides cost."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from tokamata.constraints.gbnf_source import read_gbnf
from tokamata.constraints.grammar_ambiguity import ambiguity
from tokamata.constraints.grammar_check import check
from tokamata.constraints.grammar_conflicts import MOST_PAIRS, conflicts
from tokamata.constraints.grammar_lalr import Lalr
from tokamata.constraints.grammar_source import GrammarSource, Production, Rule, Terminal
from tokamata.constraints.grammar_use import components, useful
from tokamata.constraints.lark_source import read_lark

import tokamata


@pytest.mark.parametrize("seed", range(50))
def test_components_lead_to_each_other_and_come_after_what_they_lead_to(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randint(1, 9)
    edges = [[t for t in range(size) if rng.random() < 1.2 / size] for _ in range(size)]
    reached = [{node, *edges[node]} for node in range(size)]
    for middle in range(size):
        for node in range(size):
            reached[node] |= reached[middle] if middle in reached[node] else set()
    found = list(components(range(size), edges.__getitem__))
    assert sorted(node for component in found for node in component) == list(range(size))
    for i, component in enumerate(found):
        for node in component:
            assert {other for other in reached[node] if node in reached[other]} == set(component), edges
            assert reached[node] <= {other for before in found[: i + 1] for other in before}, edges


def source_of(*productions: tuple[int, tuple[int, ...]], terminals: int = 3) -> GrammarSource:
    """A grammar of these productions, rule 0 first; its terminals are numbers in brackets."""
    made = tuple(Terminal(f"T{t}", tokamata.literal(f"[{t}]"), f"[{t}]".encode()) for t in range(terminals))
    rules = tuple(Rule(f"r{r}") for r in range(1 + max(r for r, _ in productions)))
    return GrammarSource("lark", "basic", made, rules, tuple(Production(*p) for p in productions), 0)


def random_source(rng: random.Random) -> GrammarSource:
    """Up to four rules over three terminals, none of them written twice."""
    size = rng.randrange(1, 5)
    symbols = [*range(size), -1, -2, -3, -1, -2, -3]
    found = {
        (r, tuple(rng.choice(symbols) for _ in range(rng.choice([0, 1, 2, 2, 3, 4]))))
        for r in range(size)
        for _ in range(rng.randrange(1, 4))
    }
    return source_of(*sorted(found))


def lark_decides(source: GrammarSource) -> bool:
    """Whether Lark's parser has one action in every state before every terminal."""
    from lark.common import ParserConf
    from lark.exceptions import GrammarError
    from lark.grammar import NonTerminal, Symbol
    from lark.grammar import Rule as LarkRule
    from lark.grammar import Terminal as LarkTerminal
    from lark.parsers.lalr_analysis import LALR_Analyzer

    def symbol(s: int) -> Symbol:
        return NonTerminal(f"r{s}") if s >= 0 else LarkTerminal(f"t{~s}")

    kept = useful(source, ())
    rules = [LarkRule(NonTerminal(f"r{p.rule}"), [symbol(s) for s in p.symbols]) for p in kept]
    try:
        LALR_Analyzer(ParserConf(rules, {}, ["r0"]), strict=True).compute_lalr()
    except GrammarError:
        return False
    return True


@pytest.mark.parametrize("block", range(2))
def test_lark_has_the_same_conflicts(block: int) -> None:
    """A state in which the sentence may also end is one more conflict, which Lark does not look for."""
    decided = undecided = 0
    for i in range(400):
        seed = 1000 * block + i
        source = random_source(random.Random(seed))
        if not useful(source, ()):
            continue
        found = conflicts(source, ())
        assert found is not None
        others = [c for c in found if c.terminal != "the end" or len(c.productions) > 1]
        where = f"seed {seed}: {' ; '.join(source.show(p) for p in source.productions)}: {found}"
        assert lark_decides(source) == (not others), where
        decided += not others
        undecided += bool(others)
    assert decided > 50
    assert undecided > 50


LONG, CALLS = 100_000, 30_000


@pytest.mark.parametrize(
    ("source", "deterministic"),
    [
        pytest.param(source_of((0, (-1,) * LONG)), True, marks=pytest.mark.slow),
        pytest.param(source_of((0, (1, -2) * CALLS), (1, (-1,)), (1, (-3, 1))), True, marks=pytest.mark.slow),
        (source_of((0, (1,) * CALLS), (1, (-1,)), (1, (-2, -3))), True),
        (source_of((0, (1,) * CALLS), (1, (-1,)), (1, ())), False),
        (source_of((0, (-1,) * LONG), (0, (-1,) * (LONG - 1) + (1,)), (1, (-2,)), (1, (-3,))), True),
    ],
    ids=["terminals", "rules between", "rules", "rules that may be empty", "two alternatives"],
)
def test_long_alternatives(source: GrammarSource, deterministic: bool) -> None:
    """Right-hand sides of many thousand symbols take a few steps for each of them."""
    symbols = sum(len(p.symbols) for p in source.productions)
    assert Lalr([(p.rule, p.symbols) for p in source.productions], 0).spent < 12 * symbols
    diagnosis = check(source)
    assert diagnosis.deterministic is deterministic
    assert diagnosis.ambiguity is None


def test_long_chains_of_rules_are_decided() -> None:
    """3,000 rules, each of which is the next one."""
    assert check(source_of(*((r, (r + 1,)) for r in range(3000)), (3000, (-1,)))).deterministic is True


def test_work_without_end_stays_open() -> None:
    """1,500 rules that may be empty, each before all others: the lookaheads alone are too many."""
    size = 1500
    rules = [p for r in range(1, size + 1) for p in ((r, (~r,)), (r, ()))]
    source = source_of((0, (*range(1, size + 1), *range(size, 0, -1)) * 40), *rules, terminals=size + 1)
    assert conflicts(source, ()) is None


def test_sentences_without_end() -> None:
    """Rules that double: the shortest sentence has 2**60 terminals, and is not written out."""
    chain = [(r, (r + 1, r + 1)) for r in range(60)]
    source = source_of(*chain, (60, (-1,)))
    assert check(source).deterministic is True
    assert ambiguity(source, range(60), ()) is None
    doubled = source_of(*chain, (60, (-1,)), (60, (61,)), (61, (-1,)))
    assert [c.kind for c in conflicts(doubled, ()) or ()] == ["reduce/reduce", "reduce/reduce"]
    assert check(doubled).ambiguity is None


def test_many_terminals_that_begin_alike() -> None:
    """Without a lexer conflicts between terminals are listed up to a limit; there are none where bytes decide."""
    text = "// lexer: none\nstart: " + " | ".join(f'"t{i}x" "u"' for i in range(200))
    assert conflicts(read_lark(text), ()) == ()
    assert len(conflicts(read_lark(text + ' | "t0xu"'), ()) or ()) == MOST_PAIRS


@pytest.mark.parametrize("block", range(2))
def test_without_a_lexer_strings_are_their_letters(block: int) -> None:
    """Grammars of strings are decided where those of their letters are, each a terminal."""
    decided = undecided = 0
    for i in range(300):
        seed = 1000 * block + i
        rng = random.Random(seed)
        source = random_source(rng)
        texts = rng.choices(["a", "b", "ab", "ba", "aab", "c", ""], k=3)
        terminals = (Terminal(repr(text), tokamata.literal(text), text.encode()) for text in texts)
        written = replace(source, lexer="none", terminals=tuple(terminals))
        spelling = {~t: tuple(~"abc".index(letter) for letter in text) for t, text in enumerate(texts)}
        letters = tuple(
            Production(p.rule, tuple(t for s in p.symbols for t in spelling.get(s, (s,)))) for p in source.productions
        )
        found = conflicts(written, ())
        assert found is not None
        spelled = conflicts(replace(source, productions=letters), ())
        where = f"seed {seed}: {' ; '.join(written.show(p) for p in written.productions)}: {found} {spelled}"
        assert (found == ()) == (spelled == ()), where
        decided += not found
        undecided += bool(found)
    assert decided > 50
    assert undecided > 50


@pytest.mark.parametrize(
    ("text", "deterministic"),
    [
        ('root ::= "a" y root | ""\ny ::= ""\n', True),
        ('root ::= "a" x | "a" "b"\nx ::= "c"\n', True),
        ('root ::= "a" x | [ab]\nx ::= "b" | "c" x', True),
        ('root ::= x ("b" root)?\nx ::= "b"* "a"+', True),
        ('root ::= x "" | x\nx ::= "a"\n', False),
        ('root ::= "a" | x\nx ::= [a]\n', False),
        ('root ::= x "a"?\nx ::= "b" "a"?\n', False),
        ("root ::= x | y\nx ::= [ab]+\ny ::= [bc]+\n", False),
    ],
)
def test_bytes_decide(text: str, deterministic: bool) -> None:
    found = check(read_gbnf(text))
    assert found.deterministic is deterministic
    assert (found.ambiguity is None) is deterministic

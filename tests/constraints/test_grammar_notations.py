"""tokamata.grammar in its three notations against Lark's Earley parser, on written and on random grammars."""

from __future__ import annotations

import random

import lark
import pytest
from oracle.grammar import random_sentence, shortest
from tokamata.constraints.lark_source import read_lark

import tokamata

PIECES = {
    "A": ["a"],
    "B": ["b"],
    "IF": ["if"],
    "NAME": ["x", "ifx", "xy", "i"],
    "NUMBER": ["1", "23", "4.5"],
    "ARROW": ["->"],
    "MINUS": ["-"],
}
TERMINALS = 'NAME: /[f-z]+/\nNUMBER: /[0-9]+(\\.[0-9]+)?/\nARROW: "->"\nMINUS: "-"\n%ignore " "\n'


def random_part(rng: random.Random, rules: int, depth: int) -> str:
    """A part of a right-hand side in Lark's notation."""
    kind = rng.choice(["rule", "rule", "terminal", "terminal", "terminal", "group", "operator", "maybe"])
    if depth == 0 and kind not in ("rule", "terminal"):
        kind = "terminal"
    if kind == "rule":
        return f"r{rng.randrange(rules)}"
    if kind == "terminal":
        return rng.choice(['"a"', '"b"', '"if"', "NAME", "NUMBER", "ARROW", "MINUS"])
    inner = " | ".join(random_sequence(rng, rules, depth - 1) for _ in range(rng.choice([1, 1, 2])))
    if kind == "group":
        return f"({inner})"
    if kind == "maybe":
        return f"[{inner}]"
    return f"({inner}){rng.choice(['?', '*', '+', '~2', '~0..2', '~1..3'])}"


def random_sequence(rng: random.Random, rules: int, depth: int) -> str:
    return " ".join(random_part(rng, rules, depth) for _ in range(rng.choice([1, 1, 2, 2, 3])))


def random_grammar(rng: random.Random) -> str:
    rules = rng.randrange(1, 5)
    lines = ["start: r0"]
    for r in range(rules):
        alternatives = [random_sequence(rng, rules, 1) for _ in range(rng.choice([1, 2, 3]))]
        if rng.random() < 0.25:
            alternatives.append("")
        lines.append(f"{rng.choice(['', '?', '!'])}r{r}: " + " | ".join(alternatives))
    return "\n".join(lines) + "\n" + TERMINALS


def compare(seed: int, texts: int) -> tuple[int, int]:
    """One random grammar; returns how many texts were compared and how many were members."""
    rng = random.Random(seed)
    text = random_grammar(rng)
    try:
        parser = lark.Lark(text, parser="earley", lexer="basic")
    except lark.exceptions.GrammarError:  # an alternative that is there twice, which changes no text
        return 0, 0
    source = read_lark(text)
    constraint = tokamata.grammar(text) if source.start in shortest(source) else None
    wanted = [p for name, pieces in PIECES.items() if f'"{name.lower()}"' in text or f" {name}" in text for p in pieces]
    data = ["".join(rng.choice([*wanted, " "]) for _ in range(rng.randrange(7))) for _ in range(texts // 2)]
    for _ in range(texts // 2):
        sentence = [rng.choice(PIECES[source.terminals[t].name]) for t in random_sentence(source, rng, 5) or []]
        if rng.random() < 0.3:
            sentence.insert(rng.randrange(len(sentence) + 1), rng.choice(wanted or ["a"]))
        data.append(rng.choice(["", " "]).join(sentence))
    members = 0
    for each in data:
        try:
            parser.parse(each)
            member = True
        except lark.exceptions.LarkError:
            member = False
        members += member
        got = constraint is not None and constraint.accepts(each)
        assert got == member, f"seed {seed}: {each!r}\n{text}"
        if member:
            assert constraint is not None
            assert constraint.accepts_prefix(each[: rng.randrange(len(each) + 1)]), f"seed {seed}: {each!r}\n{text}"
    return len(data), members


def test_random_grammars() -> None:
    results = [compare(seed, 24) for seed in range(60)]
    assert sum(members for _, members in results) > 100


@pytest.mark.slow
def test_many_random_grammars() -> None:
    results = [compare(seed, 24) for seed in range(1000, 1900)]
    assert sum(compared for compared, _ in results) > 20_000

"""Ends of lexemes whose terminals loop over several characters: beginnings and members, asked in any order."""

from __future__ import annotations

import itertools
import random
import re

import pytest

import tokamata

LOOPS = ["(?:ab)*c", "(?:a(?:bc)*b)*c", "(?:abc|ba)*c", "a(?:bca)*bc", "(?:(?:ab)*ba)*cc", "b(?:a(?:bb)*a)*c"]
OPERANDS = [None, "(?s:..)*", "(?s:...)*", "(?!.*cc).*", "[^ab]*(?:[ab][^ab]*){0,5}"]
# The grammar, the same as a regular expression, and its letters. By context a name is also a text.
FORMS = {
    "lines": ('start: (A ":" B ";")+\nA: /{}/\nB: /[abc:]+/\n', "(?:{}:[abc:]+;)+", "abc:;", "contextual"),
    "joined": ('start: A ":" B | A ":" B ";" start\nA: /{}/\nB: /[abc:]+/\n', None, "abc:;", "contextual"),
    "list": ('start: A | A "-" start\nA: /{}/\n', "{0}(?:-{0})*", "abc-", "basic"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(6))
def test_beginnings(seed: int, form: str) -> None:
    """The grammar says the same as a regular expression of the same texts, and that has the members `re` finds."""
    rng = random.Random(seed)
    loop = LOOPS[seed]
    grammar, pattern, letters, lexer = FORMS[form]
    grammar = grammar.format(loop)
    pattern = (pattern or "{0}:[abc:]+(?:;{0}:[abc:]+)*").format(loop)
    texts = ["".join(t) for n in range(5) for t in itertools.product(letters, repeat=n)]
    for text in tokamata.regex(pattern).examples(100, seed):
        cut = text.decode()[:12]
        texts += [cut[:n] for n in range(5, len(cut) + 1)] + [cut[:n] + rng.choice(letters) for n in range(4, 10)]
    texts = sorted(set(texts), key=lambda t: (-len(t), t))
    for operand in OPERANDS:
        regular = tokamata.regex(pattern) & tokamata.regex(operand or "(?s:.*)")
        begins = {text: regular.accepts_prefix(text) for text in texts}
        assert [t for t in texts if regular.accepts(t)] == [
            t for t in texts if re.fullmatch(pattern, t) and (not operand or re.fullmatch(operand, t))
        ]
        for order in range(3):
            constraint = tokamata.grammar(grammar, lexer=lexer)
            constraint = constraint & tokamata.regex(operand) if operand else constraint
            asked = rng.sample(texts, len(texts)) if order else texts
            about = (seed, form, loop, operand, order)
            assert not [t for t in asked if constraint.accepts_prefix(t) != begins[t]], about
            assert not [t for t in asked if constraint.accepts(t) != regular.accepts(t)], about

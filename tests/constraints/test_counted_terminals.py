"""Terminals that count, and some that nest: read and masked without their counters, and exact all the same."""

from __future__ import annotations

import itertools
import json
import random

import pytest
from oracle import mask_walk
from oracle.grammar import accepts, derives
from oracle.packages import vocabulary_file
from tokamata.constraints.lark_source import read_lark

import tokamata

# Rules, and texts of their terminals: the shortest, the longest and those beyond.
CASES = [
    ('start: (S ";")+\nS: /"a{0,9}"/', ['""', '"a"', f'"{"a" * 9}"', f'"{"a" * 10}"', ";"]),
    ('start: (S ";")+\nS: /"a{2,9}"/\n%ignore /,+/', ['"a"', '"aa"', f'"{"a" * 9}"', ",", ";"]),
    ('start: (N ";")+\nN: /a{1,9}/', ["a", "a" * 9, ";"]),
    ('start: (N ";"?)+\nN: /a{3,9}/\n%ignore ","', ["aa", "aaa", "a" * 9, ";", ","]),
    ('start: (N | K | ";")+\nN: /[ab]{1,9}/\nK: "ab"', ["ab", "a", "b" * 9, ";"]),
    ('start: (N K)+\nN: /a{1,8}/\nK: "ab"', ["a", "a" * 8, "ab"]),
    ("start: (N D)+\nN: /a{2,8}/\nD: /;a{0,8}b?/", ["aa", "a" * 8, ";", ";b", ";" + "a" * 8]),
    ('start: (S | T)+\nS: /"(ab|,){3,8};"/\nT: /"a{8,9};;"/', ['",ab,;"', f'"{"ab" * 8};"', f'"{"a" * 9};;"']),
    ('start: (N T?)+\nN: /1("a{8};)?/\nT: /"[ab]{0,9}"/', ["1", f'1"{"a" * 8};', '""', '"aab"', f'"{"a" * 8}"']),
    ('start: (N ";"?)+\nN: /[aéè]{1,9}/', ["a", "é" * 9, "aè", ";"]),
    ('start: (N | K | ";")+\nN: /[aé]{2,8}/\nK: "éb"', ["éa", "éb", "aé" * 4, "é", ";"]),
    ("start: (N K?)+\nN: /[é€]{1,8}/\nK: /è?;/", ["é", "€" * 8, ";", "è;"]),
    ('start: (N ";"?)+\nN: /(ab|;é){1,9}/', ["ab", ";é", "ab" * 9, ";"]),
    (
        'start: V (";" V)*\nV: /[ab]{8}/ | %json {"enum": ["a", [1], {"b": 2}]}',
        ["ab" * 4, '"a"', "[1]", '{"b":2}', ";"],
    ),
]


def _texts(lexemes: list[str], most: int) -> list[str]:
    return sorted({"".join(t) for n in range(1, most + 1) for t in itertools.product(lexemes, repeat=n)})


def _words(rng: random.Random, lexemes: list[str]) -> set[bytes]:
    """Pieces of a few lexemes, short and long, and others of the same characters."""
    letters = sorted(set("".join(lexemes)))
    texts = ["".join(rng.choices(lexemes, k=3)) for _ in range(40)]
    cuts = [sorted(rng.sample(range(len(t) + 1), 2)) for t in texts if t]
    pieces = [t[i:j] for t, (i, j) in zip(texts, cuts, strict=True)]
    return {t.encode() for t in [*pieces, *("".join(rng.choices(letters, k=rng.randrange(2, 5))) for _ in range(20))]}


@pytest.mark.parametrize("lexer", ["basic", "none"])
@pytest.mark.parametrize(("rules", "lexemes"), CASES)
def test_members_and_beginnings_are_those_of_the_definition(rules: str, lexemes: list[str], lexer: str) -> None:
    if lexer == "none" and "%ignore" in rules:
        rules = rules[: rules.index("%ignore")]
    source = read_lark(rules, lexer=lexer)  # type: ignore[arg-type]
    ours = tokamata.grammar(rules, lexer=lexer)  # type: ignore[arg-type]
    is_member = accepts if lexer == "basic" else derives
    texts = _texts(lexemes, 4)
    members = [t for t in texts if is_member(source, t.encode())]
    assert len(members) > 1
    assert [t for t in texts if ours.accepts(t)] == members
    begun = {m[:n] for m in members for n in range(len(m) + 1)}
    assert all(ours.accepts_prefix(t) for t in begun)
    beginnings = {t[:n] for t in _texts(lexemes, 2) for n in range(len(t) + 1)}
    assert {t for t in beginnings if ours.accepts_prefix(t)} <= begun


@pytest.mark.parametrize("lexer", ["basic", "contextual", "none"])
@pytest.mark.parametrize(("rules", "lexemes"), CASES)
def test_masks_are_what_can_be_extended(rules: str, lexemes: list[str], lexer: str) -> None:
    if lexer == "none" and "%ignore" in rules:
        rules = rules[: rules.index("%ignore")]
    seed = 11
    rng = random.Random(seed)
    ours = tokamata.grammar(rules, lexer=lexer)  # type: ignore[arg-type]
    words = sorted(_words(rng, lexemes))
    letters = sorted({c.encode() for c in "".join(lexemes)} - set(words))
    tokens = [*words, *letters]
    automaton = mask_walk.compiled(ours, tokens)
    members = [t for t in _texts(lexemes, 4) if ours.accepts(t)]
    for text in rng.sample(members, min(len(members), 12)):
        written = mask_walk.walk(ours, automaton, tokens, text.encode(), rng)
        assert written == text.encode(), (seed, text)
    whole = tokamata.compile(ours, mask_walk.with_bytes(words))
    for _ in range(12):
        state = whole.start()
        for _ in range(12):
            now = mask_walk.agreed(whole, state, seed, rules)
            longer = [i for i in now if i > 255]
            if not now:
                break
            state.advance(rng.choice(longer if longer and rng.random() < 0.8 else now))


@pytest.mark.parametrize("lexer", ["basic", "contextual", "none"])
@pytest.mark.parametrize(("rules", "lexemes"), CASES)
def test_a_text_is_read_in_any_two_tokens(rules: str, lexemes: list[str], lexer: str) -> None:
    if lexer == "none" and "%ignore" in rules:
        rules = rules[: rules.index("%ignore")]
    seed = 13
    ours = tokamata.grammar(rules, lexer=lexer)  # type: ignore[arg-type]
    members = [t for t in _texts(lexemes, 3) if ours.accepts(t)]
    drawn = random.Random(seed).sample(members, min(len(members), 60))
    cuts = [(t[:i].encode(), t[i:].encode()) for t in drawn for i in range(1, len(t))]
    tokens = sorted({token for cut in cuts for token in cut})
    anew = tokamata.grammar(rules, lexer=lexer)  # type: ignore[arg-type]  # without the rows that accepts has made
    automaton = mask_walk.compiled(anew, tokens)
    for first, second in cuts:
        state = automaton.start()
        state.advance(tokens.index(first))
        assert state.allows(tokens.index(second)), (seed, first, second)
        state.advance(tokens.index(second))
        assert state.is_final, (seed, first, second)
    for first, second in cuts:  # which makes rows of states, so that they are not asked for many bytes at once any more
        state = automaton.start()
        state.advance(tokens.index(first))
        assert tokens.index(second) in mask_walk.agreed(automaton, state, seed, first, second)


@pytest.fixture(scope="module")
def vocabulary() -> tokamata.Vocabulary:
    return tokamata.Vocabulary.from_file(vocabulary_file("qwen"))


@pytest.mark.parametrize("pattern", ['"[^"]{0,40}"', "[a-z]{1,30}", "[^;]{3,25}", '"([^"]|"")*"', "[a-zé]{2,60}"])
def test_masks_of_a_real_vocabulary(pattern: str, vocabulary: tokamata.Vocabulary) -> None:
    seed = 5
    rng = random.Random(seed)
    for lexer in ("basic", "contextual", "none"):
        rules = f'start: (X ";")+\nX: /{pattern}/\n' + ("%ignore / +/\n" if lexer == "basic" else "")
        automaton = tokamata.compile(tokamata.grammar(rules, lexer=lexer), vocabulary)  # type: ignore[arg-type]
        state = automaton.start()
        for _ in range(14):
            now = mask_walk.agreed(automaton, state, seed, rules)
            if not now:
                break
            state.advance(rng.choice(now))


@pytest.mark.parametrize("lexer", ["basic", "contextual", "none"])
def test_a_budget_ends_nested_lexemes(lexer: str) -> None:
    rules = 'start: "<" V ">" V\nV: %json {"type": "array", "items": {"enum": [10, 200]}, "minItems": 1}'
    tokens = [b"<", b">", b"[", b"]", b"10", b"200", b",", b", ", b"[10", b"]>", b"0", b"1", b"2"]
    automaton = mask_walk.compiled(tokamata.grammar(rules, lexer=lexer), tokens)  # type: ignore[arg-type]
    with pytest.raises(tokamata.BudgetError, match="pass max_tokens=6 or more"):
        automaton.start(max_tokens=5)
    for most in (6, 8, 11):
        seed, ended = most, 0
        rng = random.Random(seed)
        for _ in range(20):
            state = automaton.start(max_tokens=most)
            while not state.is_finished:
                allowed = mask_walk.allowed(state.mask())
                assert allowed, (seed, state.num_tokens)
                state.advance(rng.choice(allowed))
            ended += 1
        assert ended == 20


def test_free_text_in_any_number_of_pieces_has_a_mask() -> None:
    """Each byte may end a piece and begin the next one: places reached in many ways count once."""
    automaton = tokamata.compile(
        tokamata.grammar('start: (TEXT | "<" TEXT ">")*\nTEXT: /[^<>]+/', lexer="none"),
        mask_walk.with_bytes({b" " * 2**n for n in range(8)} | {b"<a", b"a>", b"a<b>c", b"<<", b"<>"}),
    )
    state = automaton.start()
    for text in (b"a<b>c", b" " * 128, b"<a", b" " * 64, b"a>"):
        ids = {automaton.vocabulary.token_bytes(i): i for i in mask_walk.agreed(automaton, state, text)}
        assert (b"<>" in ids, b"<<" in ids) == (False, False)
        state.advance(ids[text])
    assert state.is_final


def test_nested_lexemes_go_over_to_the_next_generation() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 90}, "b": {"enum": [1, 22, None]}}}
    rules = f'start: ("x" N ":" V ";")+\nN: /[a-c]{{1,20}}/\nV: %json {json.dumps(schema)}'
    seed = 4
    rng = random.Random(seed)
    names = ["".join(rng.choices("abc", k=rng.randrange(1, 21))) for _ in range(40)]
    values = [{"a": "".join(rng.choices("de ", k=rng.randrange(91))), "b": rng.choice([1, 22, None])} for _ in names]
    text = "".join(f"x{n}:{json.dumps(v)};" for n, v in zip(names, values, strict=True)).encode()
    vocabulary = mask_walk.with_bytes({b'{"a', b'": "', b"ab", b"cab", b'"};x', b"dd", b'", "b": 2', b"22}"})
    wide = tokamata.compile(tokamata.grammar(rules), vocabulary)
    narrow = tokamata.compile(tokamata.grammar(rules, limits=tokamata.Limits(expression_nodes=800)), vocabulary)
    longest = [i for i in range(len(vocabulary) - 1) if vocabulary.token_bytes(i)]
    longest.sort(key=lambda i: -len(vocabulary.token_bytes(i)))
    a, b, at = wide.start(), narrow.start(), 0
    while at < len(text):
        mask = a.mask()
        assert (b.mask() == mask).all(), (seed, at)
        token = next(
            i for i in longest if text.startswith(vocabulary.token_bytes(i), at) and i in mask_walk.allowed(mask)
        )
        a.advance(token)
        b.advance(token)
        at += len(vocabulary.token_bytes(token))
    assert a.is_final
    assert b.is_final
    assert (wide.generations, narrow.generations > 1) == (1, True)
    b.rollback(30)
    a.rollback(30)
    assert (b.mask() == a.mask()).all()

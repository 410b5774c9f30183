"""Counters behind what is read first: masks share where the numbers make no difference, and only there."""

from __future__ import annotations

import json
import random

import pytest
import regex as regex_module
from oracle.mask_walk import agreed, allowed, compiled, walk, wander, with_bytes
from tokamata.automata import Fst

import tokamata

TOKENS = [bytes([b]) for b in range(256)] + [
    *(b",a", b",ab", b",a,a", b",a,a,a,a", b"x,a", b";x,a,a", b";x", b"a;", b"a,a;x,ab,ab;", b";z", b";;"),
    *(b"0,0", b",0,0,0", b"],[", b"]]", b"0]", b"},{", b'":0},{"', b", ", b"[[", b'{"a":0},{"a":0},', b",0]", b"]]]"),
]


@pytest.mark.parametrize("seed", range(12))
def test_masks_behind_counters_of_expressions(seed: int) -> None:
    rng = random.Random(seed)
    inner, outer = ((low, low + rng.randrange(12)) for low in (rng.randrange(8), rng.randrange(8)))
    pattern = f"(?:x(?:,ab?){{{inner[0]},{inner[1]}}};){{{outer[0]},{outer[1]}}}z"
    constraint, oracle = tokamata.regex(pattern), regex_module.compile(pattern)

    def viable(written: bytes, token: bytes) -> bool:
        return bool(oracle.fullmatch((written + token).decode("latin-1"), partial=True))

    turns = rng.randint(max(outer[0], 1), max(outer[1], 1))
    text = "".join(
        "x" + "".join(rng.choice([",a", ",ab"]) for _ in range(rng.randint(*inner))) + ";" for _ in range(turns)
    )
    walk(constraint, compiled(constraint, TOKENS), TOKENS, (text + "z").encode(), rng, viable)


@pytest.mark.parametrize("seed", range(12))
def test_masks_behind_counters_of_arrays(seed: int) -> None:
    rng = random.Random(seed)
    low = rng.randrange(6)
    high = low + 1 + rng.randrange(10)
    element = rng.choice(
        [{"type": "integer"}, {"type": "array", "items": {"const": 0}, "maxItems": 3}, {"required": ["a"]}]
    )
    if element == {"required": ["a"]}:
        element = {
            "type": "object",
            "properties": {"a": {"const": 0}},
            "required": ["a"],
            "additionalProperties": False,
        }
    schema = {"type": "array", "items": element, "minItems": low, "maxItems": high}
    constraint = tokamata.json_schema(schema, whitespace="compact")
    values = {"integer": [0, 10], "array": [[], [0], [0, 0, 0]], "object": [{"a": 0}]}[element["type"]]
    automaton = compiled(constraint, TOKENS)
    for count in (low, high, rng.randint(low, high)):
        text = json.dumps([rng.choice(values) for _ in range(count)], separators=(",", ":")).encode()
        assert walk(constraint, automaton, TOKENS, text, rng) == text, (seed, text)


def test_masks_of_elements_far_from_the_bounds_are_one() -> None:
    element = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    schema = {"type": "array", "items": element, "minItems": 90, "maxItems": 100}
    automaton = compiled(tokamata.json_schema(schema, whitespace="compact"), TOKENS)
    made = []
    state = automaton.start()
    for byte in json.dumps([{"a": 1}] * 100, separators=(",", ":")).encode():
        state.mask()
        state.advance(TOKENS.index(bytes([byte])))
        made.append(automaton._native.num_masks)
    assert made[500] == made[100]  # no token has more than four commas
    assert made[-1] < 100
    assert state.is_final


PIECES = ["a", "b", "é", "日", "-", " ", " ", "  ", "\t", "\u00a0", "\u3000", "\u2028", "\u0085", "\ufeff", "\x1c"]
SPELLED = ["\\n", "\\u0020", "\\u0061", "\\", "n", "t", "u", '\\"', '"', "\\\\", "0", "61", "20", "A0", "f"]
WORDS = [
    r"(?:\S+\s+){%d,%d}\S+", r"(?:\S+ ){%d,%d}\S*", r"(?:\w+\s){%d,%d}-", r"(?:[^ab]{1,2}\s?[ab]){%d,%d}",
    r"(?:\s+\S+){%d,%d}", r"(?:\S\s|-\s*-){%d,%d}a", r"(?:a*\s+){%d,%d}b", r"(?:[^-]*-\s){%d,%d}a?",
    r"(?:(?:\S+\s+){1,2}\S+-){%d,%d}b", r"(?:[\x85\ufeff\x1c]+[ \u00a0]+){%d,%d}a", r"^$|^(?:\S+\s+){%d,%d}\S+$",
    r"a|b(?:\S+\s+){%d,%d}\S+|- (?:é \S+\s+){0,9}",
]  # fmt: skip


@pytest.mark.parametrize("pattern", WORDS)
@pytest.mark.parametrize("how", ["python", "ecma", "json"])
def test_masks_between_words(pattern: str, how: str) -> None:
    """Far from its bounds, the number of words makes no difference to tokens of few words, and to others it does."""
    rng = random.Random(f"{pattern} {how}")
    for _ in range(8):
        low = rng.randrange(5)
        bounded = pattern % (low, low + rng.randrange(1, 9))
        quoted: dict[str, object] = {"type": "string", "pattern": "^(?:" + bounded + ")$"}
        if rng.random() < 0.5:
            quoted["maxLength"] = rng.randrange(12, 40)
        constraint = tokamata.json_schema(quoted) if how == "json" else tokamata.regex(bounded, syntax=how)  # type: ignore[arg-type]
        pieces = [p.encode() for p in (PIECES + SPELLED if how == "json" else PIECES)]
        longest = rng.choice([1, 2, 3, 5])  # in pieces: the fewer, the fewer words have to be counted
        words = {b"".join(rng.choices(pieces, k=rng.randint(1, longest))) for _ in range(400)}
        words |= {rng.choice(pieces)[1:] + b"".join(rng.choices(pieces, k=longest - 1)) for _ in range(30)} - {b""}
        vocabulary = with_bytes(words)
        automaton = tokamata.compile(constraint, vocabulary)
        for _ in range(4):
            state = automaton.start()
            for _ in range(14):
                tokens = agreed(automaton, state, bounded)
                if not tokens:
                    break
                state.advance(rng.choice([t for t in tokens if t > 255 or rng.random() < 0.2] or tokens))


def test_masks_between_words_far_from_the_bound_are_one() -> None:
    schema = {"type": "string", "pattern": r"^(?:\S+\s+){0,99}\S+$"}
    words = [b"word", b" word", b" a b", b"\\n", b"w\\n"]
    automaton = compiled(tokamata.json_schema(schema), [*(bytes([b]) for b in range(256)), *words])
    state = automaton.start()
    made = []
    for token in [ord('"'), 256, *[257] * 80]:
        state.advance(token)
        state.mask()
        made.append(automaton._native.num_masks)
    assert made[:80] == [1] + [2] * 79


@pytest.mark.parametrize("inner", ["([a-z]|é|日)*c", r"[^b\n]*", r"(\S+ )*\S*-", "([a-c]|日日)*", "(é日?)*"])
def test_masks_near_the_most_characters(inner: str) -> None:
    """Tokens that reach the bound, end inside of the last character, or would need another one."""
    rng = random.Random(inner)
    pieces = [b"a", b"c", b"b", b" ", b"-", "é".encode(), "日".encode(), "\u3000".encode(), "é".encode()[:1]]
    words = {b"".join(rng.choices(pieces, k=rng.randint(1, 7))) for _ in range(1500)}
    words |= {word + "日".encode()[: rng.randint(1, 2)] for word in rng.sample(sorted(words), 500)}
    vocabulary = with_bytes(words)
    for high in range(2, 10):
        constraint = (tokamata.regex(inner) & tokamata.regex(f".{{0,{high}}}")) + "\n"
        automaton = tokamata.compile(constraint, vocabulary)
        wander(automaton, rng, 3, 8, inner, high)


def test_turns_that_begin_inside_a_character() -> None:
    """What they begin with may be the end of white space that began before."""

    def text(data: bytes) -> tokamata.Constraint:
        arcs = [f"{i} {i + 1} {b} {b}" for i, b in enumerate(data)]
        return tokamata.from_fst(Fst.from_text("\n".join([*arcs, str(len(data))])))

    constraint = text(b"\xe2\x80") + (text(b"\x80") + " ").repeat(0, 9) + "-"
    vocabulary = with_bytes([b"\xe2\x80\x80 \x80 \x80 \x80", b"\xe2\x80\x80 \x80 \x80"])
    automaton = tokamata.compile(constraint, vocabulary)
    state = automaton.start()
    for byte in b"\xe2\x80\x80 \x80 -":
        assert agreed(automaton, state)
        state.advance(byte)
    assert state.is_final


NESTED = [
    *("(?:[a-z]{1,3} ){13}", "(?:[a-c]{0,3} ){5,13}-", "x(?:[a-z]{2,4}-?){3,}", "(?:(?:[ab]{1,2}c){1,3} ){9}"),
    *(r"(?:\w{2,3}[ -]){1,9}", "(?:[a-z]{2} ?){4}(?:[a-c]{1,2}-){2,3}"),
]


@pytest.mark.parametrize("pattern", NESTED)
def test_tokens_in_turns_that_begin_with_a_counter(pattern: str) -> None:
    """Tokens are run from states that no row is known of, each by itself; masks are made afterwards."""
    rng = random.Random(7)
    words = {"".join(rng.choices("aabbcx -", k=rng.randint(2, 9))).encode() for _ in range(200)}
    vocabulary = with_bytes(words)
    constraint, oracle = tokamata.regex(pattern), regex_module.compile(pattern)
    texts = [vocabulary.token_bytes(i).decode("latin-1") for i in range(len(vocabulary) - 1)]
    alive = 0
    for _ in range(12):
        written = ""
        for _ in range(rng.randint(0, 9)):
            written += rng.choice([c for c in "aabbcx -" if oracle.fullmatch(written + c, partial=True)])
        expected = [bool(oracle.fullmatch(written + t, partial=True)) for t in texts]
        for token in rng.sample(range(256, len(texts)), 30):
            state = tokamata.compile(constraint, vocabulary).start()
            for byte in written.encode():
                state.advance(byte)
            assert state.allows(token) == expected[token], (pattern, written, texts[token])
        masked = {i for i in allowed(state.mask()) if i < len(texts)}
        ids = [*range(128), *range(256, len(texts))]
        assert [i in masked for i in ids] == [expected[i] for i in ids], (pattern, written)
        alive += sum(expected)
    assert alive > 40

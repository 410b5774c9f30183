"""Masks against an explicit automaton and brute force over all tokens, on random constraints and vocabularies."""

from __future__ import annotations

import random

import numpy as np
import pytest
from oracle import mask_walk
from oracle.random_constraint import random_constraint, random_vocabulary
from tokamata.automata import Fst

import tokamata


def compare_walks(seed: int, steps: int, complete: bool, algebra: bool) -> int:
    """Random walks through one constraint; returns the number of masks compared."""
    rng = random.Random(seed)
    constraint, model, text = random_constraint(rng, algebra=algebra)
    tokens, eos = random_vocabulary(rng, complete)
    where = f"seed {seed}: {text}"
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=eos)
    alive = model.token_alive(tokens)
    if not alive[0]:
        with pytest.raises(tokamata.ConstraintError, match="compile: "):
            tokamata.compile(constraint, vocabulary)
        return 0
    automaton = tokamata.compile(constraint, vocabulary)
    compared = 0
    for _ in range(3):
        state, q = automaton.start(), 0
        for _ in range(steps):
            want = model.mask(q, tokens, eos, alive)
            got = set(mask_walk.allowed(state.mask()))
            different = sorted(got ^ want)[:5]
            assert got == want, f"{where}: {[(i, tokens[i], i in got) for i in different]}"
            assert state.is_final == bool(model.final[q]), where
            compared += 1
            choices = sorted(want - set(eos))
            if not choices:
                break
            token = rng.choice(choices)
            state.advance(token)
            q = model.run(tokens[token] or b"", q)
    return compared


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("algebra", [True, False])
@pytest.mark.parametrize("block", range(4))
def test_masks_equal_brute_force(block: int, algebra: bool, complete: bool) -> None:
    compared = sum(compare_walks(1000 * block + i, 6, complete, algebra) for i in range(15))
    assert compared > 50


@pytest.mark.slow
@pytest.mark.parametrize("block", range(100, 130))
def test_masks_equal_brute_force_long(block: int) -> None:
    compared = sum(compare_walks(1000 * block + i, 8, i % 2 == 0, i % 3 > 0) for i in range(100))
    assert compared > 200


@pytest.mark.parametrize(
    "pattern",
    [
        r"([A-Za-z]|-*)[0-9]+",  # what follows may begin at once, although no member of the union is empty by itself
        r"(\w|-*|\+*)[0-9!]{1,3}",
        r"([^0-9]|0*1*)[0-9]x",
        r"(([a-zA-Z]|-*){1,3}[0-9]){2}",
    ],
)
def test_what_follows_a_class_or_a_star(pattern: str) -> None:
    tokens = [bytes([b]) for b in range(256)] + [b"12", b"a1", b"--1", b"0x", b"1!", "é1".encode(), b"00x", b"aa1"]
    state = tokamata.compile(tokamata.regex(pattern), tokamata.Vocabulary([*tokens, None], eos_token_ids=[264])).start()
    for text in (b"", b"a", b"-", b"1"):
        after = state.copy()
        if after.validate(list(text)) == len(text):
            for byte in text:
                after.advance(byte)
            mask = np.unpackbits(after.mask().view(np.uint8), bitorder="little")
            assert [t for t in range(265) if mask[t]] == [t for t in range(265) if after.allows(t)], text


@pytest.mark.parametrize("pattern", [r"[a-zA-Z]|b*", r"\w|_*", r"(?:[a-zA-Z]|b*){2,5}", r"[a-zA-Z]|(?:ab)*|[0-9]{0,4}"])
def test_broad_choices_that_may_be_empty(pattern: str) -> None:
    """One turn of a loop reads nothing here, so what follows may come at once."""
    tokens = [None, *(bytes([b]) for b in range(256)), b'"x', b'a"', b'ab"x"']
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[0])
    automaton = tokamata.compile(tokamata.regex(pattern) + '"x"', vocabulary)
    state = automaton.start()
    for token in (1 + ord("b"), 1 + ord('"')):
        mask_walk.agreed(automaton, state)
        assert state.allows(1 + ord('"'))
        state.advance(token)


_PIECES = (b"a", b"c", b"0", b"Z", b"_", b" ", b"-", b'"', b"\n", "é".encode(), "日".encode(), "🦜".encode())
_DAMAGED = (b"\xa9", b"\xe6\x97", b"\xf0\x9f", b"\xc0", b"\xff", b"\xed\xa0\x80")


@pytest.mark.parametrize("seed", range(4))
def test_many_tokens_behind_a_few_bytes(seed: int) -> None:
    """Subtries that lie inside of a loop as a whole, and those in which one text does not."""
    rng = random.Random(seed)
    tokens = {bytes([b]) for b in range(256)}
    for prefix in (b"ab", b"0f", b"b1", "é".encode(), b"a"):
        for inner in (b"", b"a", b"c0", "日".encode()):
            own = rng.sample(_PIECES, 4) + (rng.sample(_DAMAGED, 1) if rng.random() < 0.3 else [])
            for _ in range(40):
                tokens.add(prefix + inner + b"".join(rng.choices(own, k=rng.randint(0, 5))))
    singles = [bytes([b]) for b in range(256)]
    ordered = [*singles, *sorted(tokens.difference(singles)), None]
    vocabulary = tokamata.Vocabulary(ordered, eos_token_ids=[len(tokens)])
    for pattern in (
        r'[0-9a-f]{2}[^"]*"',
        r'[0-9a-f]{2}[^"\n]{0,3}"',
        r'([0-9a-f][a-z1])[^"\\\x00-\x1f]{2,9}x',
        r"(?a)[a-z0-9é]{1,2}\w{0,4}[-_]",
        r"[0-9a-f]{1,2}\S{1,30} .*",
        r"é?[a-f0-9]?b?[A-Za-z]*0",
    ):
        automaton = tokamata.compile(tokamata.regex(pattern), vocabulary, cache_bytes=0)
        for _ in range(4):
            state = automaton.start()
            states = [state.copy()]
            for _ in range(rng.randint(1, 8)):
                following = [b for b in range(256) if state.allows(b)]
                if not following:
                    break
                state.advance(rng.choice([b for b in following if b < 128] or following))
                states.append(state.copy())
            for again in reversed(states):  # states are known as loops before they are met below a node
                want = automaton._native.mask_by_walking(again.state_id)
                assert (again.mask() == want).all(), (seed, pattern)


def test_counts_that_no_token_reaches_share_a_mask() -> None:
    words = [b"cafe", b"deadbeef", b"0a", b'e"', b'f", "', b"zz", b"ab" * 5]
    tokens: list[bytes | None] = [bytes([b]) for b in range(256)] + [*words, None]
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[len(tokens) - 1])
    for pattern in ('[0-9a-f]{60}"', '[0-9a-f]{20,60}", "', "([0-9a-f]|xx){30,}y", "(ab){9,20}|[0-9]{40}"):
        automaton = tokamata.compile(tokamata.regex(pattern), vocabulary)
        rng = random.Random(pattern)
        for _ in range(4):
            state = automaton.start()
            while not state.is_final:
                state.advance(rng.choice(mask_walk.agreed(automaton, state, pattern)))
    automaton = tokamata.compile(tokamata.regex("[0-9a-f]{60}"), vocabulary)
    state = automaton.start()
    for _ in range(60):
        state.mask()
        state.advance(ord("a"))
    assert automaton._native.num_masks < 15  # the longest token reads ten


def test_counted_characters_of_a_token_make_one_state() -> None:
    tokens: list[bytes | None] = [*(bytes([b]) for b in range(256)), b"x" * 40, b"ab" * 20, b"a" * 19 + b'"']
    tokens += ["é漢😀x".encode() * 9, "漢字\U0010ffff".encode() + b"\xe4\xb8", None]
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[len(tokens) - 1])
    for pattern in (r'([^"\\]|\\n){0,500}"', r'([^"\\]|\\n){300,}"', r"x(a|b){20,400}c?"):
        automaton = tokamata.compile(tokamata.regex(pattern), vocabulary)
        for word in range(256, 261):
            whole, bytewise = automaton.start(), automaton.start()
            whole.advance(ord("x"))
            bytewise.advance(ord("x"))
            before = automaton.num_states
            if not whole.allows(word):
                continue
            whole.advance(word)
            assert automaton.num_states <= before + 9, pattern
            for byte in tokens[word] or b"":
                bytewise.advance(byte)
            assert automaton._native.state_of(whole) == automaton._native.state_of(bytewise), (pattern, word)


@pytest.mark.parametrize("low", [0, 2])
def test_tokens_longer_than_what_is_left_of_a_loop(low: int) -> None:
    rng = random.Random(low)
    pieces = [b"a", b"Zz", b"\\n", b"\\\\", b'"', "é".encode(), b"\\", b"\n"]
    words = {b"".join(rng.choices(pieces, [9, 4, 3, 3, 1, 2, 1, 1], k=rng.randint(1, 24))) for _ in range(900)}
    vocabulary = mask_walk.with_bytes(words)
    for pattern in (r'([^"\\\n]|\\[n\\]){%d,30}"', r'([^"\\\n]|\\n|\\\\a){%d,19}"?', r'([^Z"\\\n]|\\n){%d,24}'):
        automaton = tokamata.compile(tokamata.regex(pattern % low), vocabulary)
        for _ in range(3):
            state = automaton.start()
            for _ in range(40):
                texts = mask_walk.agreed(automaton, state, pattern)
                if not texts:
                    break
                state.advance(rng.choice(texts[:256] if rng.random() < 0.8 else texts))


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:[a-z]+[^a-z]+){0,40}[a-z]+",
        "(?:[a-z]+[^a-z]+){0,14}[a-z]+",
        r"(?:\w+\W+){3,30}\w+",
        r"(?:\w{1,9}\W{1,3}){0,20}",
        r"(?:\w+[^\w\s]?\s?){1,45}",
        r"(?:[^.!?]{4,30}[.!?] ?){1,14}",
        "(?:[^, ]{1,12}(?:, )?){1,26}|(?:[ab.]+,){2,40}",
        "(?:[a-c]+[^a-c]){0,40}(?:[^a]+a){1,13}",
    ],
)
def test_counts_of_words_that_no_short_token_exhausts(pattern: str) -> None:
    rng = random.Random(3)
    pieces = [b"a", b"bc", b" ", b", ", b".", b"-", b"Zz", b"9", "é".encode(), "日".encode(), b"--", b"\n"]
    words = {b"".join(rng.choices(pieces, k=rng.randint(1, 9))) for _ in range(9000)}
    words |= {b"".join(rng.choices(pieces, k=rng.randint(12, 40))) for _ in range(250)}
    words |= {b"a." * 20, b" " * 60, b"a" * 50}
    words |= {b"a." * n for n in range(4, 13)} | {b"-bc" * n for n in range(4, 9)}
    automaton = tokamata.compile(tokamata.regex(pattern), mask_walk.with_bytes(words))
    for _ in range(2):
        mask_walk.wander(automaton, rng, 2, 30, pattern)


@pytest.mark.parametrize(
    "constraint",
    [
        tokamata.regex(r'[a-z][a-z0-9+.-]*:([^ "\n]|%[0-9a-f]{2})*"x|[^"\n]*"y'),  # a narrow loop beside a wide one
        tokamata.regex(r'[a-z]+"x|[^"\n]*"y|\S{0,30}"z'),
        (tokamata.regex("[a-zA-Z0-9](-?[a-zA-Z0-9])*") & tokamata.regex(".{0,39}")) + "\n",  # which of the two counts
        (tokamata.regex("([a-z]|é|日)*") & tokamata.regex(".{0,20}")) + "\n",
        tokamata.regex(r'[^abx]*"|[^a]{3,}b|[^\s0-]{1,7}x'),  # without letters that most tokens have
        tokamata.regex(r"..a.b.{3}....|.é.|\S.-|[^0-9a-c]+[0-9]."),
        tokamata.regex(r'(.+/.+|[^-]{2,}-.*)"'),
    ],
)
def test_loops_beside_one_another(constraint: tokamata.Constraint) -> None:
    rng = random.Random(1)
    words = {b"".join(rng.choices(_PIECES, k=rng.randint(1, 20))) for _ in range(600)}
    words |= {b"".join(rng.choices([b"a", b"bc", b"-", b"0"], k=rng.randint(1, 30))) for _ in range(600)}
    vocabulary = mask_walk.with_bytes(words)
    automaton = tokamata.compile(constraint, vocabulary)
    for _ in range(6):
        state = automaton.start()
        for _ in range(25):
            texts = mask_walk.agreed(automaton, state)
            if not texts:
                break
            letters = [i for i in texts if 97 <= i < 123]
            state.advance(rng.choice(letters if letters and rng.random() < 0.7 else texts))


@pytest.mark.parametrize("seed", range(3))
def test_tokens_that_begin_inside_a_character(seed: int) -> None:
    """Masks between the bytes of a character, of tokens that end there, go on in a loop or leave it."""
    rng = random.Random(seed)
    begins = [bytes(rng.randrange(0x80, 0xC0) for _ in range(rng.randint(1, 4))) for _ in range(40)]
    words = {rng.choice(begins) + b"".join(rng.choices(_PIECES, k=rng.randint(0, 4))) for _ in range(400)}
    words |= {*begins, *(rng.choice(begins) + rng.choice(_DAMAGED) for _ in range(20))}
    vocabulary = mask_walk.with_bytes(words)
    patterns = (
        r"(.|\n)*",
        r".{0,300}x",
        r'"[^"\\\n]{0,3}"',
        r'"([^"\\\n]|\\n){2,40}"',
        r"[^c]{3,}-",
        r"[^0]*foo",
        r"\S*Z",
    )
    for pattern in patterns:
        automaton = tokamata.compile(tokamata.regex(pattern), vocabulary, cache_bytes=0)
        for text in ("é", "日", "ก", "한", "🦜", "\U000d0000", "\U00100000", "aé", "日日"):
            state = automaton.start()
            for byte in (b'"' if pattern[0] == '"' else b"") + text.encode():
                state.advance(byte)
                for _ in range(2):  # when it is met first, and again
                    mask_walk.agreed(automaton, state, seed, pattern)


def test_bytes_that_go_on_with_no_character() -> None:
    """Languages of bytes, of which UTF-8 has no texts."""
    inside = range(0x80, 0xC0)
    vocabulary = mask_walk.with_bytes([b"\x80\x80a", b"\xbf\xbf\xbf", "日".encode() + b"\x80"])
    for text in (
        [f"0 1 {b} {b}" for b in inside] + [f"1 1 {b} {b}" for b in inside] + ["1"],
        [f"0 1 {b} {b}" for b in inside] + [f"1 0 {b} {b}" for b in inside] + ["0"],
        [f"0 0 {b} {b}" for b in range(256)] + [f"0 1 {b} {b}" for b in inside] + ["1"],
    ):
        constraint = tokamata.from_fst(Fst.from_text("\n".join(text)))
        for whole in (constraint, constraint.repeat(2, 5), constraint + "a", "a" + constraint):
            automaton = tokamata.compile(whole, vocabulary)
            state = automaton.start()
            for byte in b"\x80a\x80\xbf\x81":
                if state.allows(byte):
                    mask_walk.agreed(automaton, state)
                    state.advance(byte)
            assert state.num_tokens >= 2


@pytest.mark.parametrize("first", ["(?:[^Q]|Q!)", "(?:[^Q]|Q!|!Q)", "(?:[^Q]|Qa)(?s:.)"])
@pytest.mark.parametrize("rest", ["(?s:..)*", "(?s:...)*", "(?:[^ab]|a[^b])*"])
def test_a_loop_of_which_less_is_known_since(first: str, rest: str) -> None:
    """It was found to be like one that a few bytes end, after masks inside of its characters had been planned."""
    pieces = ["é".encode()[1:] + b"a", "é".encode()[1:] + b"Q", "日".encode()[1:], b"aQ", b"Qb", b"x1", "éa".encode()]
    automaton = mask_walk.compiled(
        tokamata.regex(f"z{rest}|y{first}{rest}"), [*(bytes([b]) for b in range(256)), *pieces], cache_bytes=0
    )
    for text in ("zé", "zaé", "yaéa", "zé", "zaé", "yé日"):
        state = automaton.start()
        for byte in text.encode():
            mask_walk.agreed(automaton, state)
            state.advance(byte)

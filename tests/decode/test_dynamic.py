"""Dynamic constraints against their definition: all short texts, each read from left to right."""

from __future__ import annotations

import itertools
import random
import re
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from tokamata.decode import BatchState, DynamicAutomaton, DynamicState

import tokamata
from tokamata import Constraint, ConstraintError, LimitError, TokenRejected, UnsupportedError

ALPHABET = "abc"
LONGEST = 7
TEXTS = ["".join(w) for n in range(LONGEST + 1) for w in itertools.product(ALPHABET, repeat=n)]
OPTIONS = ["a", "b|c", "ab|b", "(a|b)?c", "a{1,2}", "b?", "aa|ab|ac"]


def vocabulary(random_: random.Random) -> tokamata.Vocabulary:
    tokens = {"".join(random_.choices(ALPHABET, k=random_.randint(2, 4))) for _ in range(25)}
    return tokamata.Vocabulary([None, *(bytes([b]) for b in range(256)), *map(str.encode, sorted(tokens))], [0])


def answer(seed: int, text: str) -> str:
    """What a callback returns, as a regular expression: the same for the same text."""
    return OPTIONS[zlib.crc32(f"{seed} {text}".encode()) % len(OPTIONS)]


Tree = tuple[Any, ...]


def random_tree(random_: random.Random, depth: int) -> Tree:
    kind = random_.choice(["static", "dynamic", "join", "join", "either", "repeat"]) if depth else "static"
    if kind == "static":
        return ("static", random_.choice(OPTIONS))
    if kind == "dynamic":
        return ("dynamic", random_.randint(0, 2))
    if kind == "repeat":
        low = random_.randint(0, 1)
        return ("repeat", random_tree(random_, depth - 1), low, low + random_.randint(0, 1))
    return (kind, random_tree(random_, depth - 1), random_tree(random_, depth - 1))


def constraint_of(tree: Tree) -> Constraint:
    kind = tree[0]
    if kind == "static":
        return tokamata.regex(tree[1])
    if kind == "dynamic":
        return tokamata.dynamic(lambda text, seed=tree[1]: tokamata.regex(answer(seed, text)), name=f"place{tree[1]}")
    if kind == "repeat":
        return constraint_of(tree[1]).repeat(tree[2], tree[3])
    left, right = constraint_of(tree[1]), constraint_of(tree[2])
    return left + right if kind == "join" else left | right


def ends(tree: Tree, text: str, begin: int) -> frozenset[int]:
    """Where a member that begins at a place of the text can end: the definition."""
    kind = tree[0]
    if kind in ("static", "dynamic"):
        pattern = re.compile(tree[1] if kind == "static" else answer(tree[1], text[:begin]))
        return frozenset(e for e in range(begin, len(text) + 1) if pattern.fullmatch(text, begin, e))
    if kind == "either":
        return ends(tree[1], text, begin) | ends(tree[2], text, begin)
    if kind == "join":
        return frozenset(e for m in ends(tree[1], text, begin) for e in ends(tree[2], text, m))
    now, found = frozenset([begin]), frozenset([begin]) if tree[2] == 0 else frozenset[int]()
    for i in range(1, tree[3] + 1):
        now = frozenset(e for m in now for e in ends(tree[1], text, m))
        found = found | now if i >= tree[2] else found
    return found


def most(tree: Tree) -> int:
    """Characters of the longest members."""
    if tree[0] in ("static", "dynamic"):
        return 2
    if tree[0] == "repeat":
        return most(tree[1]) * int(tree[3])
    lengths = most(tree[1]), most(tree[2])
    return sum(lengths) if tree[0] == "join" else max(lengths)


def trees(count: int) -> list[tuple[int, Tree]]:
    found = []
    for seed in itertools.count():
        tree = random_tree(random.Random(seed), 3)
        if most(tree) <= LONGEST and "dynamic" in str(tree):
            found.append((seed, tree))
            if len(found) == count:
                return found
    raise AssertionError


def allowed(state: DynamicState, size: int) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(state.mask().view(np.uint8), bitorder="little")[:size]).tolist())


def test_masks_are_the_definition() -> None:
    for seed, tree in trees(40):
        random_ = random.Random(seed)
        tokens = vocabulary(random_)
        spelled = {t: (tokens.token_bytes(t) or b"").decode("latin-1") for t in range(1, len(tokens))}
        members = {text for text in TEXTS if len(text) in ends(tree, text, 0)}
        prefixes = {text[:i] for text in members for i in range(len(text) + 1)}
        automaton = tokamata.compile(constraint_of(tree), tokens)
        assert isinstance(automaton, DynamicAutomaton)
        for text in TEXTS[:400]:
            assert automaton.accepts(text) == (text in members), (seed, tree, text)
            assert automaton.accepts_prefix(text) == (text in prefixes), (seed, tree, text)
        for _ in range(4):
            state, text, history = automaton.start(), "", []
            while not state.is_finished:
                expected = {t for t, s in spelled.items() if text + s in prefixes} | ({0} if text in members else set())
                assert allowed(state, len(tokens)) == expected, (seed, tree, text)
                others = random_.sample(range(len(tokens)), 10)
                assert all(state.allows(t) == (t in expected) for t in others), (seed, tree, text)
                forced = state.forced_bytes().decode()
                assert all(p.startswith(text + forced[: len(p) - len(text)]) for p in members if p.startswith(text))
                history.append((text, expected))
                token = random_.choice(sorted(expected))
                state.advance(token)
                text += spelled.get(token, "")
            ids = list(range(len(tokens)))
            for back in range(1, state.num_tokens + 1):
                copy = state.copy()
                copy.rollback(back)
                assert allowed(copy, len(tokens)) == history[-back][1], (seed, tree, back)
                assert copy.is_final == (0 in history[-back][1])
            assert not any(state.allows(t) for t in ids)
            state.reset()
            assert state.num_tokens == 0
            assert allowed(state, len(tokens)) == history[0][1]


def test_validate_and_draft_masks() -> None:
    seen: list[str] = []

    def same_again(text: str) -> Constraint:
        seen.append(text)
        return tokamata.literal(text[-3:])

    tokens = tokamata.Vocabulary([None, *(bytes([b]) for b in range(256)), b"-a", b"c-ab"], [0])
    automaton = tokamata.compile(
        tokamata.regex("[a-c]{3}") + tokamata.dynamic(same_again) + "-" + tokamata.regex("[abc]+"), tokens
    )
    ids = [1 + b for b in b"abcab"] + [258, 1 + ord("b"), 0]
    state = automaton.start()
    assert state.validate(ids) == len(ids)
    assert state.validate([*ids[:4], 1 + ord("c"), *ids]) == 4
    rows = state.draft_masks(ids)
    for i, token in enumerate(ids):
        assert (rows[i] == state.mask()).all()
        state.advance(token)
    assert not rows[-1].any()
    assert seen.count("abc") == 1  # remembered
    rows = automaton.start().draft_masks([1 + ord("z"), 1])
    assert rows[0].any()
    assert not rows[1:].any()


def test_draft_trees() -> None:
    tokens = tokamata.Vocabulary([None, *(bytes([b]) for b in range(256))], [0])
    constraint = tokamata.regex("[ab]{2}") + tokamata.dynamic(lambda text: text[::-1]) + tokamata.regex("c*")
    state = tokamata.compile(constraint, tokens).start()
    seed = 20261125
    for turn in range(40):
        rng = random.Random(seed + turn)
        parents = [rng.randrange(-1, i) for i in range(14)]
        draft = [rng.choice([1 + ord(c) for c in "aabbcz"] + [0]) for _ in parents]
        texts: list[list[int]] = [[]]
        for token, parent in zip(draft, parents, strict=True):
            texts.append([*texts[parent + 1], token])
        masks = state.draft_masks(draft, parents)
        for text, mask in zip(texts, masks, strict=True):
            after = state.copy()
            if state.validate(text) < len(text):
                assert not mask.any(), (seed, turn)
                continue
            for token in text:
                after.advance(token)
            assert (mask == after.mask()).all(), (seed, turn)
        assert (state.draft_masks(draft) == state.draft_masks(draft, range(-1, 13))).all()
    for parents in ([0], [-2], [-1, 0], [], ["a"], [1.5], [2**70], 5):
        with pytest.raises(ValueError, match="expected for each token the number of an earlier one, or -1"):
            state.draft_masks([1], parents)


def test_forced_text() -> None:
    automaton = tokamata.compile(
        "id=" + tokamata.dynamic(lambda text: text[:2] + "7") + tokamata.regex("[;.]"), vocabulary(random.Random(0))
    )
    state = automaton.start()
    assert state.forced_bytes() == b"id=id7"
    assert state.forced_bytes(limit=4) == b"id=i"
    assert bytes(t - 1 for t in state.forced_tokens()) == b"id=id7"


def test_keys_are_asked_once() -> None:
    calls: list[str] = []

    def members(text: str) -> Constraint:
        calls.append(text)
        return tokamata.choice([f"{text[-2]}1", f"{text[-2]}2"])

    part = tokamata.regex("[ab]") + "." + tokamata.dynamic(members, key=lambda text: text[-2])
    automaton = tokamata.compile((part + ",").repeat(), vocabulary(random.Random(0)))
    assert automaton.accepts("a.a1,b.b2,a.a2,a.a1,")
    assert not automaton.accepts("a.b1,")
    assert calls == ["a.", "a.a1,b."]


def test_structural_tags_with_places() -> None:
    """Tags whose content is what was written before them."""
    words = tokamata.dynamic(lambda text: tokamata.choice(sorted(set(re.findall("[a-z]+", text)))))
    automaton = tokamata.compile(tokamata.structural_tags([("<<", words, ">>")]), vocabulary(random.Random(0)))
    assert automaton.accepts("red and blue: <<blue>>, <<red>>, <<and>>.")
    assert not automaton.accepts("red and blue: <<green>>")
    assert automaton.accepts_prefix("red and blue: <<blue>>, <<r")
    assert not automaton.accepts_prefix("red and blue: <<x")


def test_special_tokens() -> None:
    tokens = tokamata.Vocabulary(
        [None, None, *(bytes([b]) for b in range(256)), b"a."], [0], special_tokens={"<|x|>": 1}
    )
    texts = []

    def after(text: str) -> Constraint:
        texts.append(text)
        return tokamata.special_token("<|x|>") | "b"

    made = (
        tokamata.regex("é?a")
        + tokamata.special_token("<|x|>")
        + "."
        + tokamata.dynamic(after, special_tokens=["<|x|>"])
    )
    state = tokamata.compile(made, tokens).start()
    ids = [*(2 + b for b in "éa".encode()), 1, 2 + ord("."), 1, 0]
    assert state.validate(ids) == len(ids)
    assert texts == ["éa<|x|>."]
    assert state.validate([2 + ord("a"), *(2 + b for b in b"\xff<|x|>\xff")]) == 1
    undeclared = "." + tokamata.dynamic(lambda text: tokamata.special_token("<|x|>"), name="tool")
    state = tokamata.compile(undeclared, tokens).start()
    with pytest.raises(
        ConstraintError, match=r"^dynamic 'tool': the callback's constraint has the special token '<\|x\|>'"
    ):
        state.advance(2 + ord("."))
    assert state.num_tokens == 0


def test_single_tokens_are_refused() -> None:
    tokens = vocabulary(random.Random(0))
    with pytest.raises(UnsupportedError, match="read text and special tokens, not single tokens"):
        tokamata.compile(tokamata.text_token() + tokamata.dynamic(lambda text: "x"), tokens)
    with pytest.raises(ConstraintError, match=r"^dynamic 't': the callback's constraint asks for single tokens"):
        tokamata.compile(tokamata.dynamic(lambda text: tokamata.text_token(), name="t"), tokens).start()


def test_errors_of_callbacks_leave_the_state_as_it_was() -> None:
    def broken(text: str) -> Constraint:
        raise KeyError("city")

    automaton = tokamata.compile("ab" + tokamata.dynamic(broken, name="cities") + ";", vocabulary(random.Random(0)))
    state = automaton.start()
    state.advance(1 + ord("a"))
    with pytest.raises(
        ConstraintError, match=r"^dynamic 'cities': the callback raised KeyError: 'city'; after 'ab'$"
    ) as info:
        state.advance(1 + ord("b"))
    assert isinstance(info.value.__cause__, KeyError)
    with pytest.raises(ConstraintError, match="'cities'"):
        state.mask()
    assert state.num_tokens == 1
    assert not state.is_final
    for key, text in [
        (lambda text: [], "the key raised TypeError: unhashable"),
        (lambda text: 1 // 0, "ZeroDivisionError"),
    ]:
        made = "a" + tokamata.dynamic(lambda text: "x", key=key, name="k")
        with pytest.raises(ConstraintError, match=f"^dynamic 'k': .*{text}"):
            tokamata.compile(made, vocabulary(random.Random(0))).start().mask()
    for wrong, text in [(3, "got int"), (tokamata.dynamic(broken), "got a dynamic one")]:
        made = tokamata.dynamic(lambda text, wrong=wrong: wrong, name="w")
        with pytest.raises(
            ConstraintError, match=f"^dynamic 'w': expected the callback to return a Constraint.*{text}"
        ):
            tokamata.compile(made, vocabulary(random.Random(0))).start()


def test_answers_without_members() -> None:
    nothing = tokamata.regex("a") & tokamata.regex("b")
    choices = {"a.": "x", "b.": nothing}
    made = tokamata.regex("[ab]") + "." + tokamata.dynamic(lambda text: choices[text])
    tokens = tokamata.Vocabulary([None, *(bytes([b]) for b in range(256)), b"a.", b"b.", b".x"], [0])
    state = tokamata.compile(made, tokens).start()
    assert state.allows(257)
    assert not state.allows(258)  # the place is reached: nothing may follow
    assert allowed(state, len(tokens)) == {1 + ord("a"), 1 + ord("b"), 257}
    state.advance(1 + ord("b"))
    with pytest.raises(
        ConstraintError, match=r"^dynamic: nothing may come after 'b': what callbacks returned leaves no"
    ):
        state.mask()
    with pytest.raises(ConstraintError, match="is empty: every way through it has a part without members"):
        tokamata.compile(nothing + tokamata.dynamic(lambda text: "x"), tokens)
    empty_first = "a" + tokamata.dynamic(lambda text: "") + tokamata.dynamic(lambda text: nothing)
    assert not tokamata.compile(empty_first, tokens).start().allows(1 + ord("a"))
    other = tokamata.compile((nothing + tokamata.dynamic(lambda text: "x")) | "y", tokens)
    assert other.accepts("y")


def test_limits() -> None:
    tokens = tokamata.Vocabulary(
        [None, *(bytes([b]) for b in range(256)), *(f"{i:03d}".encode() for i in range(1000))], [0]
    )
    made = tokamata.regex("[0-9]{1,5}") + tokamata.dynamic(lambda text: "x", name="unit", max_places=100)
    with pytest.raises(LimitError, match=r"max_places=100 was reached: within one token the part before 'unit'"):
        tokamata.compile(made, tokens).start().mask()
    with pytest.raises(LimitError, match="the limit of 2000 parts was reached"):
        tokamata.compile(tokamata.dynamic(lambda text: "x").repeat(0, 3000), tokens)
    with pytest.raises(UnsupportedError, match="need a vocabulary in which every byte"):
        tokamata.compile(tokamata.dynamic(lambda text: "x"), tokamata.Vocabulary([None, b"x"], [0]))
    with pytest.raises(UnsupportedError, match=r"^start: max_tokens=9 needs the lengths of all members"):
        tokamata.compile(tokamata.dynamic(lambda text: "x"), tokens).start(9)


def many_states() -> Constraint:
    inner = tokamata.dynamic(lambda text: tokamata.regex(f"([ab]*b[ab]{{{4 + len(text) % 3}}})*c"), name="inner")
    return tokamata.regex("([ab]*a[ab]{7})*c") + inner + tokamata.regex("[ab]*c")


def going_on(state: DynamicState, tokens: tokamata.Vocabulary, random_: random.Random) -> int:
    """An allowed token, mostly one that ends nothing."""
    found = sorted(allowed(state, len(tokens)))
    longer = [t for t in found if b"c" not in (tokens.token_bytes(t) or b"c")]
    return random_.choice(longer if longer and random_.random() < 0.95 else found)


def test_parts_without_room_keep_no_masks() -> None:
    tokens = vocabulary(random.Random(0))
    made = "a" + tokamata.dynamic(lambda text: tokamata.regex("b*c"), name="end")
    kept, none = (tokamata.compile(made, tokens, cache_bytes=n) for n in (None, 0))
    for automaton in (kept, none):
        state = automaton.start()
        for byte in b"abb":
            state.mask()
            state.advance(1 + byte)
        parts = [start.automaton for start in (*automaton._static.values(), *automaton._answers[1].values()) if start]
        assert parts
        assert [part.mask_bytes > 0 for part in parts] == [automaton is kept] * len(parts)


def test_small_automata_begin_anew() -> None:
    tokens = vocabulary(random.Random(0))
    free = tokamata.compile(many_states(), tokens)
    small = tokamata.compile(many_states(), tokens, limits=tokamata.Limits(states=60))
    for seed in range(12):
        random_ = random.Random(seed)
        states = free.start(), small.start()
        for _ in range(40):
            masks = [state.mask() for state in states]
            assert (masks[0] == masks[1]).all(), seed
            assert states[0].forced_bytes() == states[1].forced_bytes()
            token = going_on(states[0], tokens, random_)
            for state in states:
                state.advance(token)
            if states[0].is_finished:
                break
    assert small.generations > free.generations == 1


def test_threads_share_automata_and_states() -> None:
    tokens = vocabulary(random.Random(0))
    automaton = tokamata.compile(many_states(), tokens, limits=tokamata.Limits(states=60))
    begun = automaton.start()
    begun.advance(1 + ord("a"))

    def walk(state: DynamicState, seed: int) -> list[bytes]:
        random_ = random.Random(seed)
        rows = []
        while not state.is_finished and len(rows) < 30:
            rows.append(state.mask().tobytes())
            state.advance(going_on(state, tokens, random_))
        return rows

    expected = {seed: walk(begun.copy(), seed) for seed in range(8)}
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda seed: walk(begun.copy(), seed % 8), range(64)))
    assert all(rows == expected[i % 8] for i, rows in enumerate(found))
    assert automaton.generations > 1


def test_what_is_not_known_before() -> None:
    made = tokamata.dynamic(lambda text: "x", name="place")
    for question in [
        lambda: made & "a",
        lambda: "a" & made,
        lambda: made - "a",
        lambda: tokamata.regex("a") - made,
        lambda: ~made,
        made.is_empty,
        lambda: made.accepts("x"),
        lambda: made.examples(1),
        lambda: tokamata.regex("a").equivalent(made),
        lambda: ("a" + made).captures("ax"),
    ]:
        with pytest.raises(
            UnsupportedError, match=r"needs all members of .*dynamic\(place\).*, which are not known before"
        ):
            question()
    with pytest.raises(UnsupportedError, match=r"^capture: .* is made of several parts.*; name the parts one by one"):
        tokamata.capture("name", "a" + made)
    with pytest.raises(TypeError, match="expected a callback, got str"):
        tokamata.dynamic("x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected key as a function of the text, got int"):
        tokamata.dynamic(lambda text: "x", key=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected 0 <= low <= high"):
        made.repeat(2, 1)


def test_rejections_and_buffers() -> None:
    automaton = tokamata.compile("a" + tokamata.dynamic(lambda text: "b"), vocabulary(random.Random(0)))
    state = automaton.start()
    for token, text in [(0, "is not complete"), (1, "is not allowed after 0"), (999, "outside the vocabulary's ids")]:
        with pytest.raises(TokenRejected, match=text):
            state.advance(token)
    with pytest.raises(IndexError, match="expected 0 <= n <= 0"):
        state.rollback(1)
    rows = np.zeros((2, automaton.words), np.int32)
    state.fill_mask(rows, 1)
    assert (rows[1] == state.mask()).all()
    assert not rows[0].any()
    for wrong in [rows.astype(np.int64), rows[:, :-1], np.asfortranarray(rows), [1], bytes(8)]:
        with pytest.raises(ValueError, match=r"^fill_mask: expected a writable C-contiguous int32 array or CPU tensor"):
            state.fill_mask(wrong)
    with pytest.raises(IndexError, match="expected 0 <= row < 2, got row=2"):
        state.fill_mask(rows, 2)
    for byte in b"ab":
        state.advance(1 + byte)
    state.advance(0)
    assert not state.mask().any()
    with pytest.raises(TokenRejected, match="comes after the end-of-sequence token"):
        state.advance(0)


def test_texts_that_are_none_fail_their_row_alone() -> None:
    tokens = vocabulary(random.Random(0))
    bad = tokamata.compile("x" + tokamata.dynamic(lambda text: "a\ud800", name="place"), tokens)
    with pytest.raises(ConstraintError, match=r"^dynamic 'place': .* lone surrogate '\\ud800' .*; after 'x'$"):
        bad.start().advance(1 + ord("x"))
    batch = BatchState([tokamata.compile(tokamata.regex("x"), tokens).start(), bad.start()])
    batch.advance([1 + ord("x")] * 2)
    assert (batch[0].num_tokens, batch[1].num_tokens) == (1, 0)
    assert re.match(r"dynamic 'place': ", str(batch.errors[1]))
    assert list(batch.errors) == [1]

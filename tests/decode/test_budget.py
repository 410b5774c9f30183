"""Budgets: masks against brute force over token sequences and over explicit models, errors, real vocabularies."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pytest
from oracle import mask_walk
from oracle.dfa import Dfa
from oracle.packages import vocabulary_file
from oracle.random_constraint import random_constraint, random_vocabulary
from tokamata.constraints import grammars

import tokamata
from tokamata import _core

BYTES: list[bytes | None] = [bytes([b]) for b in range(256)]
FAR = 1 << 30


def allowed(mask: np.ndarray) -> set[int]:
    return set(mask_walk.allowed(mask))


def distances(model: Dfa, tokens: Sequence[bytes | None]) -> np.ndarray:
    """Text tokens from each state to a final one, by relaxation over all tokens; FAR where there is no way."""
    usable = sorted({t for t in tokens if t})
    n = len(model.final)
    targets = np.empty((n, len(usable)), np.int64)
    for i, token in enumerate(usable):
        state = np.arange(n)
        for byte in token:
            state = model.next[state, byte]
        targets[:, i] = state
    far = np.where(model.final, 0, FAR)
    while True:
        nearer = np.minimum(far, far[targets].min(axis=1, initial=FAR) + 1)
        if (nearer == far).all():
            return far
        far = np.minimum(nearer, FAR)


def common_prefix(sequences: Sequence[Sequence[int]]) -> list[int]:
    low, high = min(sequences), max(sequences)  # the two that differ first
    return [x for x, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(low, high, strict=False))]


def model_mask(
    model: Dfa, far: np.ndarray, q: int, tokens: Sequence[bytes | None], eos: list[int], left: int
) -> set[int]:
    text = {i for i, t in enumerate(tokens) if t and far[model.run(t, q)] <= left - 2}
    return text | (set(eos) if model.final[q] and left else set())


@pytest.mark.parametrize("complete", [True, False])
def test_masks_equal_the_model(complete: bool) -> None:
    """Random constraints and vocabularies: masks, allows, validate, draft masks and errors are the model's."""
    compared = refused = 0
    for seed in range(60):
        rng = random.Random(f"{complete} {seed}")
        constraint, model, text = random_constraint(rng, algebra=seed % 3 != 0)
        tokens, eos = random_vocabulary(rng, complete)
        far = distances(model, tokens)
        if far[0] >= FAR:
            continue
        about = f"seed {complete} {seed}: {text}"
        automaton = tokamata.compile(constraint, tokamata.Vocabulary(tokens, eos_token_ids=eos))
        least = int(far[0]) + 1
        for budget in rng.sample([least, least, least + 1, least + 2, least + 3, least + 5, least + 20], 4):
            state, q, left = automaton.start(max_tokens=budget), 0, budget
            path: list[int] = []
            rows = []
            while True:
                want = model_mask(model, far, q, tokens, eos, left)
                got = allowed(state.mask())
                assert got == want, f"{about}, {left} left: {[(tokens[i], i in got) for i in sorted(got ^ want)[:5]]}"
                assert want, about  # no mask is empty before the end
                assert state.tokens_left == left
                rows.append(want)
                compared += 1
                for i in rng.sample(range(len(tokens)), 8):
                    assert state.allows(i) == (i in want), about
                token = rng.choice(sorted(want))
                state.advance(token)
                path.append(token)
                left -= 1
                if token in eos:
                    break
                q = model.run(tokens[token] or b"", q)
            assert state.is_finished
            assert len(path) <= budget, about
            assert not allowed(state.mask())
            state.reset()
            assert state.validate([*path, path[-1]]) == len(path), about
            assert [allowed(row) for row in state.draft_masks(path)] == [*rows, set()], about
        for budget in {0, least - 1}:
            with pytest.raises(
                tokamata.BudgetError, match=rf"max_tokens={budget} is too small.* pass max_tokens={least} or"
            ):
                automaton.start(max_tokens=budget)
            refused += 1
    assert compared > 350
    assert refused > 40


def test_counted_loops() -> None:
    """Tokens of up to nine characters of a loop, cut off inside the last one or followed by what comes after it."""
    compared = 0
    for seed in range(60):
        rng = random.Random(seed)
        low, high = rng.choice([(0, 2), (1, 3), (2, None), (3, 5), (0, None), (1, 1)])
        if rng.random() < 0.5:
            chars = rng.choice(["0123456789", "abcdefghijklmnopqrstuvwxyz", " \n\t\r\v\f"])
            body, model = f"[{chars}]", Dfa.characters(included=chars.encode(), non_ascii=False)
            pool = [c.encode() for c in chars]
        else:
            excluded = rng.choice([b'"', b'"\\', b"\n", bytes(range(32)) + b'"\\'])
            body = "[^" + "".join(f"\\x{b:02x}" for b in excluded) + "]"
            model = Dfa.characters(excluded)
            pool = [b"a", b"b", b" ", "é".encode(), "日".encode(), "😀".encode(), b"\n", b"\\"]
        rest = rng.choice(['"', "\n", "!?", '"é', ""])
        count = f"{{{low},{'' if high is None else high}}}"
        constraint = tokamata.regex(f"(?s){body}{count}") + rest
        model = model.repeat(low, high) + Dfa.literal(rest.encode())
        tokens: list[bytes | None] = [*BYTES, None]
        for _ in range(60):
            token = b"".join(rng.choices(pool, k=rng.randrange(10)))
            token += rest.encode()[: rng.randrange(3)] + rng.choice([b"", b"", b"a"])
            tokens.append(token[: len(token) - rng.choice([0, 0, 1, 2])])
        far = distances(model, tokens)
        automaton = tokamata.compile(constraint, tokamata.Vocabulary(tokens, eos_token_ids=[256]))
        for budget in range(int(far[0]) + 1, int(far[0]) + 5):
            state, q, left = automaton.start(max_tokens=budget), 0, budget
            while not state.is_finished:
                want = model_mask(model, far, q, tokens, [256], left)
                got = allowed(state.mask())
                different = [(tokens[i], i in got) for i in sorted(got ^ want)[:5]]
                assert got == want, f"seed {seed}: {body}{count} + {rest!r}, {left} left: {different}"
                compared += 1
                token = rng.choice(sorted(want))
                state.advance(token)
                left -= 1
                q = model.run(tokens[token] or b"", q)
    assert compared > 500


def test_equal_to_all_token_sequences() -> None:
    """Nothing but enumeration: the sequences of at most n tokens that end in EOS and spell a member."""
    checked = 0
    for seed in range(120):
        rng = random.Random(seed)
        constraint, model, text = random_constraint(rng, depth=2)
        pieces = [b"a", b"b", b'"', b"0", b"\n", b"ab", b"aa", b"\\", b"12", "é".encode(), "é".encode()[:1], b"\xa9"]
        tokens: list[bytes | None] = [*rng.sample(pieces, 5), None]
        tokens.append(b"".join(rng.choices([t for t in tokens if t], k=2)))
        eos = 5
        budget = rng.randrange(1, 6)
        members = [
            (*ids, eos)
            for n in range(budget)
            for ids in itertools.product([i for i in range(len(tokens)) if i != eos], repeat=n)
            if model.accepts(b"".join(tokens[i] or b"" for i in ids))
        ]
        about = f"seed {seed}: {text} with {tokens}, {budget} tokens"
        try:
            automaton = tokamata.compile(constraint, tokamata.Vocabulary(tokens, eos_token_ids=[eos]))
            state = automaton.start(max_tokens=budget)
        except ValueError:
            assert not members, about
            continue
        assert members, about
        prefix = tuple(rng.choice(members))[: rng.randrange(3)]
        for token in prefix:
            state.advance(token)
        rest = [m[len(prefix) :] for m in members if m[: len(prefix)] == prefix]
        assert allowed(state.mask()) == {m[0] for m in rest if m}, about
        if state.is_finished:
            continue
        texts = [b"".join(tokens[i] or b"" for i in m) for m in rest]
        assert state.forced_bytes() == bytes(common_prefix(texts)), about
        assert state.forced_tokens() == common_prefix([m[:-1] for m in rest]), about
        checked += 1
    assert checked > 50


@pytest.mark.parametrize("complete", [True, False])
def test_recursive_rules(complete: bool) -> None:
    """Arrays of arrays to any depth, a push-down language: all sequences of few tokens, and a long one."""
    nested = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}}
    constraint = tokamata.json_schema(nested)
    written = [b"[", b"]", b"[[", b"]]", b",", b"],[", b"[]]"]
    tokens: list[bytes | None] = [*written, None, *(BYTES if complete else [])]
    automaton = tokamata.compile(constraint, tokamata.Vocabulary(tokens, eos_token_ids=[7]))
    members = []
    for n in range(6):
        for ids in itertools.product(range(len(written)), repeat=n):
            try:
                json.loads(b"".join(written[i] for i in ids))
            except ValueError:
                continue
            members.append((*ids, 7))
    for budget in range(3, 7):
        state = automaton.start(max_tokens=budget)
        for prefix in {m[:k] for m in members for k in range(len(m)) if len(m) <= budget}:
            for token in prefix:
                state.advance(token)
            want = {m[len(prefix)] for m in members if len(m) <= budget and m[: len(prefix)] == prefix}
            if complete:  # the other spellings are not enumerated
                assert allowed(state.mask()) & set(range(8)) == want, (budget, prefix)
            else:
                assert allowed(state.mask()) == want, (budget, prefix)
            state.reset()
    state, depth = automaton.start(max_tokens=101), 0
    while 2 in allowed(state.mask()):
        state.advance(2)
        depth += 2
    assert depth == 100  # 50 tokens open two arrays each, 50 close two each, one is left for the end
    text = b"[[" * (depth // 2)
    while not state.is_finished:
        token = max(allowed(state.mask()) - {4, 5})
        text += tokens[token] or b""
        state.advance(token)
    assert state.num_tokens <= 101
    assert constraint.accepts(text)
    json.loads(text)


def test_forced_text_of_literal_choices() -> None:
    """A few strings of a's and b's, most of which only fit when spelled by their longest tokens."""
    longer = 0
    for seed in range(300):
        rng = random.Random(seed)
        texts = ["".join(rng.choices("ab", k=rng.randrange(3, 8))) for _ in range(3)]
        texts += [texts[0][:3] + texts[1][3:]]
        tokens = [b"a", b"b", *{"".join(rng.choices("ab", k=rng.randrange(2, 4))).encode() for _ in range(4)}, None]
        eos = len(tokens) - 1
        automaton = tokamata.compile(tokamata.choice(texts), tokamata.Vocabulary(tokens, eos_token_ids=[eos]))
        for budget in range(2, 7):
            fitting = []
            stack: list[tuple[list[int], str]] = [([], text) for text in set(texts)]
            while stack:
                ids, rest = stack.pop()
                if not rest:
                    fitting.append(ids)
                elif len(ids) < budget - 1:
                    usable = [(i, (t or b"").decode()) for i, t in enumerate(tokens) if t]
                    stack += [([*ids, i], rest[len(t) :]) for i, t in usable if rest.startswith(t)]
            if not fitting:
                with pytest.raises(tokamata.BudgetError):
                    automaton.start(max_tokens=budget)
                continue
            state = automaton.start(max_tokens=budget)
            spelled = [b"".join(tokens[i] or b"" for i in ids) for ids in fitting]
            about = f"seed {seed}: {texts} with {tokens}, {budget} tokens"
            assert state.forced_bytes() == bytes(common_prefix(spelled)), about
            assert state.forced_tokens() == common_prefix(fitting), about
            longer += len(state.forced_bytes()) > len(automaton.start().forced_bytes())
    assert longer > 100


def test_taking_back_restores_the_budget() -> None:
    vocabulary = tokamata.Vocabulary([*BYTES, b"no", None], eos_token_ids=[257])
    automaton = tokamata.compile(tokamata.regex("(no)+"), vocabulary)
    state = automaton.start(max_tokens=4)
    assert state.tokens_left == 4
    first = state.mask()
    state.advance(256)
    second = state.mask()
    assert allowed(second) == {ord("n"), 256, 257}
    other = state.copy()
    other.advance(256)
    assert (state.tokens_left, other.tokens_left) == (3, 2)
    assert allowed(other.mask()) == {256, 257}  # no room for "n", "o" and EOS
    with pytest.raises(tokamata.TokenRejected, match=r"token 110 leaves no room to finish: 2 more tokens .* leaves 1;"):
        other.advance(ord("n"))
    assert other.tokens_left == 2
    other.rollback(1)
    assert (other.mask() == second).all()
    other.reset()
    assert (other.mask() == first).all()
    assert (state.mask() == second).all()
    assert automaton.start().tokens_left is None
    assert automaton.start(max_tokens=None).tokens_left is None


def test_ends() -> None:
    tokens: list[bytes | None] = [*BYTES, None, b"yes", None]
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[256, 258])
    empty = tokamata.compile(tokamata.literal(""), vocabulary)
    assert allowed(empty.start(max_tokens=1).mask()) == {256, 258}
    for budget in (0, -1, -(1 << 70)):
        with pytest.raises(tokamata.BudgetError, match=r"is too small.* takes 1 of .* pass max_tokens=1 or more"):
            empty.start(max_tokens=budget)
    yes = tokamata.compile(tokamata.literal("yes"), vocabulary)
    assert allowed(yes.start(max_tokens=2).mask()) == {257}
    assert yes.start(max_tokens=2).forced_tokens() == [257]
    assert yes.start(max_tokens=4).forced_tokens() == []
    assert allowed(yes.start(max_tokens=1 << 80).mask()) == {ord("y"), 257}
    with pytest.raises(TypeError):
        yes.start(max_tokens=2.5)  # type: ignore[arg-type]
    with pytest.raises(tokamata.ConstraintError, match="compile: the constraint is empty"):
        tokamata.compile(tokamata.literal("a") & "b", vocabulary)


def test_only_one_spelling_fits() -> None:
    """The shortest string is not the nearest end: few long tokens beat many short ones."""
    vocabulary = tokamata.Vocabulary([b"a", b"b", b"c", b"bbbb", None], eos_token_ids=[4])
    automaton = tokamata.compile(tokamata.regex("aaa|(bbbb){2}c?"), vocabulary)
    with pytest.raises(tokamata.BudgetError, match="pass max_tokens=3 or more"):
        automaton.start(max_tokens=2)
    state = automaton.start(max_tokens=3)
    assert state.forced_tokens() == [3, 3]
    assert state.forced_bytes() == b"bbbbbbbb"
    assert automaton.start(max_tokens=4).forced_bytes() == b""


def test_nested_brackets_need_their_ends() -> None:
    """A choice of nested brackets: the deeper, the farther the end."""
    deep = tokamata.literal("x")
    for _ in range(30):
        deep = tokamata.literal("x") | (tokamata.literal("[") + deep + "]")
    vocabulary = tokamata.Vocabulary([*BYTES, b"]]]]", b"[[", None], eos_token_ids=[258])
    state = tokamata.compile(deep, vocabulary).start(max_tokens=12)
    opened = 0
    while ord("[") in allowed(state.mask()) or 257 in allowed(state.mask()):
        token = 257 if 257 in allowed(state.mask()) else ord("[")
        state.advance(token)
        opened += 2 if token == 257 else 1
    # k tokens open, one is x, EOS ends it, the others close four at a time: 2k brackets in 10 - k tokens.
    assert opened == max(n for n in range(31) if (n + 1) // 2 + n // 4 + n % 4 <= 10)
    assert state.validate([ord("x")]) == 1


def test_far_budgets_change_nothing() -> None:
    for seed in range(16):
        rng = random.Random(seed)
        constraint, model, text = random_constraint(rng)
        tokens, eos = random_vocabulary(rng, complete=True)
        if not model.alive[0]:
            continue
        automaton = tokamata.compile(constraint, tokamata.Vocabulary(tokens, eos_token_ids=eos))
        plain, limited = automaton.start(), automaton.start(max_tokens=5000)
        for _ in range(10):
            assert (plain.mask() == limited.mask()).all(), f"seed {seed}: {text}"
            token = rng.choice(sorted(allowed(plain.mask())))
            plain.advance(token)
            limited.advance(token)
            if plain.is_finished:
                break


def test_threads_share_distances() -> None:
    for seed in range(8):
        rng = random.Random(seed)
        constraint, model, text = random_constraint(rng)
        tokens, eos = random_vocabulary(rng, complete=seed % 2 == 0)
        far = distances(model, tokens)
        if far[0] >= FAR:
            continue
        vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=eos)
        budget = int(far[0]) + 4

        def decode(automaton: tokamata.TokenAutomaton, walk: int, budget: int = budget) -> list[bytes]:
            pick, state, masks = random.Random(walk), automaton.start(max_tokens=budget), []
            while not state.is_finished:
                masks.append(state.mask().tobytes())
                state.advance(pick.choice(sorted(allowed(state.mask()))))
            return masks

        alone = [decode(tokamata.compile(constraint, vocabulary), walk) for walk in range(12)]
        shared = tokamata.compile(constraint, vocabulary)
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(lambda walk, shared=shared, decode=decode: decode(shared, walk), range(12)))
        assert together == alone, f"seed {seed}: {text}"


# ------------------------------------------------------------------------------------------------ a real vocabulary

REAL = [
    r'"([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"',
    r"(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
    r'\{"name": "[a-z]{1,4}", "age": [0-9]{1,3}\}',
    r"[a-z]{6,9}",
    r"(?s).*?</think>",
    r'[^"]{3,7}"',
    r'"[^"\\n]{2,3}"?',
    r"[A-Z]{1,2}[a-z]{1,2}",
    r"internationali[sz]ation|localisation",
    r"[A-Z][a-z]*( [A-Z][a-z]*){2,3}",
    '"(?=[^"]*[A-Z])(?=[^"]*[0-9])[A-Za-z0-9@$!%*?&]{8,20}"',
]


@lru_cache(maxsize=1)
def qwen() -> tuple[tokamata.Vocabulary, list[bytes | None], np.ndarray]:
    """The vocabulary and its tokens as a table of bytes [tokens, longest], 256 behind the end and in special tokens."""
    vocabulary = tokamata.Vocabulary.from_file(vocabulary_file("qwen"))
    tokens = [vocabulary.token_bytes(i) for i in range(len(vocabulary))]
    table = np.full((len(tokens), max(len(t or b"") for t in tokens)), 256, np.int16)
    for i, token in enumerate(tokens):
        table[i, : len(token or b"")] = list(token or b"")
    return vocabulary, tokens, table


@cache
def real_model(pattern: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Targets [states, tokens] (0 is dead), finality and distances of an explicit character automaton."""
    fst = tokamata.regex(pattern).to_fst()
    n = fst.num_states()
    following = np.zeros((n + 1, 257), np.int32)
    final = np.zeros(n + 1, bool)
    for s in fst.states():
        final[s + 1] = fst.is_final(s)
        for arc in fst.arcs(s):
            following[s + 1, arc.ilabel % 256] = arc.nextstate + 1
    _, tokens, table = qwen()
    order = np.argsort([-len(t or b"") for t in tokens], kind="stable")
    lengths = np.array([len(tokens[i] or b"") for i in order])
    targets = np.zeros((n + 1, len(tokens)), np.int32)
    for s in range(1, n + 1):
        at = np.full(len(tokens), s, np.int32)
        for position in range(int(lengths[0])):
            longer = int(np.searchsorted(-lengths, -position, side="left"))
            at[:longer] = following[at[:longer], table[order[:longer], position]]
        at[lengths == 0] = 0
        targets[s, order] = at
    far = np.where(final, 0, FAR)
    while True:
        nearer = np.minimum(far, far[targets].min(axis=1) + 1)
        if (nearer == far).all():
            break
        far = nearer
    assert fst.start() == 0
    return targets, final, far


@pytest.mark.parametrize("pattern", REAL)
def test_qwen(pattern: str) -> None:
    vocabulary, tokens, _ = qwen()
    targets, final, far = real_model(pattern)
    automaton = tokamata.compile(tokamata.regex(pattern), vocabulary)
    least = int(far[1]) + 1
    with pytest.raises(tokamata.BudgetError, match=f"pass max_tokens={least} or more"):
        automaton.start(max_tokens=least - 1)
    for walk, budget in enumerate([least, least + 1, least + 2, least + 4, least + 8]):
        rng = random.Random(f"{pattern} {walk}")
        state, q, left = automaton.start(max_tokens=budget), 1, budget
        while not state.is_finished:
            want = far[targets[q]] <= left - 2
            want[vocabulary.eos_token_ids] = final[q]
            got = np.unpackbits(state.mask().view(np.uint8), bitorder="little")[: len(tokens)].astype(bool)
            different = np.flatnonzero(want != got)
            assert not different.size, f"{pattern}, {left} left: {[(tokens[i], bool(got[i])) for i in different[:5]]}"
            text = np.flatnonzero(want & (far[targets[q]] >= min(left - 2, int(far[targets[q]][want].max()))))
            token = int(rng.choice(text if text.size and rng.random() < 0.7 else np.flatnonzero(want)))
            state.advance(token)
            left -= 1
            q = int(targets[q, token])
        assert left >= 0


def test_searches_of_many_states_equal_the_model() -> None:
    """Where long tokens lead past the shortest texts, and what is left of them is no token."""
    for seed in range(200):
        rng = random.Random(seed)
        words = ["".join(rng.choices("abc", k=rng.randint(2, 9))) for _ in range(rng.randint(4, 16))]
        tokens = [*BYTES, *(word.encode() for word in words), None]
        needed = "".join(f"(?=.*{''.join(rng.choices('abc', k=rng.randint(1, 4)))})" for _ in range(2))
        pattern = f"{needed}([abc]{{{rng.randint(2, 5)}}}){{{rng.randint(2, 4)},}}"
        constraint = tokamata.regex(pattern)
        fst = constraint.to_fst()
        following = np.full((fst.num_states() + 1, 256), fst.num_states())
        for state in fst.states():
            for arc in fst.arcs(state):
                following[state, arc.ilabel % 256] = arc.nextstate
        model = Dfa(following, np.array([*(fst.is_final(s) for s in fst.states()), False]))
        far = distances(model, tokens)
        least = int(far[0]) + 1
        automaton = tokamata.compile(constraint, tokamata.Vocabulary(tokens, eos_token_ids=[len(tokens) - 1]))
        with pytest.raises(tokamata.BudgetError, match=f"pass max_tokens={least} or more"):
            automaton.start(max_tokens=least - 1)
        for budget in range(least, least + 4):
            state, q, left = automaton.start(max_tokens=budget), 0, budget
            while not state.is_finished:
                want = model_mask(model, far, q, tokens, [len(tokens) - 1], left)
                assert allowed(state.mask()) == want, (seed, pattern, left)
                token = rng.choice(sorted(want))
                state.advance(token)
                q, left = model.run(tokens[token] or b"", q), left - 1


PASSWORD = {"type": "string", "minLength": 8, "maxLength": 64, "pattern": r"\d"}
MIXED = {"minLength": 8, "maxLength": 20, "pattern": r"^(?=.*[A-Z])(?=.*\d)[A-Za-z\d@$!%*?&]+$"}


@pytest.mark.parametrize(
    ("schema", "least"),
    [
        ({"type": "string", "minLength": 20, "pattern": "[0-9]"}, 5),
        ({"type": "object", "properties": {"p": PASSWORD}, "required": ["p"], "additionalProperties": False}, 7),
        ({"type": "object", "properties": {"p": {"type": "string", **MIXED}}, "required": ["p"]}, 7),
        ({"type": "string", "pattern": "^(?=.*[A-Z])(?=.*[a-z])(?=.*[0-9])(?=.*[!@#])[^ ]{12,30}$"}, 5),
    ],
)
def test_counted_strings_with_conditions_on_their_characters(schema: dict[str, Any], least: int) -> None:
    """Summaries take too long for these: two ran into the limit `states` at once, and masks left out what fits."""
    vocabulary, tokens, _ = qwen()
    automaton = tokamata.compile(tokamata.json_schema(schema, limits=tokamata.Limits(seconds=10)), vocabulary)
    with pytest.raises(tokamata.BudgetError, match=rf"pass max_tokens={least} or more"):
        automaton.start(max_tokens=1)
    for budget in (least, least + 1, least + 2):
        state, rng, text = automaton.start(max_tokens=budget), random.Random(budget), b""
        while not state.is_finished:
            mask = mask_walk.allowed(state.mask())
            sample = rng.sample(range(len(tokens)), 100)
            assert {i for i in sample if state.allows(i)} == set(sample) & set(mask)
            token = int(rng.choice(mask))
            state.advance(token)
            text += tokens[token] or b""
        value = json.loads(text)
        value = value["p"] if isinstance(value, dict) else value
        string = schema.get("properties", {}).get("p", schema)
        assert len(value) >= string.get("minLength", 12)
        assert re.search(string["pattern"], value)


EXPRESSIONS = """
start: start "+" term | term
term: term "*" atom | atom
atom: "(" start ")" | NUM | NAME "(" [start ("," start)*] ")" | NAME
NUM: /[0-9]{1,8}(\\.[0-9]{1,3})?/
NAME: /[a-z_]{1,12}/
%ignore /[ \\t]+/
"""


@pytest.mark.parametrize(
    ("name", "budget"),
    [
        *itertools.product(["expressions", "python", "sql", "xml"], [9]),
        *itertools.product(["expressions", "python"], [40]),
        *(pytest.param(name, 40, marks=pytest.mark.slow) for name in ("sql", "xml")),
    ],
)
def test_grammars_end_within_their_budgets(name: str, budget: int) -> None:
    """Whatever opens, every text that masks allow ends as a member, in time; no search ends in a limit."""
    vocabulary, tokens, _ = qwen()
    constraint = tokamata.grammar(EXPRESSIONS if name == "expressions" else grammars.text(name))
    automaton = tokamata.compile(constraint, vocabulary)
    for walk in range(4):
        rng, text = random.Random(f"{name} {budget} {walk}"), b""
        state = automaton.start(max_tokens=budget)
        while not state.is_finished:
            ids = np.flatnonzero(np.unpackbits(state.mask().view(np.uint8), bitorder="little"))
            assert ids.size, text
            opening = [i for i in ids if (tokens[i] or b"").strip()[-1:] in (b"(", b"[", b":", b">")]
            token = int(rng.choice(opening if opening and rng.random() < 0.6 else ids))
            assert state.allows(token)
            state.advance(token)
            text += tokens[token] or b""
        assert constraint.accepts(text)


def test_ends_that_bounds_are_far_off_from() -> None:
    """In Python's blocks: bounds know nothing of columns, and a decorator needs a class or function behind it."""
    vocabulary, tokens, _ = qwen()
    automaton = tokamata.compile(tokamata.grammar(grammars.text("python")), vocabulary)
    free, bounded = automaton.start(), automaton.start(max_tokens=64)
    for text in (b"def", b" f", b"(a", b"):\n", b"    "):
        assert (bounded.mask() == free.mask()).all()
        free.advance(tokens.index(text))
        bounded.advance(tokens.index(text))
    assert (bounded.mask() == free.mask()).all()


def test_budgets_that_leave_room_change_no_mask_at_keys() -> None:
    """Also at the second of two keys, where what the first one found out is used again, and with little room left."""
    vocabulary, tokens, _ = qwen()
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a"]}
    text = b'{"a": 1, "cc": 3, "dd": {"x": [1], "z": 5}, "cb": 4}'
    automaton = tokamata.compile(tokamata.json_schema(schema), vocabulary)
    free, roomy, tight = automaton.start(), automaton.start(max_tokens=400), automaton.start(max_tokens=len(text) + 2)
    for i, byte in enumerate(text):
        assert (roomy.mask() == free.mask()).all(), text[:i]
        near, mask = set(mask_walk.allowed(tight.mask())), mask_walk.allowed(free.mask())
        assert near <= set(mask)
        sample = random.Random(i).sample(sorted(mask), min(len(mask), 100))
        assert {token for token in sample if tight.allows(token)} == set(sample) & near, text[:i]
        for state in (free, roomy, tight):
            state.advance(tokens.index(bytes([byte])))


def identifiers(most: int | None) -> dict[str, Any]:
    """A schema of two strings, one of at most so many characters."""
    name = {"type": "string", "minLength": 1} | ({"maxLength": most} if most else {})
    return {"type": "object", "properties": {"id": name, "type": {"type": "string"}}, "required": ["id", "type"]}


@pytest.mark.parametrize("left", [3, 5, 6, 8])
def test_bounds_that_no_token_reaches_change_no_mask(left: int) -> None:
    """Of 900 characters, when only a few tokens are left."""
    vocabulary, tokens, _ = qwen()
    limits = tokamata.Limits(seconds=10)
    made = (tokamata.json_schema(identifiers(most), limits=limits) for most in (900, None))
    compiled = (tokamata.compile(constraint, vocabulary) for constraint in made)
    begun = [tokens.index(text) for text in (b'{"', b"id", b'":', b' "', b"ab")]
    counted, free = (automaton.start(max_tokens=len(begun) + left + 2) for automaton in compiled)
    rng = random.Random(left)
    while not free.is_finished:
        assert (counted.mask() == free.mask()).all(), (left, free.tokens_left)
        token = begun.pop(0) if begun else int(rng.choice(mask_walk.allowed(free.mask())))
        counted.advance(token)
        free.advance(token)
    assert counted.is_finished


def answer(state: tokamata.DecodeState, token: int) -> bool | None:
    """Whether a token is allowed; None where a limit is reached."""
    try:
        return state.allows(token)
    except tokamata.LimitError:
        return None


def test_what_a_mask_leaves_undecided_is_not_taken_for_too_far() -> None:
    vocabulary, tokens, _ = qwen()
    schema = identifiers(80)
    schema["properties"]["id"]["minLength"] = 20
    schema["properties"]["type"] = {"type": "object"}
    states = []
    for room in (1000, 1_000_000):
        made = tokamata.json_schema(schema, limits=tokamata.Limits(states=room, seconds=20))
        states.append(tokamata.compile(made, vocabulary).start(max_tokens=12))
        for text in (b'{"', b"id", b'":', b' "', b"ab"):
            states[-1].advance(tokens.index(text))
    few, all_ = (set(mask_walk.allowed(state.mask())) for state in states)
    assert few < all_
    assert {answer(states[0], token) for token in all_ - few} <= {True, None}


NESTED = {
    "type": "object",
    "properties": {
        "_id": {"type": "string", "minLength": 1, "maxLength": 36},
        "data": {"type": "object"},
        "kind": {"type": "string"},
        "m": {"type": "object", "properties": {"a": {"type": "number"}}},
    },
    "required": ["_id", "kind", "m", "data"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(("name", "few_states"), [("expressions", 2000), ("schema", 20_000)])
def test_masks_search_for_as_long_as_there_may_be_states(name: str, few_states: int) -> None:
    """A mask leaves some tokens out; asked for by themselves they are allowed, or a limit is said; texts end."""
    vocabulary, tokens, _ = qwen()

    def start(states: int) -> tokamata.DecodeState:
        limits = tokamata.Limits(states=states, seconds=20)
        schema = name == "schema"
        made = tokamata.json_schema(NESTED, limits=limits) if schema else tokamata.grammar(EXPRESSIONS, limits=limits)
        return tokamata.compile(made, vocabulary).start(max_tokens=24)

    answers: set[bool | None] = set()
    short, long, rng = start(few_states), start(1_000_000), random.Random(24)
    while not short.is_finished:
        few, all_ = (set(mask_walk.allowed(state.mask())) for state in (short, long))
        assert few
        assert few <= all_
        answers |= {answer(short, token) for token in sorted(all_ - few)[:4]}
        opening = [i for i in few if (tokens[i] or b"").strip()[-1:] in (b"(", b"{")]
        token = int(rng.choice(opening if opening and rng.random() < 0.6 else sorted(few)))
        short.advance(token)
        long.advance(token)
    assert True in answers
    assert False not in answers
    assert long.is_finished


def test_a_search_that_takes_too_long() -> None:
    """A LimitError or a BudgetError, within the named limit; the automaton stays usable."""
    vocabulary, _, _ = qwen()
    pattern = tokamata.regex("x.{20000}y", limits=tokamata.Limits(seconds=0.05))
    automaton = tokamata.compile(pattern, vocabulary)
    with pytest.raises(tokamata.LimitError, match=r"max_tokens: the limit seconds=0\.05 was reached"):
        automaton.start(max_tokens=159)  # the longest token has 128 characters, so that 158 could do; 160 are enough
    said = r"max_tokens=0 is too small: .* not found in time \(max_tokens: the limit seconds=0\.05 was reached"
    with pytest.raises(tokamata.BudgetError, match=said):
        automaton.start(max_tokens=0)
    assert automaton.start().tokens_left is None


def test_a_search_that_was_stopped_is_made_again() -> None:
    """A number that works may be found before it is known to be the smallest."""
    vocabulary, _, _ = qwen()
    automaton = tokamata.compile(tokamata.regex("x.{20000}y", limits=tokamata.Limits(seconds=60)), vocabulary)
    numbers: set[str | None] = set()
    try:
        for steps in (100, 10_000, 2_000_000):
            _core.stop_after(steps)
            with pytest.raises(tokamata.LimitError, match=f"max_tokens: stopped after {steps} steps"):
                automaton.start(max_tokens=159)  # the longest token has 128 characters, so that 158 could do
            _core.stop_after(steps)
            said = rf"max_tokens=0 is too small: .* not found in time \(max_tokens: .* {steps} steps\)"
            with pytest.raises(tokamata.BudgetError, match=said) as error:
                automaton.start(max_tokens=0)
            found = re.search(r"max_tokens=(\d+) works", str(error.value))
            numbers.add(found and found[1])
            if found:
                assert automaton.start(max_tokens=int(found[1])).tokens_left == int(found[1])
    finally:
        _core.stop_after(-1)
    assert numbers == {None, "160"}
    for few in (159, 0):
        with pytest.raises(
            tokamata.BudgetError, match=rf"max_tokens={few} is too small: .* takes 160 .* max_tokens=160 or more"
        ):
            automaton.start(max_tokens=few)
    assert automaton.start(max_tokens=160).tokens_left == 160


def test_texts_that_take_more_tokens_than_can_be_counted() -> None:
    vocabulary = tokamata.Vocabulary([*BYTES, None], eos_token_ids=[256])
    automaton = tokamata.compile(tokamata.json_schema({"type": "string", "minLength": 10**9}), vocabulary)
    for budget in (5, 2**32):
        with pytest.raises(tokamata.BudgetError, match=r"too small: .* so many tokens .*, or leave max_tokens out"):
            automaton.start(max_tokens=budget)
    assert automaton.start().allows(ord('"'))


@pytest.mark.parametrize("schema", [{}, {"type": "array"}, {"type": "object", "properties": {"a": {}}}])
def test_pretty_layouts_that_nest_without_bound(schema: Any) -> None:
    """Each level has rules of its own; spelled out, the blanks of deep lines took more than a second."""
    vocabulary = tokamata.Vocabulary([*BYTES, None], eos_token_ids=[256])
    automaton = tokamata.compile(tokamata.json_schema(schema, whitespace="pretty"), vocabulary)
    usual = {*b'[]{},: \n"a1', 256}
    for seed in range(4):
        rng = random.Random(seed)
        state = automaton.start(max_tokens=60)
        written = b""
        while True:
            tokens = allowed(state.mask())
            token = rng.choice(sorted(tokens & usual) or sorted(tokens))
            state.advance(token)
            if token == 256:
                break
            written += bytes([token])
        assert len(written) < 60
        assert json.dumps(json.loads(written), indent=2) == written.decode()


@pytest.mark.parametrize("key_order", ["schema", "sorted"])
def test_members_that_are_owed_do_not_make_masks_slow_as_long_as_there_is_room(key_order: Any) -> None:
    """A key is written of which nobody knows how it ends, and another one must follow."""
    vocabulary, tokens, _ = qwen()
    owed = {"type": "object", "minProperties": 2, "additionalProperties": {"type": "integer"}}
    limits = tokamata.Limits(seconds=0.5)
    automaton = tokamata.compile(tokamata.json_schema(owed, key_order=key_order, limits=limits), vocabulary)
    state, text = automaton.start(max_tokens=60), '{"house": 12'
    while text:
        allowed = np.unpackbits(state.mask().view(np.uint8), bitorder="little")[: len(tokens)]
        fits = [i for i, t in enumerate(tokens) if t and text.encode().startswith(t) and allowed[i]]
        token = max(fits, key=lambda i: len(tokens[i] or b""))
        state.advance(token)
        text = text[len(tokens[token] or b"") :]
    state.mask()


@pytest.mark.parametrize("budget", [4, 8, 15])
def test_searches_that_find_no_end(budget: int) -> None:
    """Some states under others have no way to an end, which only all that is reached from them tells."""
    schema = {"not": {"properties": {"x": False}, "additionalProperties": {"pattern": r"\bx"}}}
    constraint = tokamata.yaml_schema(schema, sequences="indented", max_depth=1)
    tokens = [*(bytes([b]) for b in range(256)), b": ", b"x:", b"ab", b" -", None]
    automaton = tokamata.compile(constraint, tokamata.Vocabulary(tokens, eos_token_ids=[len(tokens) - 1]))
    for seed in range(4):
        rng = random.Random(seed)
        state = automaton.start(max_tokens=budget)
        text = b""
        while not state.is_finished:
            token = rng.choice(sorted(allowed(state.mask())))
            state.advance(token)
            text += tokens[token] or b""
        assert constraint.accepts(text), (seed, text)
        assert state.num_tokens <= budget


ANY_ORDER: dict[str, Any] = {
    "object": {
        "type": "object",
        "properties": {
            **{f"r{'x' * i}": {"enum": [1, 10**i]} for i in range(3)},
            **{f"o{'x' * (3 * i)}": {"enum": ["", "y" * 20 * i]} for i in range(4)},
        },
        "required": ["r", "rx", "rxx"],
        "additionalProperties": False,
    },
    "names": {
        "type": "object",
        "propertyNames": {"enum": [f"k{'x' * (8 * i)}" for i in range(7)]},
        "additionalProperties": {"type": "array", "items": {"const": 5}, "maxItems": 2},
    },
    "array": {"type": "array", "items": {"enum": [f"k{'x' * (6 * i)}" for i in range(12)]}, "uniqueItems": True},
}


def smallest_budget(automaton: tokamata.TokenAutomaton) -> int:
    """As the error of a budget that is too small says."""
    with pytest.raises(tokamata.BudgetError) as error:
        automaton.start(max_tokens=1)
    return int(re.findall(r"\d+", str(error.value))[-1])


@pytest.mark.parametrize("name", ANY_ORDER)
def test_any_order_within_a_budget(name: str) -> None:
    """Beside the least number of bytes that end each beginning, found breadth first without any budget."""
    constraint = tokamata.json_schema(ANY_ORDER[name], key_order="any", whitespace="compact")
    vocabulary = tokamata.Vocabulary([*BYTES, None], eos_token_ids=[256])
    least: dict[bytes, int] = {}

    def needed(text: bytes) -> int:
        if text not in least:
            steps, found = [text], 0
            while not any(constraint.accepts(t) for t in steps):
                steps = [t + b for t in steps for b in nexts(t)]
                found += 1
            least[text] = found
        return least[text]

    def nexts(text: bytes) -> list[bytes]:
        free.reset()
        for byte in text:
            free.advance(byte)
        tokens = sorted(allowed(free.mask()) - {256, ord("\\")})
        return [bytes([t]) for t in tokens]

    free = tokamata.compile(constraint, vocabulary).start()
    automaton = tokamata.compile(constraint, vocabulary)
    smallest = smallest_budget(automaton)
    for seed in range(6):
        rng = random.Random(seed)
        budget = smallest + rng.choice([0, 3, 11, 25, 60])
        state, text = automaton.start(max_tokens=budget), b""
        while not state.is_finished:
            tokens = allowed(state.mask())
            left = budget - state.num_tokens
            if left < 30 and rng.random() < 0.3:
                fits = {t[0] for t in nexts(text) if needed(text + t) + 2 <= left}
                assert tokens - {256, ord("\\")} == fits, (seed, budget, text)
            token = rng.choice(sorted(tokens - {ord("\\")}))
            state.advance(token)
            text += BYTES[token] or b"" if token < 256 else b""
        assert constraint.accepts(text), (seed, text)
        assert state.num_tokens <= budget


@pytest.mark.parametrize("whitespace", ["compact", "pretty", "flexible"])
@pytest.mark.parametrize("name", ANY_ORDER)
def test_any_order_within_a_budget_by_long_tokens(name: str, whitespace: str) -> None:
    """A token may lead from between two members to deep inside of one, which has to end as well."""
    constraint = tokamata.json_schema(ANY_ORDER[name], key_order="any", whitespace=whitespace)
    keys = [f'"{first}{"x" * i}"' for first in "ork" for i in (0, 1, 3, 6, 8, 9, 24, 48)]
    long = [lead + key + end for lead in (",", ", ", ",\n  ") for key in keys for end in ("", ":", ': "y')]
    tokens = [*BYTES, *(text.encode() for text in long), b':"yy', b":[5,", b": [\n    5,", None]
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[len(tokens) - 1])
    automaton = tokamata.compile(constraint, vocabulary)
    smallest = smallest_budget(automaton)
    for seed in range(300):
        rng = random.Random(seed)
        budget = smallest + rng.randrange(60)
        state, text = automaton.start(max_tokens=budget), b""
        while not state.is_finished:
            found = sorted(allowed(state.mask()))
            token = rng.choice([t for t in found if len(tokens[t] or b"") > 1] or found)
            state.advance(token)
            text += tokens[token] or b""
        assert constraint.accepts(text), (seed, text)
        assert state.num_tokens <= budget

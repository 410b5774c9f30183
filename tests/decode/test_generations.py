"""Token automata that reach their limits begin anew, and their decoding states go over unchanged."""

from __future__ import annotations

import contextlib
import gc
import random
import threading
from typing import Literal

import numpy as np
import pytest
from oracle import mask_walk
from oracle.random_constraint import random_constraint

import tokamata

TOKENS = [*(bytes([b]) for b in range(256)), b"ab", b"ba", b"aab", b'"a', None]
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[len(TOKENS) - 1])
MANY = tokamata.regex("([ab]*a[ab]{8})*c")  # thousands of states


def pick(rng: random.Random, mask: np.ndarray) -> int:
    return rng.choice(mask_walk.allowed(mask))


def walk_side_by_side(free, small, seed: int, where: str) -> None:
    rng = random.Random(seed)
    states = free.start(), small.start()
    for _ in range(30):
        masks = [s.mask() for s in states]
        assert (masks[0] == masks[1]).all(), where
        assert states[0].forced_bytes() == states[1].forced_bytes(), where
        if not masks[0].any():
            return
        token = pick(rng, masks[0])
        drafts = [s.draft_masks([token, 97]) for s in states]
        assert (drafts[0] == drafts[1]).all(), where
        for s in states:
            s.advance(token)
        assert states[0].is_final == states[1].is_final, where
        if rng.random() < 0.2:
            n = rng.randrange(states[0].num_tokens + 1)
            for s in states:
                s.rollback(n)


def test_masks_do_not_depend_on_limits() -> None:
    """A small automaton that begins anew again and again says the same as one that never does."""
    renewed = refused = 0
    for seed in range(40):
        constraint, _, text = random_constraint(random.Random(seed))
        if constraint.is_empty():
            continue
        free = tokamata.compile(constraint, VOCABULARY)
        for limit in (20, 40, 80, 160):
            small = tokamata.compile(constraint, VOCABULARY, limits=tokamata.Limits(states=limit))
            for walk in range(3):
                try:
                    walk_side_by_side(free, small, walk, f"seed {seed}, walk {walk}, {limit} states: {text}")
                except tokamata.LimitError:  # a single mask needs more
                    refused += 1
            renewed += small.generations - 1
    assert renewed > 50
    assert refused < 200


TREE = {"type": "object", "properties": {"v": {"type": "integer"}, "c": {"type": "array", "items": {"$ref": "#"}}}}
SCHEMAS: list[object] = [
    TREE | {"additionalProperties": False},
    {"type": "object", "properties": {"s": {"maxLength": 20}, "n": {"minimum": 3}}, "required": ["n"]},
    {"patternProperties": {"^a": {"type": "integer"}, "b$": {"minimum": 3}}, "minProperties": 1},
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_recursive_constraints_go_over(schema: object) -> None:
    """A state of a push-down constraint takes its stack along, and the rules that are still to be expanded."""
    constraint = tokamata.json_schema(schema)
    free = tokamata.compile(constraint, VOCABULARY)
    renewed = 0
    for limit in (12, 25, 50, 100):
        small = tokamata.compile(constraint, VOCABULARY, limits=tokamata.Limits(states=limit))
        for walk in range(8):
            with contextlib.suppress(tokamata.LimitError):  # a single mask needs more
                walk_side_by_side(free, small, walk, f"walk {walk}, {limit} states")
        renewed += small.generations - 1
    assert renewed > 1


def test_deep_nesting_needs_bounded_memory() -> None:
    constraint = tokamata.json_schema(TREE | {"additionalProperties": False})
    automaton = tokamata.compile(constraint, VOCABULARY, limits=tokamata.Limits(states=1000))
    rng = random.Random(0)
    for depth in (3, 100, 300, 200):
        opened = b"".join(b'{"v": %d, "c": [' % rng.randrange(10**6) for _ in range(depth))
        state = automaton.start()
        for byte in opened + b"{}" + b"]}" * depth:
            state.advance(byte)
        assert state.is_final
        assert automaton.num_states <= 8 * 1000
    assert automaton.generations > 5


def test_what_a_deep_history_shares_goes_over_once() -> None:
    """Each of its thousands of states holds the stack of the one before: to take over each by itself took seconds."""
    grammar = tokamata.grammar('root ::= "(" root ")" | "[" root "]" | "x"', "gbnf")
    automaton = tokamata.compile(grammar, VOCABULARY, limits=tokamata.Limits(states=1000))
    state = automaton.start()
    opened = [b"(["[i % 3 == 0] for i in range(4000)]
    for byte in (*opened, ord("x")):
        state.advance(byte)
    with pytest.raises(tokamata.LimitError, match="the limit states=1000 was reached"):
        for byte in reversed(opened):
            state.advance(byte + 1 + (byte == ord("[")))
    assert automaton.generations > 5
    assert state.num_tokens > 4001
    state.rollback(state.num_tokens - 3000)
    assert mask_walk.allowed(state.mask()) == [ord("("), ord("["), ord("x")]


@pytest.mark.parametrize("lexer", ["basic", "none"])
def test_grammars_with_terminals_that_nest_go_over(lexer: Literal["basic", "none"]) -> None:
    limits = tokamata.Limits(expression_nodes=20_000)
    grammar = tokamata.grammar("start: J\nJ: %json {}\n", lexer=lexer, limits=limits)
    automaton = tokamata.compile(grammar, VOCABULARY)
    state = automaton.start()
    for byte in b"[" * 800:
        state.mask()
        state.advance(byte)
    assert automaton.generations > 1
    for byte in b"]" * 800:
        assert state.allows(byte)
        state.advance(byte)
    assert state.is_final


def test_wide_sets_of_stacks_count_as_several() -> None:
    """Sixty rules, each of which may be empty: few sets of stacks, each with a top for nearly every rule."""
    rules = "".join(f'r{i}: r{i + 1} "a" r0 |\n' for i in range(60))
    grammar = tokamata.grammar(
        f'start: r0\n{rules}r60: "b"\n', lexer="basic", limits=tokamata.Limits(expression_nodes=50_000)
    )
    automaton = tokamata.compile(grammar, VOCABULARY)
    state = automaton.start()
    for _ in range(150):
        state.advance(ord("a"))
    assert automaton.num_states < 1000
    assert automaton.generations > 1


def test_many_states_need_bounded_memory() -> None:
    """A long-lived automaton of thousands of states runs on with 200 of them at a time."""
    automaton = tokamata.compile(MANY, VOCABULARY, limits=tokamata.Limits(states=200))
    free = tokamata.compile(MANY, VOCABULARY)
    rng = random.Random(3)
    state, model = automaton.start(), free.start()
    for _ in range(3000):
        byte = rng.choice(b"ab")
        state.advance(byte)
        model.advance(byte)
        assert automaton.num_states < 2000
    assert (state.mask() == model.mask()).all()
    assert free.num_states > 400
    assert automaton.generations > 5
    state.rollback(2990)
    model.rollback(2990)
    assert (state.mask() == model.mask()).all()
    assert state.num_tokens == 10


def test_idle_and_finished_states_go_over() -> None:
    automaton = tokamata.compile(MANY, VOCABULARY, limits=tokamata.Limits(states=100))
    idle, done, busy = automaton.start(), automaton.start(), automaton.start()
    for token in b"abababbba":
        idle.advance(token)
    for token in [*b"aaaaaaaaac", len(TOKENS) - 1]:
        done.advance(token)
    rng = random.Random(1)
    while automaton.generations < 4:
        busy.advance(rng.choice(b"ab"))
    gc.collect()
    fresh = tokamata.compile(MANY, VOCABULARY).start()
    for token in b"abababbba":
        fresh.advance(token)
    copied = idle.copy()
    for token in b"bbbbbbbbbbbbbbbbbbbbbbbbab":
        for s in (idle, copied, fresh):
            s.advance(token)
        assert (idle.mask() == fresh.mask()).all()
        assert (copied.mask() == fresh.mask()).all()
    assert done.is_finished
    done.rollback(1)
    assert done.is_final
    done.rollback(1)
    done.advance(98)
    assert (done.mask() == done.copy().mask()).all()


def test_budgets_go_over() -> None:
    automaton = tokamata.compile(MANY, VOCABULARY, limits=tokamata.Limits(states=60))
    free = tokamata.compile(MANY, VOCABULARY)
    rng = random.Random(5)
    for _ in range(8):
        states = automaton.start(max_tokens=40), free.start(max_tokens=40)
        while not states[0].is_finished:
            masks = [s.mask() for s in states]
            assert (masks[0] == masks[1]).all()
            token = pick(rng, masks[0])
            for s in states:
                s.advance(token)
    assert automaton.generations > 1


def test_a_single_call_that_needs_more_raises() -> None:
    """And leaves the state as it was."""
    automaton = tokamata.compile(MANY, VOCABULARY, limits=tokamata.Limits(states=3))
    state = automaton.start()
    for token in b"ab":
        state.advance(token)
    with pytest.raises(tokamata.LimitError, match=r"the limit states=3 was reached .* tokamata.Limits\(states="):
        state.mask()
    assert state.num_tokens == 2
    state.advance(97)
    assert state.validate(list(b"bb")) == 2
    with pytest.raises(tokamata.TokenRejected):
        state.advance(ord("x"))
    assert state.num_tokens == 3


def test_threads_share_generations() -> None:
    automaton = tokamata.compile(MANY, VOCABULARY, limits=tokamata.Limits(states=150))
    free = tokamata.compile(MANY, VOCABULARY)
    errors: list[str] = []

    def work(seed: int) -> None:
        try:
            walk(seed)
        except Exception as error:
            errors.append(f"seed {seed}: {error!r}")

    def walk(seed: int) -> None:
        rng = random.Random(seed)
        state, model = automaton.start(), free.start()
        for _ in range(300):
            mask = model.mask()
            if not (state.mask() == mask).all():
                errors.append(f"seed {seed} after {state.num_tokens} tokens")
                return
            token = pick(rng, mask)
            if token in (99, len(TOKENS) - 1):
                continue
            state.advance(token)
            model.advance(token)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
    assert automaton.generations > 2

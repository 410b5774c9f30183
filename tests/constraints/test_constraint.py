"""The algebra of constraints against explicit automata."""

from __future__ import annotations

import operator
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle.dfa import Dfa
from oracle.random_constraint import random_constraint

import tokamata
from tokamata import Constraint


@pytest.mark.parametrize("block", range(3))
def test_membership_equals_model(block: int) -> None:
    """accepts and accepts_prefix on byte strings in and near the language; examples are members."""
    for i in range(25):
        seed = 7000 + 1000 * block + i
        rng = random.Random(seed)
        constraint, model, text = random_constraint(rng)
        assert constraint.is_empty() == (not model.alive[0]), f"seed {seed}: {text}"
        for member in constraint.examples(5, seed=seed):
            assert model.accepts(member), f"seed {seed}: {text}: {member!r}"
            for _ in range(4):
                data = bytearray(member + bytes(rng.choices(b'ab"\\0\n\xff\xc3', k=rng.randrange(2))))
                if data and rng.random() < 0.7:
                    data[rng.randrange(len(data))] = rng.choice(b'ab"\\0\n\xff\xc3')
                changed = bytes(data)[: rng.randrange(len(data) + 1)] if rng.random() < 0.5 else bytes(data)
                assert constraint.accepts(changed) == model.accepts(changed), f"seed {seed}: {text}: {changed!r}"
                assert constraint.accepts_prefix(changed) == model.viable(changed), f"seed {seed}: {text}: {changed!r}"


def test_counts_equal_model() -> None:
    for seed in range(30):
        constraint, model, text = random_constraint(random.Random(seed), depth=2)
        ways = {0: 1}
        for length in range(4):
            want = sum(w for s, w in ways.items() if model.final[s])
            assert constraint.count(length) == want, f"seed {seed}: {text}, length {length}"
            following: dict[int, int] = {}
            for s, w in ways.items():
                for t, labels in zip(*np.unique(model.next[s], return_counts=True), strict=True):
                    following[int(t)] = following.get(int(t), 0) + w * int(labels)
            ways = following


def test_lengths_past_the_longest_member_count_none() -> None:
    finite = tokamata.regex("a{0,50}|b[ab]{3}")
    assert [finite.count(length) for length in (1, 4, 50, 51, 10**9, 2**63, 10**30)] == [1, 9, 1, 0, 0, 0, 0]
    with pytest.raises(tokamata.LimitError, match=r"count: the limit search_seconds=0\.1 was reached"):
        tokamata.regex("[ab]*", limits=tokamata.Limits(search_seconds=0.1)).count(10**30)
    assert tokamata.regex("a*").count(10**30) == 1


def test_examples_of_a_finite_language_end() -> None:
    for n in (10**7, 2**63, 10**30):
        assert sorted(tokamata.regex("[ab]").examples(n)) == [b"a", b"b"]
    assert len(tokamata.regex("[a-z]{1,2}").examples(2**62)) == 26 + 26**2


def test_a_text_less_a_constraint_is_a_constraint() -> None:
    constraint = "abc" - tokamata.regex("b*")
    assert constraint.examples(2) == [b"abc"]
    assert ("bb" - tokamata.regex("b*")).is_empty()
    with pytest.raises(TypeError, match="beside -, got int"):
        1 - tokamata.regex("b*")  # type: ignore[operator]


@pytest.mark.parametrize("odd", [None, 3, 1.5, ["a"], object()])
@pytest.mark.parametrize("sign", "|&-+")
def test_operands_that_are_no_constraints(sign: str, odd: Any) -> None:
    """An error of ours, on either side; not for objects that may know the operator themselves."""
    combine = {"|": operator.or_, "&": operator.and_, "-": operator.sub, "+": operator.add}[sign]
    constraint = tokamata.regex("a")
    expected = rf"^Constraint: expected a Constraint, str or bytes beside \{sign}, got {type(odd).__name__}; tokamata\."
    with pytest.raises(TypeError, match=expected):
        combine(constraint, odd)
    if not (isinstance(odd, list) and sign == "+"):  # lists say what they can be added to
        with pytest.raises(TypeError, match=expected):
            combine(odd, constraint)


def test_operands_that_know_the_operator() -> None:
    class Other:
        def __rand__(self, constraint: Constraint) -> str:
            return constraint.source

    assert tokamata.regex("a") & Other() == "regex('a')"  # type: ignore[operator]
    with pytest.raises(TypeError, match="unsupported operand"):
        tokamata.regex("a") | Other()  # type: ignore[operator]


def shortest(model: Dfa) -> int:
    distance, level, seen = 0, {0}, {0}
    while not any(model.final[s] for s in level):
        level = {int(t) for s in level for t in np.unique(model.next[s])} - seen
        seen |= level
        distance += 1
    return distance


def test_counterexamples_are_shortest() -> None:
    for seed in range(50):
        rng = random.Random(seed)
        a, model_a, text_a = random_constraint(rng, depth=2)
        b, model_b, text_b = random_constraint(rng, depth=2)
        difference = (model_a - model_b) | (model_b - model_a)
        got = a.counterexample(b)
        where = f"seed {seed}: {text_a} / {text_b}"
        assert (got is None) == (not difference.alive[0]), where
        assert a.equivalent(b) == (got is None), where
        if got is not None:
            assert difference.accepts(got), where
            assert len(got) == shortest(difference), where


def test_laws() -> None:
    """De Morgan, double complement within text, difference as intersection, unfolding of repetition."""
    for seed in range(30):
        rng = random.Random(seed)
        a, _, text_a = random_constraint(rng, depth=2)
        b, _, text_b = random_constraint(rng, depth=2)
        where = f"seed {seed}: {text_a} / {text_b}"
        assert (~(a | b)).equivalent(~a & ~b), where
        assert (~(a & b)).equivalent(~a | ~b), where
        assert (~~a).equivalent(a), where
        assert (a - b).equivalent(a & ~b), where
        assert a.repeat(2, 4).equivalent(a + a.repeat(0, 1) + a + a.repeat(0, 1)), where
        assert (a.repeat() | b.repeat()).repeat().equivalent((a | b).repeat()), where
        assert a.to_fst().num_states() > 0 or a.is_empty()
        assert tokamata.from_fst(a.to_fst()).equivalent(a), where


def test_strings_are_literals_in_operators() -> None:
    a = tokamata.literal("a")
    assert (a + "é" + b"\x00").accepts(b"a\xc3\xa9\x00")
    assert ("x" + a).accepts("xa")
    assert ("x" | a).accepts("x")
    assert not (a & "x").accepts("a")
    assert (a - "a").is_empty()
    with pytest.raises(TypeError):
        a | 3  # type: ignore[operator]


def test_choice_of_many() -> None:
    texts = [f"{i:x}" for i in range(100_000)]
    constraint = tokamata.choice(texts)
    assert sum(constraint.count(n) for n in range(6)) == len(texts)
    assert constraint.accepts("1869f")
    assert not constraint.accepts("186a0")
    assert constraint.accepts_prefix("186a")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: tokamata.choice([]), ValueError, r"choice: expected at least one option, got none"),
        (lambda: tokamata.choice("abc"), TypeError, r"choice: expected several texts, got one str; use literal"),
        (lambda: tokamata.literal(3), TypeError, r"literal: expected str or bytes, got int; pass its text"),
        (
            lambda: tokamata.literal("\ud800"),
            ValueError,
            r"literal: expected Unicode text, got the lone surrogate .* position 0",
        ),
        (lambda: tokamata.literal("a").repeat(3, 2), ValueError, r"repeat: expected 0 <= low <= high .* low=3, high=2"),
        (lambda: tokamata.literal("a").examples(-1), ValueError, r"examples: expected n >= 0, got -1"),
        (lambda: tokamata.literal("a").count(-1), ValueError, r"count: expected length >= 0, got -1"),
    ],
)
def test_errors(call, error, text) -> None:
    with pytest.raises(error, match=text):
        call()


def test_limits_are_named() -> None:
    """A language with exponentially many states ends in a LimitError, and stays usable."""
    ab = tokamata.choice(["a", "b"])
    constraint = ab.repeat() + "a" + ab.repeat(40, 40)
    vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), None], eos_token_ids=[256])
    state = tokamata.compile(constraint, vocabulary, limits=tokamata.Limits(states=50)).start()
    with pytest.raises(tokamata.LimitError, match=r"the limit states=50 was reached .* tokamata.Limits\(states="):
        for byte in random.Random(0).choices(b"ab", k=1000):
            state.advance(byte)
    assert state.num_tokens > 0
    assert constraint.accepts("a" + "b" * 40)


def test_deep_and_long_sources_are_safe() -> None:
    nested = tokamata.literal("a")
    with pytest.raises(tokamata.LimitError, match=r"expression_depth=1000 was reached"):
        for _ in range(2000):
            nested = ("b" + nested).repeat(2, 3)
    long = tokamata.literal(b"x" * 100_000)
    assert long.accepts(b"x" * 100_000)
    optional = tokamata.literal("")
    for _ in range(300):
        optional = tokamata.choice(["a", ""]) + optional
    assert optional.accepts("a" * 300)
    assert not optional.accepts("a" * 301)


@pytest.mark.parametrize(
    ("start", "double"),
    [
        (tokamata.regex("a*"), lambda x: x | x),
        (tokamata.regex("a*"), lambda x: x & x),
        (tokamata.regex("a*"), lambda x: (x + x) & x | x),
        (tokamata.json_schema({"type": "string"}), lambda x: x | x),
        (tokamata.json_schema({"type": "string"}), lambda x: x & x),
    ],
)
def test_doubled_constraints(start: Constraint, double: Callable[[Constraint], Constraint]) -> None:
    """What is combined with itself again and again takes no more than it has parts."""
    constraint = start
    for _ in range(64):
        constraint = double(constraint)
    member = start.examples(1)[0]
    assert constraint.accepts(member)
    assert not constraint.accepts(member + b"!")
    assert len(constraint.report) <= 1000 * len(start.report)
    assert len(constraint.source) <= 500


def test_long_chains() -> None:
    constraint, optional = tokamata.literal("a"), tokamata.literal("a")
    for _ in range(3000):
        constraint += "b"
        optional = optional.repeat(0, 1)
    assert constraint.accepts("a" + "b" * 3000)
    assert not constraint.accepts("a" + "b" * 2999)
    assert optional.accepts("")
    assert not optional.accepts("aa")


def test_long_concatenations_are_put_together_once() -> None:
    """Each step would otherwise copy what stands before it: seconds, and past the limit of expressions."""
    letters = random.Random(1).choices("abc", k=30_000)
    start = time.thread_time()
    constraint = tokamata.regex("x?")
    for letter in letters:
        constraint = constraint + letter
    text = "".join(letters)
    assert constraint.accepts("x" + text)
    assert not constraint.accepts(text[:-1])
    assert time.thread_time() - start < 2
    again = constraint + "!"  # of what is an automaton already
    assert again.accepts(text + "!")
    assert not again.accepts(text)


@pytest.mark.parametrize("seed", range(20))
def test_concatenations_however_nested(seed: int) -> None:
    """Shared operands, and ones that were used before, make the texts that their pieces make."""
    rng = random.Random(seed)
    made: list[tuple[Constraint, set[bytes]]] = [
        (tokamata.literal("a"), {b"a"}),
        (tokamata.regex("b?"), {b"", b"b"}),
        (tokamata.regex("[cd]"), {b"c", b"d"}),
        (tokamata.choice([""]), {b""}),
    ]
    for _ in range(12):
        (a, left), (b, right) = rng.choice(made), rng.choice(made)
        both = {x + y for x in left for y in right}
        if len(both) > 300:
            continue
        if rng.random() < 0.2:
            made.append((a | b, left | right))
        else:
            made.append((a + b, both))
        if rng.random() < 0.3:
            assert made[-1][0].accepts(min(made[-1][1])), f"seed {seed}"
    for constraint, texts in made[::-1]:
        assert set(constraint.examples(1000)) == texts, f"seed {seed}"
        assert tokamata.choice(sorted(texts)).equivalent(constraint), f"seed {seed}"


def test_an_operand_twice_in_each_of_many_steps() -> None:
    constraint = tokamata.regex("a?")
    empty = tokamata.literal("")
    for _ in range(50_000):
        empty = empty + empty
    assert (constraint + empty + constraint).count(1) == 1


def test_an_automaton_without_end_says_so() -> None:
    """A larger limit, which the text of a limit proposes, would not help."""
    nested = tokamata.grammar('root ::= "(" root ")" | "x"', "gbnf")
    with pytest.raises(tokamata.LimitError, match=r"states=1000 .* no limit is enough for a constraint that nests"):
        nested.to_fst(1000)


def test_push_down_questions_say_what_helps() -> None:
    """A larger limit, which the text of a limit proposes, would not; what the text advises does."""
    limits = tokamata.Limits(states=5000, emptiness=5000)
    one = tokamata.grammar('start: "(" start ")" |', limits=limits)
    other = tokamata.grammar('start: "(" pair ")" |\npair: "(" start ")" |', limits=limits)
    everything = tokamata.grammar('start: "(" start ")" | "(" start | ")" start |', limits=limits)
    short = tokamata.regex(r"(?s:.{0,10})")
    with pytest.raises(tokamata.LimitError, match=r"no limit may be .* cannot be decided .* compare the members up to"):
        one.equivalent(other)
    assert (one & short).counterexample(other & short) is None
    brackets = tokamata.regex("[()]*", limits=limits)
    with pytest.raises(tokamata.LimitError, match=r"no limit may be .*\(a - b\)\.is_empty\(\) tells whether a regular"):
        everything.equivalent(brackets)
    assert (everything - brackets).is_empty()
    with pytest.raises(tokamata.LimitError, match=r"no limit may be enough .* bound one of them before, as in \(a & "):
        (one & ~other).is_empty()
    assert ((one & short) - other).is_empty()
    regular = tokamata.regex("(a|b)*a(a|b){20}", limits=limits)
    with pytest.raises(tokamata.LimitError, match=r"states=5000") as error:
        regular.counterexample(tokamata.regex("(a|b)*a(b|a){20}", limits=limits))
    assert "no limit" not in str(error.value)

"""Named parts of dynamic constraints, against a backtracking matcher that asks the callbacks as it goes."""

from __future__ import annotations

import itertools
import random
import re
import zlib
from collections.abc import Callable, Iterator

import tokamata
from tokamata import Constraint

OPTIONS = ["a", "b|c", "ab|b", "(?:a|b)?c", "a{1,2}", "b?", "aa|ab|ac", "(?!)"]
TEXTS = ["".join(w) for n in range(6) for w in itertools.product("abc", repeat=n)]
VOCABULARY = tokamata.Vocabulary([None, *(bytes([b]) for b in range(256)), b"ab", b"ca", b"abc"], eos_token_ids=[0])

# ("part", name, number of a pattern), ("place", name, seed), ("join" or "either", trees), ("repeat", tree, low, high)
Tree = tuple  # type: ignore[type-arg]
Read = tuple[tuple[str, int, int], ...]


def answer(seed: int, text: str) -> str:
    return OPTIONS[zlib.crc32(f"{seed} {text}".encode()) % len(OPTIONS)]


def random_tree(rng: random.Random, depth: int, names: Iterator[int]) -> Tree:
    """Parts and places take turns in sequences and choices, so that no two parts become one."""
    kind = rng.choice(["part", "place", "join", "join", "either", "repeat"]) if depth else rng.choice(["part", "place"])
    if kind in ("part", "place"):
        return (kind, f"n{next(names)}", rng.randrange(len(OPTIONS) - 1))
    if kind == "repeat":
        low = rng.randint(0, 1)
        return ("repeat", ("place", f"n{next(names)}", rng.randrange(9)), low, rng.choice([low + 1, 2, None]))
    first, place = random_tree(rng, depth - 1, names), ("place", f"n{next(names)}", rng.randrange(9))
    return (kind, [first, place, random_tree(rng, depth - 1, names)])


def constraint_of(tree: Tree) -> Constraint:
    if tree[0] == "part":
        return tokamata.capture(tree[1], tokamata.regex(OPTIONS[tree[2]]))
    if tree[0] == "place":
        seed = tree[2]
        return tokamata.capture(tree[1], tokamata.dynamic(lambda text: tokamata.regex(answer(seed, text))))
    if tree[0] == "repeat":
        return constraint_of(tree[1]).repeat(tree[2], tree[3])
    first, second, third = map(constraint_of, tree[1])
    return first + second + third if tree[0] == "join" else first | second | third


def ways(tree: Tree, text: str, at: int, read: Read, go_on: Callable[[int, Read], Iterator[Read]]) -> Iterator[Read]:
    if tree[0] in ("part", "place"):
        pattern = OPTIONS[tree[2]] if tree[0] == "part" else answer(tree[2], text[:at])
        for end in range(len(text), at - 1, -1):
            if re.fullmatch(pattern, text[at:end]):
                yield from go_on(end, (*read, (tree[1], at, end)))
    elif tree[0] == "either":
        for part in tree[1]:
            yield from ways(part, text, at, read, go_on)
    elif tree[0] == "join":
        first, second, third = tree[1]
        yield from ways(first, text, at, read, lambda e, r: ways(
            second, text, e, r, lambda e, r: ways(third, text, e, r, go_on)))  # fmt: skip
    else:
        _, body, low, high = tree

        def turn(count: int, last: int) -> Callable[[int, Read], Iterator[Read]]:
            def until(end: int, inner: Read) -> Iterator[Read]:
                if (high is None or count < high) and (count <= low or end > last):
                    yield from ways(body, text, end, inner, turn(count + 1, end))
                if count >= low:
                    yield from go_on(end, inner)

            return until

        yield from turn(0, -1)(at, read)


def test_parts_and_places_of_whole_texts() -> None:
    compared = 0
    for seed in range(300):
        rng = random.Random(seed)
        tree = random_tree(rng, 2, itertools.count())
        if "place" not in repr(tree):
            continue
        automaton = tokamata.compile(constraint_of(tree), VOCABULARY)
        for text in rng.sample(TEXTS, 40):
            way = next(ways(tree, text, 0, (), lambda e, r: iter([r] if e == len(text) else [])), None)  # noqa: B023
            assert (way is not None) == automaton.accepts(text), (seed, tree, text)
            if way is None:
                continue
            state = automaton.start()
            for letter in text:
                state.advance(1 + ord(letter))
            state.advance(0)
            want: dict[str, list[bytes]] = {}
            for name, begin, end in way:
                want.setdefault(name, []).append(text[begin:end].encode())
            got = state.capture_lists()
            # A turn of a repetition that reads nothing is one too many or not: as with re.
            assert {n: [t for t in ts if t] for n, ts in got.items() if any(ts)} == {
                n: [t for t in ts if t] for n, ts in want.items() if any(ts)
            }, (seed, tree, text)
            compared += 1
    assert compared > 150


def test_while_decoding() -> None:
    def names(text: str) -> Constraint:
        return (
            tokamata.capture("attribute", tokamata.choice(["sin", "sinh", "sqrt"]))
            + "("
            + tokamata.capture("argument", tokamata.regex("[0-9]+"))
        )

    line = tokamata.capture("module", tokamata.regex("[a-z]+")) + "." + tokamata.dynamic(names) + ")\n"
    state = tokamata.compile(line.repeat(1), VOCABULARY).start()
    assert state.captures() == {}
    expected = {
        "ma": {"module": [b"ma"]},
        "th": {"module": [b"math"]},
        ".si": {"module": [b"math"], "attribute": [b"si"]},
        "nh(4": {"module": [b"math"], "attribute": [b"sinh"], "argument": [b"4"]},
        "2)\n": {"module": [b"math"], "attribute": [b"sinh"], "argument": [b"42"]},
        "c": {"module": [b"math", b"c"], "attribute": [b"sinh"], "argument": [b"42"]},
    }
    for text, captured in expected.items():
        for letter in text:
            state.advance(1 + ord(letter))
        assert state.capture_lists() == captured
    assert state.captures() == {"module": b"c", "attribute": b"sinh", "argument": b"42"}
    state.rollback(1)
    state.advance(0)
    assert state.captures() == {"module": b"math", "attribute": b"sinh", "argument": b"42"}


def test_special_tokens_and_hidden_places_leave_nothing() -> None:
    vocabulary = tokamata.Vocabulary(
        [None, None, *(bytes([b]) for b in range(256))], eos_token_ids=[0], special_tokens={"<x>": 1}
    )
    part = tokamata.special_token("<x>") + tokamata.regex("[ab]+")
    made = tokamata.capture("all", tokamata.dynamic(lambda text: part, special_tokens=["<x>"])) + tokamata.hidden(
        tokamata.dynamic(lambda text: ";")
    )
    state = tokamata.compile(made, vocabulary).start()
    for token in (1, 2 + ord("a"), 2 + ord("b"), 2 + ord(";"), 0):
        state.advance(token)
    assert state.captures() == {"all": b"ab"}

"""Named parts in operands of & and -, where tokens are read as text and as tokens of classes, against backtracking."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator

import pytest

import tokamata

TOKENS: list[bytes | None] = [None, b"a", b"b", b"ab", b"ba"]
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[0])
# Classes as letters: T any token of text, C one of two.
CLASSES = {"T": tokamata.text_token(), "C": tokamata.one_token(tokamata.regex("ab|b"))}
MEMBERS = {"T": {1, 2, 3, 4}, "C": {2, 3}}

# ("set", letters), ("+", parts), ("|", parts), ("{}", part, low, high), ("name", part, name)
Tree = tuple  # type: ignore[type-arg]
Read = tuple[tuple[str, int, int], ...]


def random_tree(rng: random.Random, depth: int, prefix: str, count: list[int]) -> Tree:
    kind = rng.randrange(10 if depth else 2)
    if kind <= 1:
        return ("set", rng.choice(["a", "b", "ab", "T", "C", "aT", "bC", "abT"]))
    if kind <= 4:
        return ("+", [random_tree(rng, depth - 1, prefix, count) for _ in range(2)])
    if kind == 5:
        return ("|", [random_tree(rng, depth - 1, prefix, count) for _ in range(2)])
    if kind <= 7:
        low, high = rng.choice([(0, None), (0, 1), (1, None), (1, 2)])
        return ("{}", random_tree(rng, depth - 1, prefix, count), low, high)
    count[0] += 1
    name = f"{prefix}{count[0]}"
    return ("name", random_tree(rng, depth - 1, prefix, count), name)


def algebra(tree: Tree) -> tokamata.Constraint:
    if tree[0] == "set":
        made = None
        for letter in tree[1]:
            one = CLASSES.get(letter) or tokamata.literal(letter)
            made = one if made is None else made | one
        assert made is not None
        return made
    if tree[0] == "name":
        return tokamata.capture(tree[2], algebra(tree[1]))
    if tree[0] == "{}":
        return algebra(tree[1]).repeat(tree[2], tree[3])
    left, right = map(algebra, tree[1])
    return left + right if tree[0] == "+" else left | right


def ways(tree: Tree, text: str, at: int, read: Read, go_on: Callable[[int, Read], Iterator[Read]]) -> Iterator[Read]:
    """What is read, way by way as a backtracking matcher goes; an atom without names takes as much as it can."""
    if not has_name(tree):
        for end in sorted(ends(tree, text, at), reverse=True):
            yield from go_on(end, read)
    elif tree[0] == "name":
        slot = len(read)
        begun = (*read, (tree[2], at, -1))
        yield from ways(
            tree[1], text, at, begun,
            lambda end, inner: go_on(end, (*inner[:slot], (tree[2], at, end), *inner[slot + 1 :])),
        )  # fmt: skip
    elif tree[0] == "|":
        for part in tree[1]:
            yield from ways(part, text, at, read, go_on)
    elif tree[0] == "+":
        yield from ways(tree[1][0], text, at, read, lambda end, inner: ways(tree[1][1], text, end, inner, go_on))
    else:
        _, body, low, high = tree

        def turn(count: int, last: int | None) -> Callable[[int, Read], Iterator[Read]]:
            def until(end: int, inner: Read) -> Iterator[Read]:
                if count < low:
                    yield from ways(body, text, end, inner, turn(count + 1, last))
                    return
                if (high is None or count < high) and end != last:
                    yield from ways(body, text, end, inner, turn(count + 1, end))
                yield from go_on(end, inner)

            return until

        yield from turn(0, None)(at, read)


def has_name(tree: Tree) -> bool:
    if tree[0] in "+|":
        return any(map(has_name, tree[1]))
    return tree[0] == "name" or (tree[0] == "{}" and has_name(tree[1]))


def ends(tree: Tree, text: str, at: int) -> set[int]:
    if tree[0] == "set":
        return {at + 1} if at < len(text) and text[at] in tree[1] else set()
    if tree[0] == "|":
        return ends(tree[1][0], text, at) | ends(tree[1][1], text, at)
    if tree[0] == "+":
        return {end for middle in ends(tree[1][0], text, at) for end in ends(tree[1][1], text, middle)}
    if tree[0] == "name":
        return ends(tree[1], text, at)
    _, body, low, high = tree
    here, found = {at}, {at} if low == 0 else set()
    for count in range(1, len(text) + 2 + low):
        here = {end for start in here for end in ends(body, text, start)}
        found |= here if count >= low and (high is None or count <= high) else set()
    return found


def first_way(tree: Tree, text: str) -> Read | None:
    return next(ways(tree, text, 0, (), lambda end, read: iter([read] if end == len(text) else [])), None)


def pieces(read: Read, starts: list[int], data: bytes) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    for name, begin, end in read:
        found.setdefault(name, []).append(data[starts[begin] : starts[end]])
    return found


def expected(a: Tree, b: Tree, tokens: tuple[int, ...], minus: bool) -> dict[str, list[bytes]] | None:
    """Of the readings that are members, the first: text before classes, the first token above all others."""
    data = b"".join(TOKENS[t] or b"" for t in tokens)
    for reading in itertools.product(["", "T", "C"], repeat=len(tokens)):
        if any(c and t not in MEMBERS[c] for c, t in zip(reading, tokens, strict=True)):
            continue
        text, starts, place = "", [0], 0
        for c, token in zip(reading, tokens, strict=True):
            letters = c or (TOKENS[token] or b"").decode()
            text += letters
            starts += [place + len(TOKENS[token] or b"")] if c else range(place + 1, place + len(letters) + 1)
            place = starts[-1]
        left, right = first_way(a, text), first_way(b, text)
        if left is not None and (right is None) == minus:
            return pieces(left + (() if minus or right is None else right), starts, data)
    return None


@pytest.mark.parametrize("minus", [False, True])
def test_operands_read_tokens_alike(minus: bool) -> None:
    compared = with_classes = 0
    sequences = [s for n in range(4) for s in itertools.product(range(1, 5), repeat=n)]
    for seed in range(150):
        rng = random.Random(seed)
        count = [0]
        a = random_tree(rng, 3, "a", count)
        if not count[0]:
            a = ("name", a, "a0")
        b = random_tree(rng, 2, "b", [0])
        if rng.random() < 0.6:
            b = ("{}", ("|", [b, ("set", "aT")]), 0, None)
        joined = algebra(a) - algebra(b) if minus else algebra(a) & algebra(b)
        # Both classes are the vocabulary's, T before C by their names.
        everything = joined | (CLASSES["C"] + CLASSES["T"] + "aaaaaaaa")
        if joined.is_empty():
            continue
        automaton = tokamata.compile(everything, VOCABULARY)
        for tokens in rng.sample(sequences, 25):
            state = automaton.start()
            if state.validate([*tokens, 0]) <= len(tokens):
                assert expected(a, b, tokens, minus) is None, (seed, tokens)
                continue
            want = expected(a, b, tokens, minus)
            assert want is not None, (seed, tokens)
            for token in (*tokens, 0):
                state.advance(token)
            got = {name: sorted(texts) for name, texts in state.capture_lists().items()}
            assert got == {name: sorted(texts) for name, texts in want.items()}, (seed, a, b, tokens)
            compared += 1
            with_classes += "T" in repr(a) or "C" in repr(a)
    assert compared > 300
    assert with_classes > 200


def test_images_inside_of_an_intersection() -> None:
    """Tokens without text stand in their parts by their places, not by their bytes."""
    vocabulary = tokamata.Vocabulary(
        [None, None, None, None, b"x", b"y", b"xy"], eos_token_ids=[0], special_tokens={"<i>": 1, "</i>": 2}
    ).with_token_groups({"IMAGE_BEGIN": ["<i>"], "IMAGE": [3], "IMAGE_END": ["</i>"]})
    word = tokamata.regex("[xy]+")
    shown = tokamata.capture("before", word) + tokamata.image() + tokamata.capture("after", word)
    both = shown & (word + tokamata.image() + tokamata.capture("y", "y") + tokamata.regex("[xy]*"))
    state = tokamata.compile(both, vocabulary).start()
    for token in (6, 1, 3, 3, 2):
        state.advance(token)
    assert state.captures() == {"before": b"xy"}
    state.advance(5)
    assert state.captures() == {"before": b"xy", "after": b"y", "y": b"y"}
    for token in (4, 0):
        state.advance(token)
    assert state.captures() == {"before": b"xy", "after": b"yx", "y": b"y"}


def test_what_names_are_not_followed_through(tmp_path: object) -> None:
    named = tokamata.regex("(?P<n>a)b")
    for constraint, text in (
        (tokamata.grammar('start: A "b"\nA: /(?P<n>a)/'), "line 2, column 1: the named parts of the terminal A"),
        (tokamata.grammar("start: A\n%declare A", constraints={"A": named}), "the named parts of the terminal A"),
        (tokamata.regex("(?<n>a)b", syntax="ecma"), "write it in Python's syntax"),
        (tokamata.one_token(named), "name the whole token"),
    ):
        state = tokamata.compile(constraint, VOCABULARY).start()
        with pytest.raises(tokamata.UnsupportedError, match=text):
            state.captures()
    path = f"{tmp_path}/saved.fst"
    tokamata.compile(named, VOCABULARY).save(path)
    with pytest.raises(tokamata.UnsupportedError, match="keeps no names of parts; ask the constraint"):
        tokamata.load(path, VOCABULARY).start().captures()

"""Trees over a given sentence: against all trees that a reader of brackets takes, and by counting."""

from __future__ import annotations

import random
import re

import pytest
from oracle.lark_parser import parser
from tokamata.automata.errors import ConstraintError, LimitError
from tokamata.constraints.grammars import penn_brackets

import tokamata

FOUR = ["the", "cat", "cat", "purrs"]
Tree = tuple  # (label, word) or (label, tree, ...)


def read(text: str) -> Tree | None:
    """Read one tree on one line, with a stack; None for anything else."""
    stack: list[list[object]] = [[]]
    for token in re.findall(r"\([^() ]* | |\(|\)|[^() ]+", text):
        if token.startswith("("):
            stack.append([token[1:-1]])
        elif token == ")":
            if len(stack) < 2:
                return None
            node = stack.pop()
            stack[-1].append(tuple(node))
        elif token != " ":
            stack[-1].append(token)
    if len(stack) != 1 or len(stack[0]) != 1 or not isinstance(stack[0][0], tuple):
        return None
    return stack[0][0] if written(stack[0][0]) == text else None


def written(tree: Tree) -> str:
    return "(" + " ".join([tree[0], *(written(t) if isinstance(t, tuple) else t for t in tree[1:])]) + ")"


def leaves(tree: Tree) -> list[tuple[str, str]]:
    if len(tree) == 2 and isinstance(tree[1], str):
        return [(tree[0], tree[1])]
    return [leaf for child in tree[1:] for leaf in leaves(child)]


def depth(tree: Tree) -> int:
    return 1 + max((depth(t) for t in tree[1:] if isinstance(t, tuple)), default=0)


def inner(tree: Tree) -> set[str]:
    if len(tree) == 2 and isinstance(tree[1], str):
        return set()
    return {tree[0]}.union(*(inner(child) for child in tree[1:]))


def is_tree(text: str, words: list[str], max_depth: int | None) -> bool:
    tree = read(text)
    if tree is None or any(not isinstance(c, tuple) and len(t) != 2 for t in subtrees(tree) for c in t[1:]):
        return False
    if any(len(t) < 2 for t in subtrees(tree)):
        return False
    pairs = leaves(tree)
    return (
        [word for _, word in pairs] == words
        and {tag for tag, _ in pairs} <= {"D", "N"}
        and inner(tree) <= {"S", "NP"}
        and (max_depth is None or depth(tree) <= max_depth)
    )


def subtrees(tree: Tree) -> list[Tree]:
    return [tree, *(s for c in tree[1:] if isinstance(c, tuple) for s in subtrees(c))]


def random_tree(rng: random.Random, words: list[str]) -> Tree:
    if len(words) == 1 and rng.random() < 0.7:
        return (rng.choice(("D", "N")), words[0])
    cuts = sorted(rng.sample(range(1, len(words)), rng.randrange(len(words))))
    parts = [words[a:b] for a, b in zip([0, *cuts], [*cuts, len(words)], strict=True)]
    return (rng.choice(("S", "NP")), *(random_tree(rng, part) for part in parts))


@pytest.mark.parametrize(
    ("words", "max_depth"),
    [(["cat"], None), (["cat"], 1), (["cat"], 3), (FOUR, None), (FOUR, 2), (FOUR, 3), (FOUR, 5)],
)
def test_trees_and_damaged_trees(words: list[str], max_depth: int | None) -> None:
    grammar = penn_brackets(words, labels=["S", "NP"], tags=["D", "N"], max_depth=max_depth)
    accepts, by_lark = tokamata.grammar(grammar).accepts, parser(grammar, "none")
    seed = 11
    rng = random.Random(seed)
    found = {True: 0, False: 0}
    for _ in range(150):
        text = written(random_tree(rng, words))
        if rng.random() < 0.5:
            at, width = rng.randrange(len(text)), rng.choice((1, 1, 4))
            text = text[:at] + rng.choice(("", "(", ")", " ", "(S ", "N", "cat")) + text[at + width :]
        expected = is_tree(text, words, max_depth)
        assert accepts(text) == by_lark(text) == expected, (seed, text)
        found[expected] += 1
    assert found[False]
    assert found[True]


def test_brackets_among_the_words_and_default_labels() -> None:
    accepts = tokamata.grammar(penn_brackets(["(", 'a"b', ")"], max_depth=4)).accepts
    assert accepts('(NP (-LRB- -LRB-) (NN a"b) (-RRB- -RRB-))')
    assert not accepts('(NP (-LRB- () (NN a"b) (-RRB- )))')


def test_a_long_sentence() -> None:
    words = [f"word{i}" for i in range(40)]
    accepts = tokamata.grammar(penn_brackets(words)).accepts
    flat = "(S " + " ".join(f"(NN {word})" for word in words) + ")"
    deep = "".join(f"(NP (NN {word}) " for word in words[:-1]) + f"(NN {words[-1]})" + ")" * 39
    assert accepts(flat)
    assert accepts(deep)
    assert not accepts(deep[:-1])
    assert not accepts(flat.replace("(NN word7) ", ""))


def test_sizes_are_as_promised() -> None:
    words = [f"w{i}" for i in range(20)]
    productions = penn_brackets(words, labels=["S"], tags=["N"]).count("|")
    assert productions <= 20**3 / 6 + 20
    rules = penn_brackets(words, labels=["S"], tags=["N"], max_depth=6).count(":")
    assert rules <= 2 * 20 * 6 + 6


def test_what_it_refuses() -> None:
    with pytest.raises(TypeError, match=r"^penn_brackets: expected several words, got one str; use text.split"):
        penn_brackets("the cat")
    with pytest.raises(ConstraintError, match=r"expected at least one of the words, got none"):
        penn_brackets([])
    with pytest.raises(ConstraintError, match=r"expected at least one of the tags, got none"):
        penn_brackets(["a"], tags=[])
    with pytest.raises(ConstraintError, match=r"expected labels without brackets and white space, got 'N P'"):
        penn_brackets(["a"], labels=["N P"])
    with pytest.raises(ConstraintError, match=r"expected words without brackets and white space, got ''"):
        penn_brackets(["a", ""])
    with pytest.raises(ConstraintError, match=r"expected a max_depth of at least 1 for 1 words, got 0"):
        penn_brackets(["a"], max_depth=0)
    with pytest.raises(ConstraintError, match=r"expected a max_depth of at least 2 for 2 words, got 1"):
        penn_brackets(["a", "b"], max_depth=1)
    for words, depth in ((["a"], 2**31), (["a", "b"], 10**30), (["a"] * 300, None)):
        with pytest.raises(LimitError, match=r"^penn_brackets: the limit of 4,000,000 productions was reached, with"):
            penn_brackets(words, max_depth=depth)

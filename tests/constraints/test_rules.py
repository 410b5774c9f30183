"""Rules: bodies made of constraints, operators and calls, against sets of short texts made by hand."""

from __future__ import annotations

import itertools
import random

import pytest
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.rules import Rules

import tokamata

Tree = tuple[str, tuple["Tree", ...], object]  # kind, operands, and a text, a rule or bounds
MOST = 6


def random_tree(r: random.Random, depth: int, rules: int) -> Tree:
    kind = r.choice(["leaf", "call"] if depth == 0 else ["leaf", "concat", "union", "repeat", "call"])
    if kind == "leaf":
        return kind, (), r.choice(["a", "b", "", "ab"])
    if kind == "call":  # behind a letter, so that no rule calls itself before it has read anything
        return "concat", (("leaf", (), r.choice("ab")), ("call", (), r.randrange(rules))), None
    if kind == "repeat":
        low = r.randrange(2)
        return kind, (random_tree(r, depth - 1, rules),), (low, r.choice([None, low, low + 2]))
    return kind, tuple(random_tree(r, depth - 1, rules) for _ in range(r.randrange(1, 4))), None


def joined(left: set[str], right: set[str]) -> set[str]:
    return {x + y for x in left for y in right if len(x + y) <= MOST}


def texts(tree: Tree, known: list[set[str]]) -> set[str]:
    """The texts of up to MOST letters, where those of the rules are known."""
    kind, operands, data = tree
    if kind == "leaf":
        return {str(data)}
    if kind == "call":
        return known[data]  # type: ignore[index]
    parts = [texts(operand, known) for operand in operands]
    if kind == "union":
        return set().union(*parts)
    if kind == "concat":
        found = {""}
        for part in parts:
            found = joined(found, part)
        return found
    low, high = data  # type: ignore[misc]
    power, found = {""}, set()
    for n in range(MOST + 2 if high is None else high + 1):
        if n >= low:
            found |= power
        power = joined(power, parts[0])
    return found


def node(rules: Rules, tree: Tree) -> int:
    kind, operands, data = tree
    if kind == "leaf":
        return rules.leaf(str(data))
    if kind == "call":
        return rules.call(data)  # type: ignore[arg-type]
    parts = [node(rules, operand) for operand in operands]
    if kind == "repeat":
        return rules.repeat(parts[0], *data)  # type: ignore[misc]
    return rules.union(*parts) if kind == "union" else rules.concat(*parts)


@pytest.mark.parametrize("seed", range(150))
def test_random_rules(seed: int) -> None:
    r = random.Random(seed)
    count = r.randrange(1, 4)
    trees = [random_tree(r, 3, count) for _ in range(count)]
    known: list[set[str]] = [set() for _ in trees]
    while True:
        more = [texts(tree, known) for tree in trees]
        if more == known:
            break
        known = more
    rules = Rules()
    for i, tree in enumerate(trees):
        rules.define(rules.rule(f"rule {i}"), node(rules, tree))
    constraint = Constraint(rules.language())
    assert constraint.is_empty() or known[0] or min(map(len, constraint.examples(3))) > MOST
    for length in range(MOST + 1):
        for letters in itertools.product("ab", repeat=length):
            text = "".join(letters)
            assert constraint.accepts(text) == (text in known[0]), (seed, text)


def test_rules_that_nest() -> None:
    rules = Rules()
    value = rules.rule("value")
    digits = rules.leaf(tokamata.regex("[0-9]+"))
    items = rules.concat(rules.call(value), rules.repeat(rules.concat(",", rules.call(value))))
    rules.define(value, rules.union(digits, rules.concat("(", items, ")")))
    constraint = Constraint(rules.language())
    assert constraint.accepts("(1,(2,3),((4)))")
    assert not constraint.accepts("(1,(2,3)")
    deep = "(" * 20_000 + "7" + ")" * 20_000
    assert constraint.accepts(deep)
    both = constraint & tokamata.regex(r"[^2]*")
    assert both.accepts("(1,(3))")
    assert not both.accepts("(1,(2))")


def test_errors() -> None:
    rules = Rules()
    first, second = rules.rule("first"), rules.rule("second")
    rules.define(first, rules.union("a", rules.concat(rules.optional("b"), rules.call(second))))
    with pytest.raises(ValueError, match="rules: expected every rule to be defined, got none for second; call define"):
        rules.language()
    rules.define(second, rules.concat(rules.call(first), "c"))
    with pytest.raises(tokamata.ConstraintError, match="rules: first calls itself before it has read anything"):
        rules.language()
    rules = Rules()
    only = rules.rule("only")
    rules.define(only, rules.union(rules.leaf(tokamata.json_value()), rules.concat("x", rules.call(only))))
    with pytest.raises(tokamata.UnsupportedError, match="rules: expected regular constraints as parts of rules"):
        rules.language()


def test_where_nothing_is_called_a_body_is_put_together_at_once() -> None:
    rules = Rules()
    letter = rules.leaf(tokamata.regex("[ab]"))
    rules.define(rules.rule("only"), rules.concat("<", rules.repeat(rules.union(letter, "cd"), 1, 3), letter, ">"))
    assert Constraint(rules.language()).equivalent(tokamata.regex("<([ab]|cd){1,3}[ab]>"))
    rules = Rules()  # also of what is not regular
    rules.define(rules.rule("only"), rules.concat("v", rules.leaf(tokamata.json_value())))
    values = Constraint(rules.language())
    assert values.accepts("v[]")
    assert not values.accepts("v[")
    rules = Rules(tokamata.Limits(states=10))
    rules.define(rules.rule("only"), rules.concat("a", rules.leaf(tokamata.regex("(a|b)*a(a|b){12}"))))
    with pytest.raises(tokamata.LimitError, match="states=10"):
        Constraint(rules.language()).minimize()

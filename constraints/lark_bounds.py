"""Bounds on what Lark makes of a grammar: it multiplies out alternatives and follows templates without end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..automata.errors import LimitError
from .grammar_source import Place

if TYPE_CHECKING:
    from lark.load_grammar import Grammar

MOST_ALTERNATIVES = 100  # of one rule; beyond it, parts of the rule become rules of their own
MOST_TEMPLATES = 1000  # uses of templates with different arguments
_MANY = 10**9

PlaceOf = Callable[[str], Place | None]


def bound_alternatives(grammar: Grammar, place: PlaceOf) -> None:
    """Give parts of rules that would have more than MOST_ALTERNATIVES alternatives rules of their own, in place.

    The language stays the same. Raises LimitError for templates that would have more: their parts may use parameters.
    """
    for name, parameters, tree, _ in list(grammar.rule_defs):
        parts: list[Any] = []
        _count(tree, None if parameters else f"__{name}_part_", parts)
        if parts and parameters:
            raise LimitError(
                f"grammar: {place(str(name))}: limit reached: alternatives={MOST_ALTERNATIVES} of the template {name}; "
                "use rules for its parts"
            )
        grammar.rule_defs.extend(parts)


def _count(node: Any, prefix: str | None, parts: list[Any]) -> int:
    """The alternatives that Lark makes of a tree; those that would multiply too far go to ``parts``."""
    from lark.grammar import NonTerminal, RuleOptions
    from lark.tree import Tree

    if not isinstance(node, Tree) or node.data in ("value", "template_usage"):
        return 1
    counts = [_count(child, prefix, parts) for child in node.children]
    if node.data == "expansions":
        return min(sum(counts), _MANY)
    if node.data == "maybe":
        return min(sum(counts) + 1, _MANY)
    if node.data == "expr":
        operator = str(node.children[1])
        return {"?": counts[0] + 1, "*": 2, "+": 1}.get(operator) or _repeats(node, counts[0])
    product = 1
    for i, count in enumerate(counts):
        if node.data == "expansion" and count > 1 and product * count > MOST_ALTERNATIVES:
            part = node.children[i]
            tree = part if part.data == "expansions" else Tree("expansions", [Tree("expansion", [part])])
            name = f"{prefix}{len(parts)}"
            parts.append((name, (), tree, RuleOptions()))
            node.children[i] = Tree("value", [NonTerminal(name)])
            count = 1
        product *= count
    return min(product, _MANY)


def _repeats(node: Any, each: int) -> int:
    """How many alternatives Lark makes of ``x~n`` and ``x~n..m``; from 50 on it makes rules that share."""
    low, high = int(node.children[2]), int(node.children[-1])
    if high >= 50:
        return 20
    total = 0
    for n in range(max(low, 0), high + 1):
        total += min(each**n, _MANY)
    return min(total, _MANY)


def bound_templates(grammar: Grammar, place: PlaceOf) -> None:
    """Follow the uses of templates before Lark does. Raises LimitError beyond MOST_TEMPLATES."""
    from lark.tree import Tree

    usages = {str(n): list(t.find_data("template_usage")) for n, _, t, _ in grammar.rule_defs}
    parameters = {str(n): tuple(str(p) for p in ps) for n, ps, _, _ in grammar.rule_defs}
    order: list[tuple[str, tuple[str, ...]]] = []
    known: set[tuple[str, tuple[str, ...]]] = set()

    def render(node: Any, bound: dict[str, str]) -> str:
        if not isinstance(node, Tree):
            name = str(getattr(node, "name", node))
            return bound.get(name, name)
        if node.data != "template_usage":
            return "..".join(render(child, bound) for child in node.children)
        name, *arguments = (render(child, bound) for child in node.children)
        use = (name, tuple(arguments))
        if use not in known:
            known.add(use)
            order.append(use)
        return f"{name}{{{','.join(arguments)}}}"

    for name, found in usages.items():
        if not parameters[name]:
            for usage in found:
                render(usage, {})
    done = 0
    while done < len(order):
        name, arguments = order[done]
        done += 1
        if len(order) > MOST_TEMPLATES or sum(map(len, arguments)) > 10_000:
            raise LimitError(
                f"grammar: {place(name)}: limit reached: templates={MOST_TEMPLATES} uses of templates with different "
                f"arguments, at {name}; a template that calls itself must not make its arguments longer"
            )
        bound = dict(zip(parameters.get(name, ()), arguments, strict=False))
        for usage in usages.get(name, ()):
            render(usage, bound)

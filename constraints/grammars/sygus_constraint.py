"""The terms that the grammar of a SyGuS problem allows, as a constraint."""

from __future__ import annotations

from ...automata.errors import ConstraintError
from ..constraint import Constraint, Limits
from ..grammar import grammar
from ..rules import Rules
from .sygus_terms import sygus_groups, sygus_terms


def sygus_constraint(problem: str, function: str | None = None, *, limits: Limits | None = None) -> Constraint:
    """Return the terms of a ``synth-fun`` with single blanks: the language of ``grammar(sygus_terms(problem))``.

    Its groups become rules that call each other, for which the least number of tokens to an end is known however deep a
    term is: budgets (``max_tokens``) are exact, where those of the grammar may end in LimitError. Groups that stand for
    each other in a circle are read as a grammar. Arguments and errors as `sygus_terms`.
    """
    start, groups = sygus_groups("sygus_constraint", problem, function)
    rules = Rules(limits)
    first = rules.rule("start")
    numbers = [rules.rule(f"group {i}") for i in range(len(groups))]
    rules.define(first, rules.call(numbers[start]))
    for number, ways in zip(numbers, groups, strict=True):
        bodies = [rules.concat(*(rules.call(numbers[p]) if isinstance(p, int) else p for p in way)) for way in ways]
        rules.define(number, rules.union(*bodies))
    try:
        return Constraint(rules.language(), source="sygus_constraint(...)")
    except ConstraintError:  # some group calls itself at once
        return grammar(sygus_terms(problem, function), limits=limits)

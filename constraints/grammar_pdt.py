"""grammar_pdt: a grammar as a push-down transducer over bytes, for the toolkit's operations and for pynini."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .constraint import Constraint, Text
from .grammar import read_grammar

if TYPE_CHECKING:
    from ..automata import Fst, Pdt
    from .grammar_source import GrammarSource, GrammarSyntax

_FIRST_RULE = 257  # labels 1..256 are bytes, NUL is 256
FIRST_PAREN = 1 << 24  # above the labels of all tokens, so that the Pdt composes with D


def grammar_pdt(
    text: Text,
    syntax: GrammarSyntax = "gbnf",
    start: str | None = None,
    constraints: Mapping[str, Constraint] | None = None,
) -> Pdt:
    """The texts of a context-free grammar without a lexer, as an `automata.Pdt`: an acceptor over bytes.

    Arguments and errors are those of :func:`.grammar` with ``lexer="none"``; the texts are the same. Byte b is label b,
    NUL is 256, parentheses begin at 2^24. Each rule becomes one minimal deterministic machine, terminals included, in
    which calls of rules are parentheses (see `Pdt.from_rules`) and a rule that begins or ends with itself is a loop.
    Rules without any text are left out; where the start has none, so has the Pdt.

    A grammar that ignores terminals, or that has indentation, needs a lexer: UnsupportedError. Complexity:
    determinizing rules can be exponential in their alternatives; LimitError past 20 million states.

    Source: Koo et al., "Automata-based constraints for language model decoding" (2024), section 3.
    """
    return source_pdt(read_grammar(text, syntax, start, "none", constraints, function="grammar_pdt"))


def source_pdt(source: GrammarSource) -> Pdt:
    """See `grammar_pdt`."""
    from ..automata import Fst, Pdt, UnsupportedError, determinize, minimize, replace, rmepsilon
    from .grammar_use import productive

    for terminal in source.terminals:
        if terminal.ignored:
            place = f"{terminal.place}: " if terminal.place else ""
            raise UnsupportedError(
                f"grammar_pdt: {place}the ignored terminal {terminal.name} needs a lexer; write it where it may stand"
            )
    if source.indent is not None:
        raise UnsupportedError("grammar_pdt: indentation needs a lexer; write the grammar without INDENT and DEDENT")
    first_terminal = _FIRST_RULE + len(source.rules)
    terminals = [t.constraint.to_fst() for t in source.terminals]
    useful = productive(source)
    rules: list[tuple[int, Fst]] = []
    for rule, productions in enumerate(source.by_rule()):
        machine = Fst()
        machine.add_states(2)
        machine.set_start(0)
        machine.set_final(1)
        called = set()
        for production in productions:
            symbols = list(production.symbols)
            if not all(s < 0 or s in useful for s in symbols):
                continue
            # A rule that begins or ends with itself goes round: what follows comes after a whole, what precedes before.
            state, end = 0, 1
            if symbols[:1] == [rule]:
                state, symbols = 1, symbols[1:]
            elif symbols[-1:] == [rule]:
                end, symbols = 0, symbols[:-1]
            for symbol in symbols:
                label = _FIRST_RULE + symbol if symbol >= 0 else first_terminal + ~symbol
                called |= {~symbol} if symbol < 0 else set()
                target = machine.add_state()
                machine.add_arc(state, label, label, None, target)
                state = target
            machine.add_arc(state, 0, 0, None, end)
        root = first_terminal + len(terminals)
        pairs = [(root, machine), *((first_terminal + t, terminals[t]) for t in sorted(called))]
        whole = replace(pairs, call_arc_labeling="neither")
        rules.append((_FIRST_RULE + rule, minimize(determinize(rmepsilon(whole)))))
    return Pdt.from_rules(_FIRST_RULE + source.start, rules, first_paren=FIRST_PAREN)

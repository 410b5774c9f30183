"""What lark makes of a grammar: Earley without a lexer, or LALR(1) over the longest match at each place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput
from lark.indenter import DedentError, PythonIndenter
from lark.lexer import Lexer, PatternStr


class LongestMatch(Lexer):
    """Longest match at each place; ties go to the higher priority, then to literals (lark's own takes the first)."""

    __future_interface__ = 1

    def __init__(self, conf) -> None:
        order = sorted(conf.terminals, key=self.rank)
        self.terminals = [(t.name, re.compile(t.pattern.to_regexp(), conf.g_regex_flags)) for t in order]
        self.ignore = frozenset(conf.ignore)

    @staticmethod
    def rank(terminal) -> tuple:
        return -terminal.priority, not isinstance(terminal.pattern, PatternStr)

    @staticmethod
    def end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
        found = pattern.match(text, at)
        return found.end() if found else at

    def lex(self, lexer_state, parser_state=None) -> Iterator[Token]:
        text = getattr(lexer_state.text, "text", lexer_state.text)
        at = 0
        while at < len(text):
            end, name = at, ""
            for candidate, pattern in self.terminals:
                found = self.end_of(pattern, text, at)
                if found > end:
                    end, name = found, candidate
            if end == at:
                raise UnexpectedCharacters(text, at, 1, at + 1)
            if name not in self.ignore:
                yield Token(name, text[at:end], at)
            at = end


def parser(text: str, lexer: str, start: str = "start") -> Callable[[str], bool]:
    """Return lark's verdict on texts under a grammar; an ambiguous grammar for LALR(1) raises lark's GrammarError."""
    if lexer == "none":
        made = Lark(text, start=start, parser="earley", lexer="dynamic_complete")
    else:
        indented = PythonIndenter() if "_INDENT" in text else None
        made = Lark(text, start=start, parser="lalr", lexer=LongestMatch, postlex=indented)

    def accepts(member: str) -> bool:
        try:
            made.parse(member)
        except (UnexpectedInput, DedentError):
            return False
        return True

    return accepts

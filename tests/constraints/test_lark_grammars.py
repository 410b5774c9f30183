"""The grammars that come with Lark, of Python and of its own notation, against Lark itself."""

from __future__ import annotations

import pkgutil
import random
from collections.abc import Iterator

import pytest
from oracle import lark_parser, python_snippets
from tokamata.constraints import grammars

import tokamata


def _text(name: str) -> str:
    return (pkgutil.get_data("lark", f"grammars/{name}.lark") or b"").decode()


def _damaged(rng: random.Random, text: str, pieces: list[str]) -> Iterator[str]:
    """The text, and with something put in or in place of a character."""
    yield text
    for _ in range(3):
        at = rng.randrange(len(text))
        yield text[:at] + rng.choice(pieces) + text[at + rng.randint(0, 1) :]


def _compare(constraint: tokamata.Constraint, verdict, texts: list[str], pieces: list[str]) -> tuple[int, int]:
    """How many texts both accept and both refuse."""
    rng = random.Random(7)
    accepted = refused = 0
    for text in texts:
        for member in _damaged(rng, text, pieces):
            want = verdict(member)
            assert constraint.accepts(member) == want, member
            accepted, refused = accepted + want, refused + (not want)
    return accepted, refused


def test_larks_grammar_of_python() -> None:
    # STRING looks at what follows two quotes: `""` is none before a third one.
    text = _text("python")
    snippets = python_snippets.snippets(120, seed=5, high=2000)
    quotes = ['x = "" \n', 'x = "" ""\n', 'x = """\n', 'x = """"\n', 'x = r""\n', "x = ''''''\n", 'x = """a""" ""\n']
    pieces = ['"', "'", '""', '"""', "(", " ", "\n", "", 'r"', "f", "x"]
    constraint = tokamata.grammar(text, start="file_input")
    verdict = lark_parser.parser(text, "basic", "file_input")
    accepted, refused = _compare(constraint, verdict, [s + "\n" for s in snippets] + quotes, pieces)
    assert accepted > 150
    assert refused > 100


@pytest.mark.parametrize("lexer", ["basic", "contextual"])
def test_larks_grammar_of_its_notation(lexer: str) -> None:
    # OP is "?" before anything but a letter, RULE_MODIFIERS before one.
    text = _text("lark")
    texts = [grammars.text(name) for name in ("json", "arithmetic", "csv", "lisp", "uri")] + [_text("common")]
    texts += ['?a: "x"?\n', "a: b? | c\n", "a: b?c\n", "?\n", "a: b ?\n", "!?a: B\n", "a: [b]?\n"]
    constraint = tokamata.grammar(text, lexer="basic" if lexer == "basic" else "contextual")
    verdict = lark_parser.parser(text, "basic")
    pieces = ["?", "!", "a", "A", "?a", "\n", " ", ":", "", "|", "/", '"']
    if lexer == "basic":
        accepted, refused = _compare(constraint, verdict, texts * 3, pieces)
        assert accepted > 20
        assert refused > 20
    else:
        assert all(constraint.accepts(t) for t in texts if verdict(t))

"""Snippets of the installed standard library: functions and classes cut out of its modules, at test time."""

from __future__ import annotations

import ast
import io
import random
import sys
import sysconfig
import textwrap
import tokenize
import warnings
from collections.abc import Iterator
from pathlib import Path

# Beside the library proper: tests, programs and what keeps damaged files on purpose.
APART = {"test", "tests", "idlelib", "lib2to3", "site-packages", "turtledemo", "__pycache__"}


def modules() -> list[Path]:
    """Return the library's modules, in order."""
    root = Path(sysconfig.get_path("stdlib"))
    return sorted(p for p in root.rglob("*.py") if not APART & set(p.relative_to(root).parts))


def read(path: Path) -> str | None:
    """Return a module's text as Python reads it, or None where it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def is_python(text: str) -> bool:
    """Does Python's parser take the text as a module?"""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def left_out(text: str) -> bool:
    """Does the text use what the ready-made grammar leaves out?"""
    kinds = tuple(getattr(ast, name) for name in ("Match", "TryStar", "TypeAlias", "TemplateStr") if hasattr(ast, name))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, kinds) or getattr(node, "type_params", None):
            return True
    return r"\N{" in text or _quotes_again(text)


def _quotes_again(text: str) -> bool:
    """Does a formatted string hold what it may since Python 3.12: its own quotes, a backslash, a comment?"""
    if sys.version_info < (3, 12):
        return False
    around: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        quotes = token.string.lstrip("bBfFrRuU")[:1]
        if around and (
            kind in ("COMMENT", "NL")
            or (kind in ("FSTRING_START", "STRING") and (quotes == around[-1] or "\\" in token.string))
        ):
            return True
        if kind == "FSTRING_START":
            around.append(quotes)
        elif kind == "FSTRING_END":
            around.pop()
    return False


def definitions(text: str) -> Iterator[str]:
    """Yield each function and class of a module, methods too, with its decorators, moved to the left margin."""
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            begin = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
            assert node.end_lineno is not None
            cut = textwrap.dedent("".join(lines[begin : node.end_lineno]))
            cut = cut if cut.endswith("\n") else cut + "\n"
            if is_python(cut):
                yield cut


def snippets(count: int, seed: int, low: int = 60, high: int = 4000) -> list[str]:
    """Return so many distinct definitions of low to high characters, at most two a module, drawn by the seed."""
    rng = random.Random(seed)
    paths = modules()
    rng.shuffle(paths)
    found: dict[str, None] = {}
    for path in paths:
        text = read(path)
        if text is None:
            continue
        fit = [cut for cut in definitions(text) if low <= len(cut) <= high]
        for cut in rng.sample(fit, min(2, len(fit))):
            found[cut] = None
        if len(found) >= count:
            break
    return list(found)[:count]

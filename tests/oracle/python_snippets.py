"""Snippets of the installed standard library: functions and classes cut out of its modules, at test time."""

from __future__ import annotations

import ast
import random
import sysconfig
import textwrap
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

"""Regular expressions of the installed standard library: the literal patterns that its modules give to ``re``."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from oracle import python_snippets

FUNCTIONS = {"compile", "match", "search", "fullmatch", "sub", "subn", "findall", "finditer", "split"}
CALL = re.compile(rf"\bre\.(?:{'|'.join(FUNCTIONS)})\(")
FLAGS = {"IGNORECASE": "i", "I": "i", "MULTILINE": "m", "M": "m", "DOTALL": "s", "S": "s", "VERBOSE": "x", "X": "x"}
FLAGS |= {"ASCII": "a", "A": "a"}


def literal(node: ast.expr) -> str | None:
    """Return the text of a literal, or of literals that are added; None for all else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = literal(node.left), literal(node.right)
        return None if left is None or right is None else left + right
    return None


def of_call(call: ast.Call) -> str | None:
    """Return the pattern of a call of ``re``'s functions, its flags before it; None where it is no literal."""
    called = call.func
    if not (isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "re"):
        return None
    pattern = literal(call.args[0]) if called.attr in FUNCTIONS and call.args else None
    if pattern is None:
        return None
    names = {n.attr for a in [*call.args[1:], *call.keywords] for n in ast.walk(a) if isinstance(n, ast.Attribute)}
    flags = "".join(sorted({FLAGS[name] for name in names & FLAGS.keys()}))
    return f"(?{flags}){pattern}" if flags else pattern


def patterns() -> Iterator[str]:
    """Yield every such pattern once, in the order of the modules."""
    seen: set[str] = set()
    for path in python_snippets.modules():
        text = python_snippets.read(path)
        if text is None or not CALL.search(text):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
            for pattern in filter(None, map(of_call, calls)):
                if pattern in seen:
                    continue
                seen.add(pattern)
                re.compile(pattern)
                yield pattern

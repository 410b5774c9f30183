"""function_call: members bind to the signature, and what binds to it is a member."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
from typing import Any, Literal

import pytest
from typing_extensions import TypedDict, Unpack

import tokamata


class Style(TypedDict, total=False):
    color: str
    width: int


def search(
    query: str, /, limit: int = 10, *more: int, exact: bool = False, order: Literal["up", "down"] = "up"
) -> None:
    """A parameter of every kind."""


def draw(shape: str, **style: Unpack[Style]) -> None:
    """Keywords of a TypedDict."""


def plain(a, b=1, *, c):  # type: ignore[no-untyped-def]
    """No annotations."""


def test_members_bind_to_the_signature() -> None:
    constraint = tokamata.function_call(search)
    signature = inspect.signature(search)
    for seed in range(20):
        for text in constraint.examples(20, seed=seed):
            args, kwargs = constraint.parse(text)
            signature.bind(*args, **kwargs)
            assert (args, kwargs) == eval(text, {"search": lambda *args, **kwargs: (args, kwargs)}), (seed, text)


def test_parse() -> None:
    constraint = tokamata.function_call(search)
    assert constraint.parse("search('x', 3, 4, 5, order='down')") == (("x", 3, 4, 5), {"order": "down"})
    assert constraint.parse('search("x", limit=3, exact=True)') == (("x",), {"limit": 3, "exact": True})
    for text in ["search()", "search(query='x')", "search('x', order='left')", "search('x', 3, limit=4)", "find('x')"]:
        assert not constraint.accepts(text)


def signatures() -> list[str]:
    """Signatures of up to three parameters of every kind, with and without *args."""
    found = []
    for count in range(4):
        for kinds in itertools.product("pek", (False, True), repeat=count):
            order, defaults = kinds[::2], kinds[1::2]
            by_position = [default for kind, default in zip(order, defaults, strict=True) if kind != "k"]
            if list(order) != sorted(order, key="pek".index) or by_position != sorted(by_position):
                continue
            for star in (False, True):
                parts = []
                for i, (kind, default) in enumerate(zip(order, defaults, strict=True)):
                    if kind == "k" and "k" not in order[:i]:
                        parts.append("*args: int" if star else "*")
                    parts.append(f"x{i}: int" + (" = 0" if default else ""))
                    if kind == "p" and "p" not in order[i + 1 :]:
                        parts.append("/")
                if star and "k" not in order:
                    parts.append("*args: int")
                found.append(", ".join(parts))
    return found


def test_every_small_signature_accepts_what_binds_to_it() -> None:
    values = ["1", "x0=1", "x1=1", "x2=1"]
    calls = [c for n in range(5) for c in itertools.product(values, repeat=n)]
    parsed = []
    for call in calls:
        text = f"f({', '.join(call)})"
        try:
            compile(text, "call", "eval")
        except SyntaxError:  # a keyword twice, or before a positional argument
            continue
        names = [argument.split("=")[0] for argument in call if "=" in argument]
        parsed.append((text, call.count("1"), names))
    cases = signatures()
    assert len(cases) > 60
    for source in cases:
        scope: dict[str, Any] = {}
        exec(f"def f({source}): pass", scope)
        constraint = tokamata.function_call(scope["f"])
        for text, positional, names in parsed:
            try:
                scope["f"](*[1] * positional, **dict.fromkeys(names, 1))
                binds = names == sorted(names)  # keywords are written in order
            except TypeError:
                binds = False
            assert constraint.accepts(text) == binds, (source, text)


def test_further_keywords() -> None:
    constraint = tokamata.function_call(draw)
    assert constraint.parse("draw('x', color='red', width=3)") == (("x",), {"color": "red", "width": 3})
    assert constraint.accepts("draw('x')")
    assert not constraint.accepts("draw('x', height=3)")

    def loose(**kwargs: int) -> None:
        """Any names."""

    with pytest.raises(tokamata.UnsupportedError, match=r"function_call: loose\(\*\*kwargs\): int: arguments of any"):
        tokamata.function_call(loose)
    named = tokamata.function_call(loose, keywords=["a", "b"])
    assert [text for text in ("loose()", "loose(a=1, b=2)", "loose(b=1)", "loose(c=1)") if named.accepts(text)] == [
        "loose()",
        "loose(a=1, b=2)",
        "loose(b=1)",
    ]
    with pytest.raises(
        tokamata.ConstraintError,
        match=r"expected keywords where the signature has \*\*kwargs, got \['a'\] without; leave",
    ):
        tokamata.function_call(search, keywords=["a"])


def test_parameters_without_annotation_take_any_literal() -> None:
    constraint = tokamata.function_call(plain)
    assert constraint.parse("plain({'a': [1, None]}, c=(1.5, b'x'))") == (({"a": [1, None]},), {"c": (1.5, b"x")})
    for seed in range(10):
        for text in constraint.examples(20, seed=seed):
            args, kwargs = constraint.parse(text)
            call = ast.parse(text, mode="eval").body
            assert isinstance(call, ast.Call)
            assert list(args) == [ast.literal_eval(a) for a in call.args]
            assert kwargs == {k.arg: ast.literal_eval(k.value) for k in call.keywords}


def test_what_can_be_called() -> None:
    class Counter:
        def __init__(self, start: int) -> None:
            self.start = start

        def add(self, n: int) -> None:
            """A method."""

        def __call__(self, n: str) -> None:
            """An object."""

    counter = Counter(1)
    assert tokamata.function_call(counter.add).accepts("add(3)")
    assert tokamata.function_call(counter.add, name="counter.add").parse("counter.add(n=3)") == ((), {"n": 3})
    assert tokamata.function_call(Counter).accepts("Counter(start=3)")
    assert tokamata.function_call(counter).accepts("Counter('x')")
    assert tokamata.function_call(functools.partial(search, "x")).accepts("search(3, 4)")
    with pytest.raises(tokamata.ConstraintError, match=r"expected a name that Python can write, got '<lambda>'; pass"):
        tokamata.function_call(lambda x: x)
    with pytest.raises(TypeError, match="function_call: expected a function, got int"):
        tokamata.function_call(3)  # type: ignore[arg-type]
    with pytest.raises(tokamata.ConstraintError, match="function_call: expected a function with a signature, got type"):
        tokamata.function_call(type)

    def bad(x: inspect.Signature) -> None:
        """No literal."""

    with pytest.raises(tokamata.UnsupportedError, match=r"function_call: bad\(x\): Signature: expected None, bool"):
        tokamata.function_call(bad)

"""Hostile sources: each ends in a result or in a clear error, within bounded time and memory, under default limits.

All cases run in one child process with little address space left; it prints a line for each. A stage is a build, the
first mask on a real vocabulary, or 50 random tokens with their masks. Bounds are several times what is expected.
"""

from __future__ import annotations

import contextlib
import functools
import json
import operator
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import tokamata
from tokamata import choice, json_schema, literal, regex

MEMORY = 512 << 20  # bytes of address space beyond what the process holds with its vocabulary
SECONDS = 4.0  # processor time of a stage; limits stop after 1
WALL = 240.0  # of the whole child: far above what is expected


def all_of(patterns: list[str]) -> tokamata.Constraint:
    return functools.reduce(operator.and_, map(regex, patterns))


def hexes(n: int, join: str = "{0:x}") -> str:
    return "|".join(join.format(i, 7 * i) for i in range(n))


def members(count: int, **more: object) -> dict[str, object]:
    """An object schema of as many members, whose names are m0, m1, …"""
    return {"type": "object", "properties": {f"m{i}": {"type": "integer"} for i in range(count)}, **more}


def conditions(count: int) -> list[object]:
    return [
        {
            "if": {"properties": {"m0": {"const": i}}, "required": ["m0"]},
            "then": {"properties": {"m1": {"const": i}}},
        }
        for i in range(count)
    ]


# What must end in a result: a constraint with a mask and 50 tokens.
RESULTS: dict[str, Callable[[], tokamata.Constraint]] = {
    "nested counters": lambda: regex("((a{0,1000}){0,1000}){0,1000}"),
    "nested counters with letters between": lambda: regex("(((a|b){0,1000}c?){0,1000}d?){0,1000}"),
    "nested ambiguous counters": lambda: regex("((a{1,100}b?){1,100}a{0,50}){1,100}"),
    "not nested counters": lambda: ~regex("((a{0,1000}){0,1000}){0,1000}"),
    "not nested counters with letters": lambda: ~regex("(((a|b){0,1000}c?){0,1000}d?){0,1000}"),
    "ambiguous pairs": lambda: regex("(a|b|ab){1,1000}"),
    "not ambiguous pairs": lambda: ~regex("(a|b|ab){1,1000}c"),
    "2,000 optional letters": lambda: regex("a?b?" * 1000),
    "20,000 optional letters": lambda: regex("a?b?" * 10_000),
    "20,000 optional letters, repeated": lambda: regex(f"({'a?b?' * 10_000})*"),
    "optional letters, then as many": lambda: regex("a?" * 1000 + "a" * 1000),
    "letter from the end": lambda: regex(".*a.{12}"),
    "letter far from the end": lambda: regex("(.|\n)*a[ab]{30}"),
    "not letters from the end": lambda: ~regex("(a|b)*a(a|b){18}") - regex("(a|b)*b(a|b){19}"),
    "letters from the end, both": lambda: regex("(a|b)*a(a|b){14}") & regex("(a|b)*b(a|b){15}"),
    "100,000 alternatives": lambda: regex(hexes(100_000)),
    "20,000 alternatives with wildcards": lambda: regex(hexes(20_000, "{0:x}.*{1:x}")),
    "3,000 alternatives with lookaheads": lambda: regex(hexes(3000, "(?!{0}).*{1}")),
    "not 3,000 alternatives with wildcards": lambda: ~regex(hexes(3000, "{0:x}.*{1:x}")),
    "not 100,000 texts": lambda: ~choice(f"{i:x}" for i in range(100_000)),
    "a text without any of 5,000 words": lambda: ~regex(".*(" + "|".join(f"word{i}x" for i in range(5000)) + ").*"),
    "a literal of a million bytes": lambda: literal("x" * 1_000_000),
    "not a literal of a million bytes": lambda: ~literal("x" * 1_000_000),
    "a pattern of two million characters": lambda: regex("[ab]" * 500_000),
    "Unicode categories, counted": lambda: regex(r"(\p{L}\p{M}*|\p{N}+|\p{P}|\p{S}|\p{Z}){1,1000}"),
    "300 different Unicode sets": lambda: regex("".join(rf"[\p{{Lu}}{chr(0x400 + i)}]?" for i in range(300))),
    "Unicode categories, repeated": lambda: regex(r"(\w|\d|\s|\p{Han}|\p{Latin}|\p{Greek})*" * 50),
    "not Unicode words": lambda: ~regex(r"(\p{Lu}\p{Ll}+){3,2000}"),
    "Unicode without case": lambda: regex(r"(?i)(\p{L}|[а-яё]|straße){1,500}"),
    "16 negative lookaheads": lambda: regex("".join(f"(?!.*{c}{c})" for c in "abcdefghijklmnop") + ".*"),
    "a lookbehind behind counted parts": lambda: regex(r"(?!.*\s{2})(?:[^\n]{2,63}-){1,130}(?<=\S)"),
    "lookbehinds in a loop": lambda: regex("(" + "".join(f"(?<!{'a' * i}b)" for i in range(1, 12)) + ".)*"),
    "nested stars": lambda: regex("(((a*)*)*)*b|((a+)+)+c"),
    "250 nested groups": lambda: regex("(" * 249 + "a" + "?)" * 249),
    "counters that overlap": lambda: regex("[ab]{0,1000}[ac]{0,1000}[ad]{0,1000}[ae]{0,1000}"),
    "gaps of wildcards": lambda: regex(".{0,1000}x.{0,1000}y.{0,1000}z.{0,1000}"),
    "not gaps of wildcards": lambda: ~regex(".{0,1000}x.{0,1000}y.{0,1000}z.{0,1000}"),
    "500 letters in order": lambda: regex(".*" + ".*".join("abcdefghijklmnopqrstuvwxyz" * 20) + ".*"),
    "letters in order, counted too": lambda: regex(".*" + ".*".join("ab" * 100) + ".*") & regex("(.*b){300}.*"),
    "letters from the end, four ways": lambda: (
        (regex(".*a.{8}") | regex(".*b.{9}")) - (regex(".*c.{7}") | regex(".*d.{10}"))
    ),
    "a huge counter": lambda: regex("(ab?){4000000000}"),
    "5,000 words, repeated": lambda: choice(map(str, range(5000))).repeat(1, 1000),
    "not 5,000 words, repeated": lambda: ~choice(map(str, range(5000))).repeat(1, 1000),
    "loops of loops": lambda: regex("(a{0,200}|b{0,200}|c{0,200}){0,200}"),
    "counters of one letter": lambda: regex("(a{1,20}|a{3,30}b|a{5,50}c){1,100}"),
    "not counters of one letter": lambda: ~regex("(a{1,20}|a{3,30}b|a{5,50}c){1,100}"),
    "a tail of 60 lengths": lambda: regex("(a|b)*(" + "|".join("a" + "(a|b)" * i for i in range(60)) + ")"),
    "one of 1,600 members is required": lambda: json_schema(
        members(1600, anyOf=[{"required": [f"m{i}"]} for i in range(1600)])
    ),
    "any of 60 members is required, in any order": lambda: json_schema(
        members(60, anyOf=[{"required": [f"m{i}"]} for i in range(60)]), key_order="any"
    ),
    "1,600 tagged objects": lambda: json_schema(
        {"anyOf": [members(2, properties={"m0": {"const": i}, "m1": {}}, required=["m0"]) for i in range(1600)]}
    ),
}
# What may end in a LimitError or UnsupportedError as well.
EITHER: dict[str, Callable[[], tokamata.Constraint]] = {
    "letters from the end, not before": lambda: regex("(?!(.*a.{12}))(.*b.{12})"),
    "letters far from the end, not before": lambda: regex("(?!(.*a.{30}))(.*b.{30})"),
    "a contradiction of exponential size": lambda: all_of(["(a|b)*a(a|b){16}", "(a|b)*b(a|b){16}", "((a|b){17})*"]),
    "coprime cycles": lambda: all_of([f"(a{{{p}}})*b?" for p in (2, 3, 5, 7, 11, 13, 17, 19, 23)]),
    "coprime cycles, not empty": lambda: all_of([f"(a{{{p}}})*" for p in (2, 3, 5, 7, 11, 13, 17, 19, 23)]) - "",
    "all of 20 letters": lambda: regex("".join(f"(?=.*{c})" for c in "abcdefghijklmnopqrst") + "[a-z]{20}"),
    "a permutation of 20 letters": lambda: regex(
        "".join(f"(?!.*{c}.*{c})" for c in "abcdefghijklmnopqrst") + "[a-t]{20}"
    ),
    "250 nested counters": lambda: regex("(" * 249 + "a" + "{1,2})" * 249),
    "200 nested counters with letters": lambda: regex("(" * 200 + "a" + "b?){1,2}" * 200),
    "word boundaries in a counted loop": lambda: regex(r"(\b\w+\b\W*){1,500}"),
    "turns that share their ends": lambda: (regex(r"(?:(?:.*(?<!ab)) ?){4,20}x") - literal("aa")) & regex(".{0,5}"),
    "lookaheads in a counted loop": lambda: regex("((?=a{1,500}b)a|b){1,500}"),
    "a pattern of ten million characters": lambda: regex("ab" * 5_000_000),
    "1,600 members that need the next one": lambda: json_schema(
        members(1600, dependentRequired={f"m{i}": [f"m{i + 1}"] for i in range(1599)})
    ),
    "1,600 members with schemas of the whole": lambda: json_schema(
        members(1600, dependentSchemas={f"m{i}": {"required": [f"m{i + 1}"]} for i in range(1599)})
    ),
    "exactly one of 1,600 members": lambda: json_schema(
        members(1600, oneOf=[{"required": [f"m{i}"]} for i in range(1600)])
    ),
    "1,000 conditions": lambda: json_schema(members(2, allOf=conditions(1000))),
    "1,000 conditions, in any order": lambda: json_schema(members(2, allOf=conditions(1000)), key_order="any"),
    "1,000 patterns of keys": lambda: json_schema({"patternProperties": {f"m{i}": {"const": i} for i in range(1000)}}),
    "not one of 1,000 words": lambda: json_schema(
        {"type": "string", "allOf": [{"not": {"pattern": f"m{i}"}} for i in range(1000)]}
    ),
    "the difference of huge counters": lambda: regex("(a|b?){0,4000000000}x") & ~regex("(a|b?){5,3000000000}x"),
}
CASES = RESULTS | EITHER
ERROR = re.compile(r"the limit [a-z_]+=[0-9.]+|: .*(; |move it|use )", re.DOTALL)


def run_case(name: str, vocabulary: tokamata.Vocabulary) -> Iterator[tuple[str, object]]:
    """Name and processor time of each stage, then "error" and its text when there was one."""
    start = time.thread_time()

    def lap() -> float:
        nonlocal start
        start, before = time.thread_time(), start
        return start - before

    try:
        constraint = CASES[name]()
        yield "build", lap()
        state = tokamata.compile(constraint, vocabulary).start()
        yield "compile", lap()
        mask = state.mask()
        yield "mask", lap()
        rng = random.Random(0)
        for _ in range(50):
            bits = np.unpackbits(mask.view(np.uint8), bitorder="little")
            bits[vocabulary.eos_token_ids] = 0
            if not bits.any():
                break
            token = int(rng.choice(np.flatnonzero(bits)))
            lap()
            before = state.num_tokens
            try:
                state.advance(token)
                mask = state.mask()
            except tokamata.LimitError:
                assert state.num_tokens - before in (0, 1)
                raise
            yield "step", lap()
    except (tokamata.LimitError, tokamata.UnsupportedError) as error:
        yield "error stage", lap()
        yield "error", f"{type(error).__name__}: {error}"


def main() -> None:
    """The child: prints a JSON object for each case, with the slowest of its steps."""
    vocabulary = tokamata.Vocabulary.load(sys.argv[1])
    tokamata.compile(regex(".*"), vocabulary).start().mask()
    for name in CASES:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, -1))
        result: dict[str, object] = {"name": name, "steps": 0}
        try:
            for stage, value in run_case(name, vocabulary):
                if stage == "step" and isinstance(value, float):
                    result["steps"] = int(str(result["steps"])) + 1
                    value = max(value, float(str(result.get("step", 0))))
                result[stage] = value
        except MemoryError:
            result["memory"] = "exhausted"
        print(json.dumps(result), flush=True)


@functools.lru_cache(maxsize=1)
def results() -> dict[str, dict[str, object]]:
    import tempfile

    from oracle.packages import vocabulary_file

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "qwen.fst"
        tokamata.Vocabulary.from_file(vocabulary_file("qwen")).save(path)
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                [sys.executable, __file__, str(path)], capture_output=True, text=True, timeout=WALL, check=False
            )
            assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["name"]: line for line in lines}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc to bound the address space")
@pytest.mark.parametrize("name", CASES)
def test_hostile(name: str) -> None:
    found = results().get(name)
    assert found is not None, "the child process did not come so far"
    assert "memory" not in found, f"{name}: more than {MEMORY >> 20} MiB"
    for stage in ("build", "compile", "mask", "step", "error stage"):
        assert float(str(found.get(stage, 0))) < SECONDS, f"{name}: {stage} took {found[stage]} s"
    if "error" in found:
        assert name in EITHER, f"{name}: {found['error']}"
        assert ERROR.search(str(found["error"])), found["error"]
    else:
        assert found["steps"], name


def test_long_texts_are_read() -> None:
    """Reading a text keeps neither a row for each byte nor the expressions on the way."""
    constraint = literal("x" * 1_000_000)
    assert constraint.accepts("x" * 1_000_000)
    assert not constraint.accepts("x" * 999_999)
    assert constraint.accepts_prefix("x" * 999_999)
    assert constraint.viable_prefix("x" * 999_999 + "y") == 999_999
    assert constraint._native.memory_bytes() < 400e6
    text = "".join(random.Random(0).choices("ab", k=300_000))
    many = regex("([ab]*a[ab]{12})*c")
    assert many.accepts_prefix(text)
    assert many.accepts(text + "a" * 13 + "c")
    assert not many.accepts(text + "a" * 13)


def test_what_is_nested_too_deep_is_refused_soon() -> None:
    """A pool that what is open fills nearly is not copied for a few bytes each."""
    value = tokamata.json_value(limits=tokamata.Limits(expression_nodes=400_000, states=20_000))
    start = time.thread_time()
    assert value.accepts("[" * 100_000 + "]" * 100_000)
    with pytest.raises(tokamata.LimitError, match=r"the limit expression_nodes=400000 was reached"):
        value.accepts("[" * 200_000 + "]" * 200_000)
    assert time.thread_time() - start < 4


def test_many_values_that_may_be_left_out() -> None:
    """One after another, each of which may be what comes first."""
    one = tokamata.json_schema({"type": "array"})
    other = tokamata.json_schema({"type": ["array", "null"]})

    def chain(value: tokamata.Constraint, n: int) -> tokamata.Constraint:
        text = tokamata.regex("1")
        for _ in range(n):
            text = value.repeat(0, 1) + text
        return text

    assert (chain(one, 30) - chain(other, 30)).is_empty()
    with contextlib.suppress(tokamata.LimitError):
        assert (chain(one, 60_000) - chain(other, 60_000)).is_empty()


def test_time_is_limited_and_said() -> None:
    pattern = "(?!(.*a.{30}))(.*b.{30})"
    vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), None], eos_token_ids=[256])
    limits = tokamata.Limits(seconds=0.05, emptiness=10**7)
    state = tokamata.compile("x" + regex(pattern) | regex("y[a-z]*"), vocabulary, limits=limits).start()
    state.advance(ord("x"))
    start = time.thread_time()
    with pytest.raises(tokamata.LimitError, match=r"the limit seconds=0\.05 was reached .*tokamata\.Limits\(seconds="):
        for _ in range(100):
            state.mask()
            state.advance(ord("a"))
    assert time.thread_time() - start < 3
    state.reset()
    state.advance(ord("y"))
    assert state.is_final
    assert np.flatnonzero(np.unpackbits(state.mask().view(np.uint8), bitorder="little")).tolist() == [
        *range(97, 123),
        256,
    ]
    with pytest.raises(tokamata.LimitError, match=r"minimize: the limit search_seconds=0\.1 was reached"):
        regex("(a|b)*a(a|b){30}", limits=tokamata.Limits(search_seconds=0.1, states=10**6)).minimize()
    with pytest.raises(tokamata.LimitError, match=r"sample: the limit count_bytes=100000 was reached"):
        regex("[a-z]*", limits=tokamata.Limits(count_bytes=100_000)).sample(1, 5000)
    with pytest.raises(tokamata.LimitError, match=r"sample: the limit count_bytes=100000 .* shorter or fewer texts"):
        regex("ab?", limits=tokamata.Limits(count_bytes=100_000)).sample(2**31, 2)
    with pytest.raises(tokamata.LimitError, match=r"the limit expression_nodes=1000 was reached"):
        literal("x" * 2000, limits=tokamata.Limits(expression_nodes=1000))
    with pytest.raises(tokamata.LimitError, match=r"the limit expression_nodes=1000 was reached"):
        regex("|".join(f"{i:b}[23]" for i in range(2000)), limits=tokamata.Limits(expression_nodes=1000))
    schema = {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#"}, "maxItems": 2}]}
    rules = f'start: J "x"\nJ: K - /.*1.*/\nK: %json {json.dumps(schema)}\n'
    lists = tokamata.grammar(rules, lexer="contextual") - regex("(?s:.*true.*)")
    brackets = tokamata.Vocabulary([b"[", b"]", None], eos_token_ids=[2])
    with pytest.raises(tokamata.LimitError, match=r"compile: the limit seconds=0\.1 was reached"):
        tokamata.compile(lists, brackets, limits=tokamata.Limits(seconds=0.1))


if __name__ == "__main__":
    main()

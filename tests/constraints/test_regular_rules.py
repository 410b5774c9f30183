"""Rules that are regular, as terminals of grammars without a lexer, and counters where repetitions were written out."""

from __future__ import annotations

import itertools
import random
import re

import numpy as np
import pytest
import regex
from oracle.packages import vocabulary_file
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.gbnf_source import read_gbnf
from tokamata.constraints.grammar import language_of, read_grammar
from tokamata.constraints.grammar_source import Place
from tokamata.constraints.part import Part, counted

import tokamata

CHARACTER = r"""char ::= [^"\\\x7F\x00-\x1F] | [\\] (["\\bfnrt] | "u" [0-9a-fA-F]{4})
"""


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (r"root ::= ([ \t\n] root)?", r"[ \t\n]*"),
        ('root ::= "a" | "a" root', "a+"),
        ('root ::= root "," item | item\nitem ::= [0-9]+', "[0-9]+(,[0-9]+)*"),
        ('root ::= "(" list ")"\nlist ::= item | item "," list\nitem ::= "a" | "b" item?', r"\((a|b+a?)(,(a|b+a?))*\)"),
        ('root ::= ("x" | "y" root | "z" (root)?)', "([yz])*(x|z)|z"),
        ('root ::= root | "a"', "a"),
        ('root ::= ("a" root | ) | "b" ("c" root)?', "(a|bc)*b?"),
        ("root ::= word{2,3}\nword ::= letter (letter (letter)?)?\nletter ::= [a-z]", "([a-z]{1,3}){2,3}"),
        ('root ::= ("a" "a")? ("a" | "b") ("a" "b")', "(aa)?(a|b)ab"),
        ('root ::= a b\na ::= b{0,2}\nb ::= "x" | "yy"', "(x|yy){1,3}"),
    ],
)
def test_regular_rules_are_regular_constraints(text: str, pattern: str) -> None:
    for syntax in ("gbnf", "ebnf") if "{" not in text and "\\" not in text else ("gbnf",):
        grammar = tokamata.grammar(text, syntax=syntax)
        assert grammar.equivalent(tokamata.regex(pattern)), syntax
        grammar.count(3)  # of regular constraints only


@pytest.mark.parametrize(
    ("text", "members", "others"),
    [
        ('root ::= "x" root "y" | ""', ["", "xy", "xxyy"], ["x", "xxy", "yx"]),
        ('root ::= root "y" | "x" root | "z"', ["z", "xzy", "xxzyyy"], ["", "xy", "zx"]),
        ('root ::= (root "a")* "b"', ["b", "bab", "bababab", "babab"], ["", "ab", "ba", "bb"]),
        ('root ::= "a" (root | "b")*', ["a", "abb", "abab", "aab"], ["", "b", "ba"]),
        ('root ::= a\na ::= "1" b | ""\nb ::= "2" a', ["", "12", "1212"], ["1", "21"]),
    ],
)
def test_other_rules_stay_what_they_are(text: str, members: list[str], others: list[str]) -> None:
    grammar = tokamata.grammar(text, syntax="ebnf")
    assert [t for t in members if not grammar.accepts(t)] == []
    assert [t for t in others if grammar.accepts(t)] == []


@pytest.mark.parametrize(
    ("repeated", "pattern"),
    [
        ('("a" | root)*', "(?:a|(?&r))*"),
        ('("a" | root)+', "(?:a|(?&r))+"),
        ('("a" | root | "b" root | "ab")+', "(?:a|(?&r)|b(?&r)|ab)+"),
        ('("" | "a" | root "b")+', "(?:|a|(?&r)b)*"),
        ('(root | "a" | ("b" | root "a")*)*', "(?:(?&r)|a|(?:b|(?&r)a)*)*"),
        ('("a" | root){2,}', "(?:a|(?&r)){2,}"),
        ('("a" | root){0,2}', "(?:a|(?&r)){0,2}"),
    ],
)
def test_what_is_regular_in_a_repetition_is_read_in_runs(repeated: str, pattern: str) -> None:
    grammar = tokamata.grammar(f'root ::= "(" {repeated} ")"', syntax="gbnf")
    members = regex.compile(rf"(?P<r>\({pattern}\))")
    seen = set()
    for length in range(9):
        for letters in itertools.product("()ab", repeat=length):
            text = "".join(letters)
            if text.count("(") == text.count(")"):
                seen.add(member := members.fullmatch(text) is not None)
                assert grammar.accepts(text) == member, text
    assert seen == {False, True}


def test_deep_repetitions_are_read_once() -> None:
    for sign in "*+":
        text = "root"
        for _ in range(60):
            text = f'("a" | "(" {text} ")"){sign}'
        assert tokamata.grammar(f"root ::= {text}", syntax="gbnf").accepts("a(a(a)a)a")


WORD = "id ::= [A-Za-z_] [0-9A-Za-z_-]* ws\nws ::= [ \\t\\r\\n]*\n"


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ('root ::= ws (id "=" ws e)*\ne ::= id | "(" ws e ")" ws\n' + WORD, ["", "a =", "a = b", "a = (b"]),
        ('root ::= id | "(" ws (root ws)* ")"\n' + WORD, ["(", "(a", "(a b"]),
        (
            'root ::= id (id | s)* ";"\ns ::= "\\"" ("${" ws root "}" | [^"$])* "\\"" ws\n' + WORD,
            ["a", 'a "b', 'a "${x'],
        ),
        ('root ::= "\\"" ([^"{}] | "{" e "}")* "\\""\ne ::= [a-z]+ | root | "(" e ")"', ['"', '"a{', '"a{(b']),
        ('root ::= "(" w r w r w ")"\nw ::= [a-z] [a-z]?\nr ::= ("<" r ">")?', ["(", "(a", "(ab<"]),
    ],
)
def test_masks_where_words_need_nothing_between_them(text: str, before: list[str]) -> None:
    vocabulary = tokamata.Vocabulary.from_file(vocabulary_file("qwen"))
    automaton = tokamata.compile(tokamata.grammar(text, syntax="gbnf"), vocabulary)
    token_of = {vocabulary.token_bytes(t): t for t in range(len(vocabulary) - 1, -1, -1)}
    for prefix in before:
        state = automaton.start()
        for byte in prefix.encode():
            state.advance(token_of[bytes([byte])])
        row = np.zeros((1, automaton.words), np.int32)
        state.fill_mask(row)
        mask = np.unpackbits(row.view(np.uint8), bitorder="little")[: len(vocabulary)].astype(bool)
        assert 0 < mask.sum() < len(vocabulary)
        assert np.flatnonzero(mask != [state.allows(t) for t in range(len(vocabulary))]).tolist() == []


def test_the_report_is_about_the_rules_as_written() -> None:
    entries = tokamata.grammar('root ::= a\na ::= "x" | "x" b\nb ::= "y"\nc ::= "z"', syntax="gbnf").report
    assert [(entry.subject, entry.place) for entry in entries if "unreachable" in entry.detail] == [
        ("c", "line 4, column 1")
    ]
    with pytest.raises(tokamata.ConstraintError, match="deterministic"):
        tokamata.grammar('root ::= a | b\na ::= "x" b\nb ::= "x" b | "y"', syntax="gbnf", strict=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("root ::= a\na ::= a", "line 1, column 1: the start rule root has no text"),
        ('root ::= "a" - "a"', "no text"),
    ],
)
def test_grammars_without_text_are_refused(text: str, message: str) -> None:
    with pytest.raises(tokamata.ConstraintError, match=message):
        tokamata.grammar(text, syntax="ebnf")


def test_limits_hold_for_regular_grammars() -> None:
    text = 'root ::= ("a" | "b")* w\nw ::= "a" ("a" | "b"){12}'
    few = tokamata.grammar(text, syntax="gbnf", limits=tokamata.Limits(states=10))
    with pytest.raises(tokamata.LimitError, match="states=10"):
        few.minimize()


@pytest.mark.parametrize(
    ("body", "pattern"),
    [
        ('"b" "b" pair "a"?', "bbPa?"),
        ('"b" ("b" "b"?)? pair "a"? pair "b" "b"*', "b{1,3}Pa?Pb+"),
        ('[ab] [ab] pair [ab]? pair ("b" "b")? "a" "a" "a"', "[ab]{2}P[ab]?P(bb)?aaa"),
    ],
)
def test_repetitions_around_calls_are_their_own(body: str, pattern: str) -> None:
    oracle = regex.compile(pattern.replace("P", "(?:(?&pair))") + r"(?(DEFINE)(?P<pair>c|\((?&pair)\)))")
    source = read_gbnf(f'root ::= {body}\npair ::= "c" | "(" pair ")"')
    seed = 11
    rng = random.Random(seed)
    made, written = Constraint(language_of(source)), Constraint(language_of(source.written()))
    candidates = ["".join(rng.choices(["a", "b", "b", "c", "(c)"], k=rng.randrange(3, 8))).encode() for _ in range(300)]
    candidates += [*made.examples(50, seed=seed), *written.examples(50, seed=seed)]
    found = [oracle.fullmatch(candidate.decode()) is not None for candidate in candidates]
    for candidate, expected in zip(candidates, found, strict=True):
        assert made.accepts(candidate) == expected, (seed, body, candidate)
        assert written.accepts(candidate) == expected, (seed, body, candidate)
    assert min(found.count(True), found.count(False)) >= 30


# ---- random grammars
def random_body(rng: random.Random, rules: int, depth: int) -> str:
    """A part of a right-hand side in GBNF; calls come rarely in the middle, so many rules are regular."""
    kind = rng.choice(["letter", "letter", "class", "rule", "row", "row", "or", "times"]) if depth else "letter"
    if kind == "letter":
        return rng.choice(['"a"', '"b"', '"ab"'])
    if kind == "class":
        return rng.choice(["[ab]", "[^a]", "[b-c]"])
    if kind == "rule":
        return f"r{rng.randrange(rules)}"
    inner = random_body(rng, rules, depth - 1)
    if kind == "times":
        return f"({inner}){rng.choice(['?', '*', '+', '{2}', '{1,3}'])}"
    other = inner if rng.random() < 0.4 else random_body(rng, rules, depth - 1)
    if kind == "or":
        return f"({inner} | {other})"
    call = f"r{rng.randrange(rules)}"
    forms = [f"{inner} {other}", f"{inner} ({other})?", f"{inner} ({inner} ({other})?)?"]
    return rng.choice([*forms, f"{inner} {inner} {call} ({other})?"])


def random_grammar(rng: random.Random) -> str:
    rules = rng.randrange(1, 5)
    lines = ["root ::= r0"]
    lines += [f"r{r} ::= " + " | ".join(random_body(rng, rules, 3) for _ in range(2)) for r in range(rules)]
    return "\n".join(lines)


def compare(seed: int) -> tuple[int, int]:
    """One grammar with its rules as written and as they are compiled: how many texts are members, and how many not."""
    rng = random.Random(seed)
    text = random_grammar(rng)
    source = read_gbnf(text)
    try:
        written = Constraint(language_of(source.written()))
    except tokamata.ConstraintError:  # no text
        with pytest.raises(tokamata.ConstraintError):
            language_of(source)
        return 0, 0
    made = Constraint(language_of(source))
    found = {False: 0, True: 0}
    candidates = ["".join(rng.choices("abc", k=rng.randrange(8))).encode() for _ in range(40)]
    for constraint in (written, made):
        for member in constraint.examples(6, seed=seed):
            i = rng.randrange(len(member) + 1)
            candidates += [member, member[:i] + rng.choice([b"a", b"b", b""]) + member[i + 1 :]]
    for candidate in candidates:
        accepted = written.accepts(candidate)
        assert made.accepts(candidate) == accepted, (seed, text, candidate)
        assert made.accepts_prefix(candidate) == written.accepts_prefix(candidate), (seed, text, candidate)
        found[accepted] += 1
    return found[True], found[False]


def compare_many(count: int) -> None:
    seed = random.randrange(10**9)
    print("seed", seed)
    found = [compare(seed + i) for i in range(count)]
    assert sum(members for members, _ in found) > 4 * count
    assert sum(others for _, others in found) > 4 * count


def test_random_grammars_are_the_same_either_way() -> None:
    compare_many(150)


@pytest.mark.slow
def test_many_random_grammars_are_the_same_either_way() -> None:
    compare_many(3000)


# ---- counters
PLACE = Place(1, 1)


def random_part(rng: random.Random, depth: int) -> tuple[Part, str]:
    """A part as its parser makes it, each level counted, and the regular expression of what was written."""
    kind = rng.choice(["letter", "row", "row", "times", "or"]) if depth else "letter"
    if kind == "letter":
        letter = rng.choice("ab")
        return Part("terminal", letter, PLACE), letter
    made = [random_part(rng, depth - 1) for _ in range(rng.randrange(1, 4))]
    if rng.random() < 0.5:
        made += [made[-1], made[-1]]
    parts, patterns = tuple(part for part, _ in made), [pattern for _, pattern in made]
    if kind == "row":
        return counted(Part("sequence", "row", PLACE, parts)), "(?:" + "".join(patterns) + ")"
    if kind == "or":
        return counted(Part("choice", "or", PLACE, parts)), "(?:" + "|".join(patterns) + ")"
    low, high = rng.choice([(0, 1), (0, 1), (0, None), (1, None), (1, 2), (2, 2)])
    part = counted(Part("repeat", "times", PLACE, parts[:1], low=low, high=high))
    return part, f"(?:{patterns[0]}){{{low},{'' if high is None else high}}}"


def pattern_of(part: Part) -> str:
    if part.kind == "terminal":
        return part.text
    inner = [pattern_of(p) for p in part.parts]
    if part.kind == "repeat":
        return f"(?:{inner[0]}){{{part.low},{'' if part.high is None else part.high}}}"
    return "(?:" + ("|" if part.kind == "choice" else "").join(inner) + ")"


def test_counted_parts_have_the_same_texts() -> None:
    seed = random.randrange(10**9)
    print("seed", seed)
    texts = ["".join(letters) for n in range(8) for letters in itertools.product("ab", repeat=n)]
    different = 0
    for i in range(250):
        part, written = random_part(random.Random(seed + i), 3)
        made = pattern_of(part)
        different += made.count("{") > written.count("{")
        old, new = re.compile(written), re.compile(made)
        assert all(bool(old.fullmatch(t)) == bool(new.fullmatch(t)) for t in texts), (seed + i, written, made)
    assert different > 20


def test_unrolled_bounds_are_counters() -> None:
    grammar = 'root ::= "<" char char (char (char (char)?)?)? ">"\n' + CHARACTER
    unrolled = tokamata.grammar(grammar, syntax="gbnf")
    assert unrolled.equivalent(
        tokamata.grammar(grammar.replace("char char (char (char (char)?)?)?", "char{2,5}"), "gbnf")
    )
    assert len(read_gbnf(grammar).productions) == 1
    assert len(read_grammar(grammar, "gbnf").productions) > 4
    deep = 'root ::= "<" ' + "(char " * 3000 + ")?" * 3000 + ' ">"\n' + CHARACTER
    assert tokamata.grammar(deep, syntax="gbnf").equivalent(
        tokamata.grammar('root ::= "<" char{0,3000} ">"\n' + CHARACTER, syntax="gbnf")
    )


def test_masks_of_strings_are_those_of_the_regular_expression() -> None:
    vocabulary = tokamata.Vocabulary.from_file(vocabulary_file("qwen"))
    grammar = tokamata.grammar('root ::= "[" root? "]" | "\\"" char{1,9} "\\""\n' + CHARACTER, syntax="gbnf")
    string = tokamata.regex(r'"([^"\\\x7F\x00-\x1F]|\\(["\\bfnrt]|u[0-9a-fA-F]{4})){1,9}"')
    made = tokamata.compile(grammar, vocabulary).start()
    wanted = tokamata.compile(string, vocabulary).start()
    for byte in b'"a\\u00e9b\xc3\xa9"':
        token = next(t for t in range(len(vocabulary)) if vocabulary.token_bytes(t) == bytes([byte]))
        made.advance(token)
        wanted.advance(token)
        assert np.array_equal(made.mask(), wanted.mask())

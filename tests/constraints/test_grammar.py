"""grammar: membership against recognition by the book, dead ends, longest match, limits."""

from __future__ import annotations

import itertools
import random
import re
import time

import pytest
from oracle.native_grammar import build
from oracle.productions import (
    GUARDED,
    PATTERNS,
    contextual_match,
    derives_terminals,
    derives_text,
    longest_match,
    productive,
    random_productions,
)
from tokamata.constraints.grammar import read_grammar
from tokamata.constraints.grammar_source import GrammarSyntax

import tokamata


def _texts(alphabet: str, longest: int) -> list[str]:
    return ["".join(t) for n in range(longest + 1) for t in itertools.product(alphabet, repeat=n)]


SHADOWING = [("[ab]", "a"), ("a+", "aa"), ("b*a", "ba"), ("[ab]+", "ab"), ("a*c", "c"), ("a?b", "b"), ("cc?", "c")]


def _check(seed: int, kind: str, longest: int = 5) -> int:
    """One random grammar against the oracle on all short texts; returns how many texts were compared."""
    rng = random.Random(f"{seed} {kind}")
    lexer = {"scannerless": "none", "contextual": "contextual", "shadowed": "contextual"}.get(kind, "basic")
    if kind == "guarded":
        lexer = rng.choice(["basic", "contextual"])
    count = rng.randint(1, 3)
    patterns = ["a", "b", "c"][:count] if kind == "characters" else [rng.choice(PATTERNS) for _ in range(count)]
    rules, productions = random_productions(rng, count)
    if kind == "shadowed":  # an earlier terminal takes all lexemes of a later one where both compete
        patterns = [*rng.choice(SHADOWING), *patterns[: rng.randint(0, 1)]]
        count = len(patterns)
        rules, productions = random_productions(rng, count)
    if kind == "guarded":
        for i in range(count):
            if i == 0 or rng.random() < 0.5:
                patterns[i] = rng.choice(GUARDED)
        rng.shuffle(patterns)
    ignored: list[int] = []
    if kind == "guarded" and rng.random() < 0.5:
        patterns.append(rng.choice([" ", " +", " (?!b)", "c(?= )", "c"]))
        ignored = [count]
    if kind in ("ignored", "shadowed") or (kind == "contextual" and rng.random() < 0.4):
        patterns.append(rng.choice([" ", " +", "c", "c ?"]))
        ignored = [count]
    compiled = [re.compile(p) for p in patterns]
    alphabet = "abc " if ignored else "abc"
    texts = _texts(alphabet, longest)
    kept = productive(productions, set(range(count)))

    def is_member(text: str) -> bool:
        if lexer == "contextual":
            return contextual_match(kept, compiled, ignored, text)
        if kind == "scannerless":
            return derives_text(productions, compiled, text)
        lexemes = longest_match(compiled, text)
        return lexemes is not None and derives_terminals(productions, [t for t in lexemes if t not in ignored])

    members = {t for t in texts if is_member(t)}
    where = f"seed={seed} kind={kind} patterns={patterns} productions={productions}"
    try:
        constraint = build(patterns, rules, productions, ignored, lexer)
    except tokamata.ConstraintError:
        assert not members, where
        return len(texts)
    if constraint.is_empty():
        assert not members, where
        return len(texts)
    assert {t for t in texts if constraint.accepts(t)} == members, where
    viable = {t for t in texts if constraint.accepts_prefix(t)}
    assert {m[:n] for m in members for n in range(len(m) + 1)} <= viable, where
    beyond = sorted(viable - {m[:n] for m in members for n in range(len(m) + 1)}, key=len)
    for text in beyond[:3]:
        found = (constraint & tokamata.regex(re.escape(text) + f"[{alphabet}]*")).examples(1)
        assert found, f"{where} dead end after {text!r}"
        assert is_member(found[0].decode()), f"{where} completes {text!r} by {found[0]!r}"
    return len(texts)


KINDS = ["characters", "overlapping", "ignored", "scannerless", "contextual", "shadowed", "guarded"]
LONG = (16, 22, 34)  # seeds of grammars that take the oracle seconds without a lexer


@pytest.mark.parametrize("kind", KINDS)
def test_random_grammars_agree_with_the_oracle(kind: str) -> None:
    undecided = 0
    for seed in range(24):
        if seed in LONG:
            continue
        try:
            _check(seed, kind)
        except tokamata.LimitError:
            undecided += 1
    assert undecided <= (1 if kind == "shadowed" else 0)


def test_a_search_ends_where_the_other_ways_of_lexing_agree() -> None:
    _check(1536, "guarded")  # reached a limit where positions were searched to the end


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_random_grammars_agree_with_the_oracle(kind: str) -> None:
    compared = refused = 0
    for seed in (*range(40), *range(1000, 1300)):
        try:
            compared += _check(seed, kind)
        except tokamata.LimitError:  # with contextual lexing not everything can be decided where rules are ambiguous
            refused += 1
    assert compared >= 20_000
    assert refused <= {"contextual": 9, "shadowed": 9, "guarded": 3}.get(kind, 0)


# ---------------------------------------------------------------------------------------------- lexing

FUNCTIONS = r"""
start: stmt*
stmt: "def" NAME "(" ")" ":" | NAME "=" NAME
NAME: /[^\W\d]\w*/
%ignore /[ \n]+/
"""


def test_a_keyword_is_never_a_name() -> None:
    """Willard and Louf (2023), section 4: after ``def f``, ``oo(`` goes on with the name."""
    constraint = tokamata.grammar(FUNCTIONS)
    assert constraint.accepts("def foo():")
    assert constraint.accepts_prefix("def f")
    assert constraint.accepts_prefix("def foo(")
    assert not constraint.accepts("def def():")
    assert not constraint.accepts_prefix("def def(")
    assert constraint.accepts("def define():")
    assert constraint.accepts("define = de")
    assert not constraint.accepts_prefix("deffoo():")  # one name
    assert constraint.accepts_prefix("deffoo =")


def test_longest_match_goes_back_to_the_last_lexeme() -> None:
    constraint = tokamata.grammar('start: INT ".." INT | FLOAT\nINT: /[0-9]+/\nFLOAT: /[0-9]+\\.[0-9]+/')
    for text in ["1..2", "12..345", "1.5"]:
        assert constraint.accepts(text)
    for text in ["1.", "1...2", "1.5..2"]:
        assert not constraint.accepts(text)
    assert constraint.accepts_prefix("1.")
    assert not constraint.accepts_prefix("1.5.")


def test_no_dead_end_where_terminals_run_into_each_other() -> None:
    # After a lexeme of A only "ab" may follow, and that continues A: there is no member at all that goes this way.
    constraint = tokamata.grammar('start: A "ab" | "b"\nA: /a+/')
    assert constraint.accepts("b")
    assert not constraint.accepts_prefix("a")
    spaced = tokamata.grammar('start: A "ab" | "b"\nA: /a+/\n%ignore " "')
    assert spaced.accepts("a ab")
    assert not spaced.accepts("aab")


def test_a_comment_where_nothing_may_end_it_is_a_dead_end() -> None:
    source = 'start: "x" "+" "x" NL\nNL: /\\n/\n%ignore / +/\n%ignore /#[^\\n]*/'
    constraint = tokamata.grammar(source)
    assert constraint.accepts("x + x # done\n")
    assert not constraint.accepts_prefix("x + #")
    assert constraint.accepts_prefix("x + x #")


def test_contextual_lexing_lets_only_what_fits_compete() -> None:
    source = 'start: "a" WORD | "b" NUMBER\nWORD: /[a-z0-9]+/\nNUMBER: /[0-9]+/\n%ignore " "'
    contextual = tokamata.grammar(source, lexer="contextual")
    assert contextual.accepts("a 12x")
    assert contextual.accepts("b 12")
    assert contextual.accepts("a 12")
    assert contextual.accepts("b12")
    basic = tokamata.grammar(source)
    assert basic.accepts("a x12")
    assert not basic.accepts("b12")  # one WORD


EXPRESSIONS = r"""
start: sum ("," sum)*
sum: [sum ("+" | "-" | "*" | "/" | "<" | "<=" | "&&")] item
item: NAME | WORD | INT | UINT | FLOAT | TEXT | LONG | BYTES | item "." NAME | item "[" sum "]" | item "(" [sum] ")"
WORD: "true" | "false" | "null"
NAME: /[a-z_][a-z_0-9]*/
INT: /-?/ /0x/ /[0-9a-f]+/ | /-?/ /[0-9]+/
UINT: INT /[uU]/
FLOAT: /-?[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?/ | /-?[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?/ | /-?[0-9]+[eE][+-]?[0-9]+/
TEXT: /[rR]?"(\\[a-z]|.)*?"/ | /[rR]?'(\\[a-z]|.)*?'/
LONG: /[rR]?"{3}(\\[a-z]|\n|.)*?"{3}/ | /[rR]?'{3}(\\[a-z]|\n|.)*?'{3}/
BYTES: /[bB]/ LONG | /[bB]/ TEXT
%ignore /[ \n]+/
%ignore /\/\/[^\n]*/
"""


def test_where_names_take_all_words_a_separator_is_found_for_the_others() -> None:
    constraint = tokamata.grammar(EXPRESSIONS, lexer="contextual", limits=tokamata.Limits(emptiness=1500))
    assert constraint.accepts('true.null + ""')
    assert constraint.accepts_prefix('f(""')
    assert not constraint.accepts_prefix('f("" """ ")')


def test_a_separator_may_go_on_with_terminals_that_are_not_wanted() -> None:
    # Blanks end most names, but after "abc" they begin the rest of an H, whose digit is wanted as a NUM.
    text = """start: T NUM | "!" H
        T: /[a-z][a-z0-9]*|[A-Z]+/
        H: /[a-z][a-z0-9]* +[0-9]/
        NUM: /[0-9]/
        %ignore / /"""
    for lexer in ("basic", "contextual"):
        constraint = tokamata.grammar(text, lexer=lexer)
        assert constraint.accepts("ABC  1")
        assert constraint.accepts("!abc 1")
        assert all(constraint.accepts(member) for member in constraint.examples(20, seed=1))
        assert constraint.accepts_prefix("abc") == constraint.accepts("abc 1") == (lexer == "contextual")


def test_dead_ends_of_contextual_lexing_are_decided_for_all_depths() -> None:
    # B only competes behind "(", where it takes every "a" that follows; so there A never occurs.
    source = 'start: "(" B start ")" | "[" start A "]" | "(" A | "x"\nA: /a/\nB: /a+b?/'
    constraint = tokamata.grammar(source, lexer="contextual")
    text = "(aab" * 200 + "[" * 200
    assert constraint.accepts_prefix(text + "x" + "a]" * 200)
    assert constraint.accepts(text + "x" + "a]" * 200 + ")" * 200)
    assert not constraint.accepts(text + "x" + "a]" * 200 + ")" * 199)
    assert (constraint & tokamata.regex(r"[(a\[]*")).is_empty()
    assert (constraint & tokamata.regex(r"[(\[]*x[\]a)]*b.*")).is_empty()
    assert (constraint & tokamata.regex(r"(\(aa)*x\)*")).accepts("(aa(aax))")
    # Behind an odd number of "y" the longer lexeme competes and never fits.
    ends = tokamata.grammar('start: "y" odd | A "z"\nodd: "y" start | AZ "w"\nA: /a/\nAZ: /az?/', lexer="contextual")
    assert ends.accepts("yyaz")
    assert not ends.accepts("yaz")
    assert ends.accepts("yyyazw")
    assert not ends.accepts_prefix("yyazw")


def test_contextual_lexing_takes_the_first_of_what_fits() -> None:
    # Where a text begins, both terminals fit, so "a" is a NAME, and then another one has to come, without end.
    constraint = tokamata.grammar(
        'start: NAME start | A\nNAME: /[a-z]+/\nA: /a+/\nother: "#" other\n%ignore /,/', lexer="contextual"
    )
    assert constraint.is_empty()
    assert not constraint.accepts_prefix("a")
    other = tokamata.grammar("start: NAME start | A\nNAME: /[b-z]+/\nA: /a+/\n%ignore /,/", lexer="contextual")
    assert other.accepts("b,c,,a")


# ---------------------------------------------------------------------------------------------- rules


@pytest.mark.parametrize(
    ("rules", "members", "others"),
    [
        ('start: start "a" | "b"', ["b", "ba", "baaa"], ["", "a", "ab"]),
        ('start: x "c" | "d"\nx: start "b" | "a"', ["d", "ac", "dbc", "acbc"], ["db", "abc", "c"]),
        ('start: e start "a" | "b"\ne: "x"?', ["b", "ba", "xba", "xxbaa"], ["xb", "bx"]),
        ('start: "x" start "y" | "xy"', ["xy", "xxyy", "xxxyyy"], ["xxy", "x", ""]),
        ('start: start start | "a" | "(" start ")"', ["a", "aa", "(a)a", "((a)(aa))"], ["", "()", "(a"]),
        ('start: a?\na: b | "x"\nb: a | b "y"', ["", "x", "xy", "xyy"], ["y", "yx"]),
    ],
)
def test_recursion_of_every_kind(rules: str, members: list[str], others: list[str]) -> None:
    constraint = tokamata.grammar(rules)
    for text in members:
        assert constraint.accepts(text), text
    for text in others:
        assert not constraint.accepts(text), text


def test_deep_nesting_is_linear_and_needs_no_call_stack() -> None:
    constraint = tokamata.grammar('start: "(" start? ")" | "[" start? "]"')
    text = "([" * 5_000 + "])" * 5_000
    assert constraint.accepts(text)
    assert not constraint.accepts(text[:-1])
    assert not constraint.accepts(text + ")")


def test_grammars_take_part_in_the_algebra() -> None:
    palindrome = tokamata.grammar('start: "a" start "a" | "b" start "b" | "c"')
    short = palindrome & tokamata.regex(".{0,5}")
    assert sorted(short.examples(100)) == sorted(
        t.encode()
        for t in _texts("abc", 5)
        if t == t[::-1] and t.count("c") == 1 and t[len(t) // 2] == "c" and len(t) % 2
    )
    assert (palindrome | "x").accepts("x")
    assert (palindrome + "!").accepts("aca!")
    assert not (palindrome - tokamata.literal("aca")).accepts("aca")
    assert palindrome.repeat(2, 2).accepts("acac")


@pytest.mark.parametrize("kind", ["characters", "overlapping", "ignored", "scannerless"])
def test_intersections_with_regular_languages_are_exact(kind: str) -> None:
    """Whether there is a common text is decided, also where stacks would grow without end."""
    empty = 0
    for seed in range(60):
        rng = random.Random(f"{seed} {kind} meet")
        count = rng.randint(1, 3)
        patterns = ["a", "b", "c"][:count] if kind == "characters" else [rng.choice(PATTERNS) for _ in range(count)]
        rules, productions = random_productions(rng, count)
        ignored = [count] if kind == "ignored" else []
        patterns += [rng.choice([" ", "c ?"])] if ignored else []
        try:
            constraint = build(patterns, rules, productions, ignored, "none" if kind == "scannerless" else "basic")
        except tokamata.ConstraintError:
            continue
        regular = tokamata.regex(rng.choice(["a*", "[ab]*c", "(..)*", "a.*b", "[^a]*", "b*a?b*", "(ab|c)*", ".*aa.*"]))
        both = constraint & regular
        members = [t for t in _texts("abc " if ignored else "abc", 5) if constraint.accepts(t) and regular.accepts(t)]
        where = f"seed={seed} patterns={patterns} productions={productions} {regular}"
        assert not (both.is_empty() and members), where
        empty += both.is_empty()
        if not both.is_empty():
            found = both.examples(1)
            assert found, where
            assert constraint.accepts(found[0]), where
            assert regular.accepts(found[0]), where
    assert empty > 3


def test_a_meet_that_is_empty_for_all_depths_is_decided() -> None:
    for lexer in ("basic", "contextual", "none"):
        balanced = tokamata.grammar('start: "(" start ")" | "x"', lexer=lexer)
        assert (balanced & tokamata.regex(r"[(]*x[)]*]")).is_empty()
        assert (balanced & tokamata.regex(r"[(]{3}x[)]{2}")).is_empty()
        assert (balanced & tokamata.regex(r"(\(\()*x(\)\))*\)")).is_empty()
        assert (balanced & tokamata.regex(r"\((\(\()*x(\)\))*\)")).accepts("(((x)))")
        assert (tokamata.literal("ab") + balanced & tokamata.regex(r"a[(x)]*")).is_empty()


def test_rules_never_see_what_is_ignored() -> None:
    constraint = tokamata.grammar('start: "a" SPACE "b" | "a" "c"\nSPACE: / +/\n%ignore SPACE')
    assert constraint.accepts(" a c")
    assert not constraint.accepts_prefix("a b")
    assert not constraint.accepts_prefix("a  b")
    with pytest.raises(tokamata.ConstraintError, match="the start rule start has no text"):
        tokamata.grammar('start: SPACE "b"\nSPACE: / +/\n%ignore SPACE')


def test_ignored_terminals_need_a_lexer() -> None:
    with pytest.raises(tokamata.UnsupportedError, match=r"line 2, column \d+: %ignore .* needs a lexer"):
        tokamata.grammar('start: "a" start "b" | "x"\n%ignore " "', lexer="none")


def test_ambiguity_without_a_lexer_costs_little() -> None:
    palindromes = tokamata.grammar('start: "a" start "a" | "b" start "b" |', lexer="none")
    half = "".join(random.Random(3).choice("ab") for _ in range(300))
    assert palindromes.accepts(half + half[::-1])
    assert not palindromes.accepts(half + half[::-1] + "b")
    thrice = tokamata.grammar('start: start start start "b" | start "b" "b" | start "b" | "a"', lexer="none")
    assert thrice.accepts("a" * 99 + "b" * 49)
    assert thrice.accepts("a" * 99 + "b" * 200)
    assert not thrice.accepts("a" * 98 + "b" * 48)


def test_what_has_no_text_is_refused() -> None:
    with pytest.raises(
        tokamata.ConstraintError, match="the start rule start has no text: every alternative needs a rule"
    ):
        tokamata.grammar('start: "a" start')


def test_runaway_ambiguity_names_the_limit_and_the_rules() -> None:
    limits = tokamata.Limits(expression_nodes=500)
    constraint = tokamata.grammar(
        'start: x y z | x\nx: "a" x "b"? | "a"\ny: "a" y "b" | "a"\nz: z y | x', limits=limits
    )
    with pytest.raises(tokamata.LimitError, match="expression_nodes=500 was reached at the rules x, y"):
        constraint.accepts("a" * 400)


def test_many_rules_with_a_literal_each() -> None:
    """One rule calls all of them; putting them into it one by one would take quadratic time, 5 s of them."""
    n = 8000
    rules = [f'r{i}: "k{i}x" A?' for i in range(n)]
    text = "start: " + " | ".join(f"r{i}" for i in range(n)) + "\n" + "\n".join(rules) + "\nA: /[0-9]+/"
    constraint = tokamata.grammar(text, limits=tokamata.Limits(seconds=3))
    assert constraint.accepts("k7999x12")
    assert not constraint.accepts("k8000x12")


def test_unknown_options_are_named() -> None:
    with pytest.raises(
        ValueError, match='expected syntax "lark", "gbnf" or "ebnf", got "yacc"'.replace('"yacc"', "'yacc'")
    ):
        tokamata.grammar("start: x", syntax="yacc")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='expected lexer "basic", "contextual" or "none"'):
        tokamata.grammar('start: "x"', lexer="fast")  # type: ignore[arg-type]


def test_examples_where_walks_end_far_from_any_member() -> None:
    text = """
        start: TA r3 TA | TC
        r0: start | TD r2 r2
        r1: TA TA
        r2: r0 | TC r0 TB | TA TA r1
        r3: r2 r1 r0 | r2 r1
        TA: /a(ba)*/
        TB: /(aa)+/
        TC.1: /a?b/
        TD.1: /b|ab/
    """
    constraint = tokamata.grammar(text, lexer="contextual")
    found = constraint.examples(6)
    assert len(set(found)) == 6
    assert all(constraint.accepts(member) for member in found)


@pytest.mark.parametrize("nodes", [100_000, pytest.param(2_000_000, marks=pytest.mark.slow)])
def test_examples_where_the_search_for_an_end_takes_much_memory(nodes: int) -> None:
    """Each step of the search adds tens of thousands of sets of stacks: walks that do not end soon are cut.

    Of the first limit what is reached, of the second a part of that.
    """
    text = 'root ::= ([a-z] x | x?) (x x x)+\nx ::= root+ | [ab] | "aa"\n'
    begun = time.process_time()
    constraint = tokamata.grammar(text, syntax="gbnf", limits=tokamata.Limits(expression_nodes=nodes))
    found = constraint.examples(2, seed=0)
    assert len(set(found)) == 2
    assert all(constraint.accepts(member) for member in found)
    assert time.process_time() - begun < 30


def test_grammars_are_texts_or_their_bytes() -> None:
    assert tokamata.grammar('start: "é"+'.encode()).accepts("éé")
    assert read_grammar(b'root ::= "a"', syntax="gbnf").lexer == "none"
    with pytest.raises(tokamata.ConstraintError, match="line 2, column 8: expected UTF-8, got the byte 0xff; mend"):
        tokamata.grammar('start: "é"\n  | "é'.encode() + b'b\xff"')
    with pytest.raises(TypeError, match="expected the grammar as str or bytes, got int; read the file first"):
        tokamata.grammar(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("lark", 'start: "a" start | "b"\n'),
        ("lark", '// lexer: none\nstart: A start | "b"\nA: "a" & /a|b/\n'),
        ("gbnf", 'root ::= "a" root | "b"\n'),
        ("ebnf", "root ::= 'a' root | 'b'\n"),
    ],
)
def test_a_byte_order_mark_is_skipped(syntax: GrammarSyntax, text: str) -> None:
    plain, marked = (tokamata.grammar(mark + text, syntax=syntax) for mark in ("", "\ufeff"))
    assert marked.accepts("ab")
    assert not marked.accepts("\ufeffab")
    assert marked.report == plain.report
    with pytest.raises(tokamata.ConstraintError):
        tokamata.grammar("\ufeff\ufeff" + text, syntax=syntax)


MANY = 2000


@pytest.mark.parametrize(
    ("syntax", "text", "message"),
    [
        ("ebnf", "S ::= #x" + "F" * MANY, r"line 1, column 7: #xF+ \.\.\. F+ is not a character; use #x0"),
        ("ebnf", "S ::= [b-a" + "x" * MANY + "]", r"\[b-ax+ \.\.\. x+\] has a range that ends before it begins; swap"),
        ("gbnf", "root ::= " + "a" * MANY, r"line 1, column 10: rule a+ \.\.\. a+ is .*"),
        ("gbnf", "root ::= <[" + "a" * MANY + "]>", r"got <\[a+ \.\.\. a+\]>; write digits"),
        (
            "gbnf",
            'root ::= "a"\n{' + " " * MANY + "}",
            r"line 2, column 1: expected a rule .* got '{  +\.\.\.  +}': the",
        ),
        (
            "gbnf",
            f'root ::= "a" {"x" * MANY} root\n{"x" * MANY} ::= root',
            r"root has no text: .* x+ \.\.\. x+ ",
        ),
        ("gbnf", "r" * MANY + ' ::= "a"', r"no rule 'root' to start from; the rules are r+ \.\.\. r+; pass"),
        ("gbnf", "root ::= [z-a" + " b" * 10 * MANY + "]", r"\[z-a b .* \.\.\. .* b\] has a range"),
        ("lark", "start: " + "a" * MANY, r"line 1, column 8: rule 'a+ \.\.\. a+"),
        ("lark", "%import " + "a" * MANY + ".B\nstart: B", r"line 1, .*%import: no grammar 'a+ \.\.\. .*' was found"),
        (
            "lark",
            "start: A\nA: /" + "(?<=a)" * 400 + "b/",
            r"line 2, column 4: terminal A: what .* \.\.\. .* depends on",
        ),
    ],
)
def test_errors_quote_little_of_what_is_long(syntax: GrammarSyntax, text: str, message: str) -> None:
    for read in (tokamata.grammar, read_grammar):
        if "no text" in message and read is read_grammar:
            continue
        with pytest.raises(tokamata.ConstraintError, match=message) as refused:
            read(text, syntax)
        assert len(str(refused.value)) < MANY / 2 or "z-a b" in text
        assert len(str(refused.value)) < 6000

"""Masks of texts that a lookahead bounds in length, and of characters that are all but frequent letters."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from oracle import mask_walk

import tokamata

CHARACTERS = [".", r"[^\n]", "[a-f0-3]", r"\S", "[^/]", "[^/\\s]", "[a-f./-]", r"\w", r"[^\x00]", "[é-ü日a-c]"]
ENDS = ["$", r"\Z", r"[/\n]?\Z", r"(?:/a)?\Z", r"b*\Z", ""]
SEARCHES = ["(?=.*[a-c])", "(?=.*[0-3])", r"(?!.*--)", "(?=[^/]*/)", "(?!b)"]
TURNS = ["+", "*", "?", "{2,5}", "{1,40}", "{3}", ""]
PIECES = [*(bytes([b]) for b in b"abcf03-/. \n\xc3\xa9"), "é".encode(), "日".encode()]


def bounded(rng: random.Random) -> str:
    """A pattern of which a lookahead counts characters."""
    low = rng.choice([0, 1, 1, 3, 8, 20])
    high = low + rng.choice([0, 4, 16, 40, 90])
    count = f"(?={rng.choice(CHARACTERS)}{{{low},{high}}}{rng.choice(ENDS)})"
    search = "".join(rng.sample(SEARCHES, rng.choice([0, 0, 1, 2])))
    literals = ["a", "/", "b-", "é", "c0"]
    rest = "".join(
        rng.choice(literals) if rng.random() < 0.4 else rng.choice(CHARACTERS) + rng.choice(TURNS)
        for _ in range(rng.randint(1, 5))
    )
    behind = rng.choice(["", "", "$", "\n?"])
    return rng.choice(["", "^", "a*/"]) + "".join(rng.sample([count, search], 2)) + rest + behind


def words(rng: random.Random, count: int, most: int) -> set[bytes]:
    return {b"".join(rng.choices(PIECES, k=rng.randint(1, most))) for _ in range(count)} | {
        b"".join(rng.choices(PIECES[:6], k=rng.randint(1, 2 * most))) for _ in range(count)
    }


@pytest.mark.parametrize("seed", range(60))
def test_masks_under_a_bound_agree_with_walking(seed: int) -> None:
    rng = random.Random(seed)
    vocabulary = mask_walk.with_bytes(words(rng, 500, 9))
    pattern = bounded(rng)
    constraint = tokamata.regex(pattern)
    while constraint.is_empty():
        pattern = bounded(rng)
        constraint = tokamata.regex(pattern)
    automaton = tokamata.compile(constraint, vocabulary)
    mask_walk.wander(automaton, rng, 3, 12, f"seed {seed}", pattern)


@pytest.mark.parametrize(
    "constraint",
    [
        tokamata.regex(r"(?=[^/]{0,5}(?:/a)?\Z)[a-cf]+/a"),  # no more characters, but what follows them
        tokamata.regex("[abc]{3,}") & tokamata.regex("a[abc]{4,}|b[abc]{4,}/"),  # what leads out of the characters
        tokamata.regex("[abc]{3,}") & tokamata.regex("a[abc]{4,}|b[abc]{4,}/") & tokamata.regex(".*c.*"),
        tokamata.regex(r"(?=.{3,90}\Z)é(?:é|ab[abc]*c)"),  # two bytes of a character are one
        tokamata.regex(r"(?=(?:.*b0*|a)\Z)(?:.*c0*|a)"),  # each can be found behind anything, both at once cannot
        tokamata.regex(r"(?=.{0,90}\Z)(?:(?:(?:b{2000000000}){2000000000}){16777216}|ab*c)"),  # beyond any number
        tokamata.regex(".{0,50}") & tokamata.regex(".{60,80}") & tokamata.regex(".*a.*") | tokamata.regex("b+"),
        (tokamata.regex('[^"]{8,90}') & tokamata.regex('[^"]*a[^"]*')) + tokamata.regex('"b?'),  # not too soon
        (tokamata.regex(r"[^\n]{8,90}") & tokamata.regex(r"[^\n]*a(?:.|\n)*")) + tokamata.regex("\n?b*"),
        (tokamata.regex("(?:[abc-]{0,7}[abc])?") - tokamata.regex(".*--.*")) + tokamata.regex("/b*"),  # nothing, too
    ],
)
def test_bounds_and_what_follows(constraint: tokamata.Constraint) -> None:
    rng = random.Random(2)
    automaton = tokamata.compile(constraint, mask_walk.with_bytes(words(rng, 3000, 9)))
    mask_walk.wander(automaton, rng, 20, 12, constraint)


SOUGHT = [
    "[a-c]",
    "[0-3]",
    r"\d",
    "[/.-]",
    "[^a-c0-3]",
    "[^\\W\\d]",
    "é",
    "[é-ü]",
    "[b-f]",
    "(?:--|f)",
    "(?:éa|c)",
    "[日/]",
]


def seeking(rng: random.Random) -> str:
    """A pattern of few characters, some of which are to be found anywhere among them."""
    low = rng.choice([0, 0, 2, 4, 8])
    high = low + rng.choice([0, 2, 4, 8, 15])
    sought = "".join(f"(?=.*{each})" for each in rng.sample(SOUGHT, rng.randint(1, 5)))
    count = f"{rng.choice(CHARACTERS)}{{{low},{high}}}{rng.choice(ENDS[:-1])}"
    return f"^{sought}{count}" if rng.random() < 0.6 else f"^{sought}(?={count}){rng.choice(CHARACTERS)}*[/\\n]?"


def some_constraint(rng: random.Random, pattern: Callable[[random.Random], str]) -> tuple[str, tokamata.Constraint]:
    """A pattern that has texts, and its language: of texts, or of JSON strings."""
    json = rng.random() < 0.5
    while True:
        source = pattern(rng)
        try:
            made = tokamata.json_schema({"type": "string", "pattern": source}) if json else tokamata.regex(source)
        except tokamata.ConstraintError:  # no string is so short
            continue
        if not made.is_empty():
            return source, made


@pytest.mark.parametrize("seed", range(60))
def test_masks_of_few_characters_some_of_which_are_sought(seed: int) -> None:
    rng = random.Random(seed)
    vocabulary = mask_walk.with_bytes(words(rng, 2000, 9))
    pattern, constraint = some_constraint(rng, seeking)
    mask_walk.wander(tokamata.compile(constraint, vocabulary), rng, 6, 12, f"seed {seed}", pattern)


@pytest.mark.parametrize("seed", range(60))
def test_masks_of_strings_of_few_characters_some_of_which_are_sought(seed: int) -> None:
    """Counted by the schema, which counts more characters than the pattern may read."""
    rng = random.Random(seed)
    vocabulary = mask_walk.with_bytes(words(rng, 2000, 9) | {b'a"', b'3"', b"\\n", b"\\u00", b"a\\u00e9b", b'c\\"'})
    while True:
        least = rng.choice([0, 2, 4, 8])
        schema = {"type": "string", "minLength": least, "maxLength": least + rng.choice([0, 2, 4, 8, 15])}
        looks = [f"(?={rng.choice(['.', CHARACTERS[-1], '[^0]', '[^/]'])}*{each})" for each in rng.sample(SOUGHT, 3)]
        rest = rng.choice(["", ".*$", ".+$", "[^/]*$", "[a-c0-3/é]+$", "[^a]{3,}$"])
        schema["pattern"] = "^" + "".join(looks[: rng.randint(1, 3)]) + rest
        if rng.random() < 0.3:
            schema["allOf"] = [{"pattern": each} for each in rng.sample(SOUGHT, rng.randint(1, 2))]
        try:
            constraint = tokamata.json_schema(schema)
        except tokamata.ConstraintError:  # no string is so short
            continue
        break
    automaton = tokamata.compile(constraint, vocabulary)
    mask_walk.wander(automaton, rng, 6, 12, f"seed {seed}", schema)


WIDE = [r"\d", r"[^\w\s]", r"\p{Lu}", "[é-ü]", r"[^\x00-\x7f]", "[a-c]", "[f0-3]", "[/.-]", "b"]
BARRED = ["ab", "--", "b", "[/.]{2}", "a|f", "c.", "éa", "^a", "0$", "a[^b]", "(?:ab)+c"]
NOT_WHOLE = ["[a-c]*$", ".{0,3}$", "[a-f0-3]{0,9}$", "[^b]*$", "b*.$", "[a-c/]{4}", ".*[a-c]{3}[a-f]*$"]


def password(rng: random.Random) -> str:
    """Characters to be found so many times, and words that must not be, within a bound."""
    low = rng.choice([0, 2, 4, 8])
    high = low + rng.choice([2, 4, 8, 15, 30])
    looks = []
    for each in rng.sample(WIDE, rng.randint(1, 3)):
        times = rng.choice(["", "", "{2}", "{3}", "{2,}", "{1,2}"])
        any_before = rng.choice([".", ".", ".", "[^\n]", "[^/]"])
        looks.append(f"(?=(?:{any_before}*{each}){times})" if times else f"(?={any_before}*{each})")
    looks += [f"(?!.*(?:{each}))" for each in rng.sample(BARRED, rng.choice([0, 1, 1, 2]))]
    looks += [f"(?!{each})" for each in rng.sample(NOT_WHOLE, rng.choice([0, 0, 1, 2]))]
    rng.shuffle(looks)
    return f"^{''.join(looks)}{rng.choice(CHARACTERS)}{{{low},{high}}}$"


@pytest.mark.parametrize("seed", range(80))
def test_masks_of_passwords_agree_with_walking(seed: int) -> None:
    rng = random.Random(seed)
    vocabulary = mask_walk.with_bytes(words(rng, 1500, 9) | {b"\\u00", b"a\\u0061b", b'c"', b'f-"'})
    pattern, constraint = some_constraint(rng, password)
    mask_walk.wander(tokamata.compile(constraint, vocabulary), rng, 6, 14, f"seed {seed}", pattern)


def test_how_often_characters_are_sought_within_a_bound() -> None:
    """Against all texts of up to six letters."""
    texts = ["".join(t) for n in range(7) for t in itertools.product("aA0-", repeat=n)]
    for pattern in (
        r"(?=(?:.*a){2})(?=(?:.*0){2}).{0,5}",
        r"(?=(?:.*a){2,})(?=(?:.*[A0]){1,2})(?!.*--).{3,6}",
        r"(?=(?:.*a){2})(?=.*A)(?!.*(?:Aa|aA)).{0,4}",
        r"(?=(?:.*-){3})(?!.*--).{0,5}",
        r"(?=.*a)(?!.*a).{0,5}",
        r"(?=.*a)(?=.*0)(?!.*[a0]{2}).{1,3}",
        r"(?=(?:.*a){2})(?![a-]{0,5}$).{0,4}",
        r"(?=.*0)(?!.*a[a0]*$)(?!.*--).{2,5}",
    ):
        members = [t for t in texts if re.fullmatch(pattern, t)]
        beginnings = {t[:n] for t in members for n in range(len(t) + 1)}
        constraint = tokamata.regex(pattern)
        assert constraint.is_empty() == (not members), pattern
        assert {t for t in texts if constraint.accepts_prefix(t)} == beginnings, pattern


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=[日a]*$)[\u25e5a]{0,3}",  # of three bytes, of which the last two are the same, nearly
        "(?=.*[日])(?=.*[\u25e5]).{0,2}",
        "(?=.*[^\\x00-\u3000])(?=.*[\u25e5]).{1,3}",
        "(?=(?:.*[日\u25e5]){2})(?=.*é).{0,3}",
        "(?=.*[é日])(?=.*[é\u25e5]).{0,2}",
        "(?=.*[\U0001f600])(?=.*[\uf600]).{1,2}",
    ],
)
def test_characters_of_several_bytes_within_a_bound(pattern: str) -> None:
    """Against all texts of up to four characters."""
    letters = ["a", "é", "日", "\u25e5", "\uf600", "\U0001f600"]
    texts = ["".join(t) for n in range(5) for t in itertools.product(letters, repeat=n)]
    members = [t for t in texts if re.fullmatch(pattern, t)]
    assert members
    beginnings = {t[:n] for t in members for n in range(len(t) + 1)}
    constraint = tokamata.regex(pattern)
    assert {t for t in texts if constraint.accepts_prefix(t)} == beginnings
    automaton = tokamata.compile(constraint, mask_walk.with_bytes({t.encode() for t in texts[:1000]}))
    mask_walk.wander(automaton, random.Random(1), 4, 4, pattern)


@pytest.mark.parametrize("string", [False, True])
@pytest.mark.parametrize(
    "pattern",
    [
        "^(?=.*[a-c])(?=.*[b-f]).{0,3}$",  # one b is both
        "^(?=.*[a-c])(?=.*[b-f]).{0,12}$",
        "^(?=.*[aé])(?=.*[bé]).{0,3}$",
        "^(?=.*[a日])(?=.*[c日]).{1,4}$",
        r"^(?=.*[a-c])(?=.*[b-f])\w{0,3}$",
        r"^(?=.*\bab\b)(?=.*\bc\b).{0,9}$",  # words, each with something before and behind it
        r"^(?=.*\bab\b)(?=.*\b(?:c|03)\b)(?=.*-).{2,12}$",
        r"^(?=.*\bé\b)(?=.*\bf\b).{0,6}$",
        r"^(?=.*[0-3])(?=.*\bab\b)(?!.*--).{0,7}$",
    ],
)
def test_what_is_sought_may_overlap(pattern: str, string: bool) -> None:
    rng = random.Random(1)
    made = words(rng, 2000, 9) | {b" ab ", b"ab -c", b"-ab", b"f ", b"c 03", b" c", b'ab c"', b"-03"}
    constraint = tokamata.json_schema({"type": "string", "pattern": pattern}) if string else tokamata.regex(pattern)
    mask_walk.wander(tokamata.compile(constraint, mask_walk.with_bytes(made)), rng, 8, 12, pattern)


@pytest.mark.parametrize("pattern", ["(?=[a-j日]*$)[a-j\u25e5]{0,40}", "(?=[a-j\U0001f600]*$)[a-j\uf600日]{0,40}"])
def test_a_counter_of_other_characters_than_a_star(pattern: str) -> None:
    rng = random.Random(7)
    letters = [*"abcdefghij", "日", "\u25e5", "\uf600", "\U0001f600"]
    made = {"".join(rng.choices(letters, k=rng.randint(1, 7))).encode() for _ in range(9000)}
    automaton = tokamata.compile(tokamata.regex(pattern), mask_walk.with_bytes(made))
    mask_walk.wander(automaton, rng, 3, 8, pattern)


@pytest.fixture(scope="module")
def with_a_frequent_letter() -> tokamata.Vocabulary:
    """More than 8,000 tokens have an e, some of them bytes that are no text before it."""
    rng = random.Random(0)
    letters = [*PIECES, b"e", b"E", "é".encode(), b"\xe6\x97"]
    made: set[bytes] = set()
    while len(made) < 9000:
        before, behind = rng.choices(letters, k=rng.randint(0, 6)), rng.choices(letters, k=rng.randint(0, 3))
        made.add(b"".join([*before, b"e", *behind]))
    return mask_walk.with_bytes(made | words(rng, 1500, 7))


@pytest.mark.parametrize(
    "pattern",
    [
        "[^e]+",
        "[^e]*e",
        "[^e]*e[ab]*c?",
        "[^e]{1,3}ea?",
        "[^e]{3,}(?:e[^e]{2})?",
        "(?i:[^e])+e",
        "[^eb]*(?:e|ba)c",
        r"[^\se]+(?:e|\s)-",
        "(?:[^e]{2})*ec",
        "[^\ne]*e(?:.|\n)*",
        "[é-ü]?[^e]*?e日",
        r"(?:.|\n){0,8}e",  # what follows begins with a character of the loop, which counts to less than tokens have
        "[^a]{0,8}[ex]b?",
    ],
)
def test_all_characters_but_a_frequent_one(pattern: str, with_a_frequent_letter: tokamata.Vocabulary) -> None:
    rng = random.Random(1)
    automaton = tokamata.compile(tokamata.regex(pattern), with_a_frequent_letter)
    mask_walk.wander(automaton, rng, 4, 10, pattern)


def test_a_frequent_letter_in_saved_tables(with_a_frequent_letter: tokamata.Vocabulary, tmp_path: Path) -> None:
    path = tmp_path / "vocabulary"
    with_a_frequent_letter.save(path)
    loaded = tokamata.Vocabulary.load(path)
    for pattern in ("[^e]+", "[^e]*e-?"):
        made, read = (tokamata.compile(tokamata.regex(pattern), v).start() for v in (with_a_frequent_letter, loaded))
        assert (made.mask() == read.mask()).all(), pattern


@pytest.fixture(scope="module")
def of_long_tokens() -> tokamata.Vocabulary:
    """Most of 14,000 tokens have 5 to 12 characters, some of them of two or three bytes, some of them cut off."""
    rng = random.Random(3)
    others = ["é".encode(), "日".encode(), b'"', b"\\n", b"\\u00e9", b"\xc3"]
    letters = [*(bytes([b]) for b in b"abcdefghAB01-_ ."), *others]
    weights = [8] * 8 + [2] * 8 + [1] * 6
    made: set[bytes] = set()
    while len(made) < 14_000:
        made.add(b"".join(rng.choices(letters, weights, k=rng.randint(1, 12))))
    return mask_walk.with_bytes(made)


@pytest.mark.parametrize(
    "pattern",
    [
        "^[a-h]+(_[a-h]+)*$",
        "^[A-Z][a-h]+( [A-Z][a-h]+)*$",
        r"^[0-9]+\.[0-9]+.*$",
        r"^(?:\S+\s+){0,3}\S+$",
        "^.*é$",
        "^([a-h]|é日)*[^a-h]{2}$",
        r"^[a-h]*\n?[a-h]*$",
        "^(ab|cde|f)*$",
        r"^(?=.*[a-h])(?=.*[A-Z])(?=.*\d)[a-hA-Z\d_.]+$",
        r"^(?=.*ab)(?=.*[A-Z])(?=\S*\d)(?!.*\.\.).*$",
        r"^(?!ab:)[\p{L}\p{N}:_-]*$",  # many characters beyond ASCII
    ],
)
@pytest.mark.parametrize("strings", ["any", "canonical"])
def test_bounds_that_many_tokens_reach(pattern: str, strings: str, of_long_tokens: tokamata.Vocabulary) -> None:
    for most in (3, 6, 9, 14, 22):
        text = {"type": "string", "pattern": pattern, "minLength": most % 2, "maxLength": most}
        schema = {"type": "array", "items": text}
        automaton = tokamata.compile(tokamata.json_schema(schema, strings=strings), of_long_tokens)  # type: ignore[arg-type]
        mask_walk.wander(automaton, random.Random(most), 3, 9, pattern, most)


@pytest.mark.parametrize("bound", ["{0,2}", "{1,3}", "{4}", "{2,5}"])
@pytest.mark.parametrize("seed", range(40))
def test_what_conditions_seek_within_a_bound(seed: int, bound: str) -> None:
    """Beginnings of texts, against all texts of up to five letters."""
    rng = random.Random(seed)
    sought = ["a", "A", "0", "-", "-", "[a0]", "aA", "00", "a-|-A", "[^a-]", "(?:a|0)+A", "A.0"]
    before = [*[".*"] * 12, "[^-]*", "(?:..)*"]
    behind = [*[""] * 6, ".*", "-*$", "[^0]*$", "[a0]*$"]
    conditions = [rng.choice(before) + rng.choice(sought) + rng.choice(behind) for _ in range(rng.randint(2, 4))]
    letter, end = rng.choice([".", "[aA0-]", "[aA0]"]), rng.choice(["", "$", "-?"])
    pattern = "".join(f"(?={c})" for c in conditions) + letter + bound + end
    texts = ["".join(t) for n in range(7) for t in itertools.product("aA0-", repeat=n)]
    members = [t for t in texts if re.fullmatch(pattern, t)]
    beginnings = {t[:n] for t in members for n in range(len(t) + 1)}
    constraint = tokamata.regex(pattern)
    assert constraint.is_empty() == (not members), (seed, pattern)
    viable = {t for t in texts if constraint.accepts_prefix(t)}
    assert viable == beginnings, (seed, pattern, sorted(viable ^ beginnings)[:5])


def test_conditions_that_exclude_one_another_within_a_bound() -> None:
    for pattern in (r"(?=.*a-*\Z)(?=.*A-*\Z)(?=.*0)", "(?=.*a)(?=.*A)(?=.*0)(?=.*-)(?=.*_)", "(?=.*aA)(?=.*00)(?=.*-)"):
        assert tokamata.regex(pattern + ".{1,4}").is_empty(), pattern


def test_bytes_are_counted_too(of_long_tokens: tokamata.Vocabulary) -> None:
    """A character of three bytes is three of what is counted here."""
    byte = tokamata.from_fst(tokamata.choice([bytes([b]) for b in b"abcdefgh\xe6\x97\xa5\xc3\xa9"]).to_fst())
    word = tokamata.regex("日*([a-h]*é)*日[a-h日]*")
    for most in (4, 9, 14):
        automaton = tokamata.compile(word & byte.repeat(0, most), of_long_tokens)
        mask_walk.wander(automaton, random.Random(most), 12, 9, most)


@pytest.mark.parametrize("least", [1, 3, 9])
@pytest.mark.parametrize(
    "schema",
    [
        {"format": "email", "pattern": "a"},
        {"format": "email", "pattern": "^.*?@.*.*$"},
        {"format": "date", "pattern": "^[^3]*-0"},
        {"format": "hostname", "pattern": "[a-c]$"},
        {"format": "uri", "pattern": "b", "not": {"pattern": "a/?$"}},
        {"format": "ipv4", "not": {"pattern": "0"}},
        {"pattern": "^(?=.*b)a*é?b", "not": {"pattern": "^a?b"}},
        {"pattern": "^(?:a{1,4}b?|c{12,}|[gh]+)$", "not": {"pattern": "g$"}},  # after an a, 9 are out of reach
        {"pattern": "^(?:a{1,4}b?|c{12,}|[gh]+)$"},
    ],
)
def test_least_lengths_beside_several_conditions(
    schema: dict[str, object], least: int, of_long_tokens: tokamata.Vocabulary
) -> None:
    """A least length makes no difference, unless what meets the conditions may be shorter."""
    whole = {"type": "array", "items": {"type": "string", **schema, "minLength": least}}
    automaton = tokamata.compile(tokamata.json_schema(whole), of_long_tokens)
    mask_walk.wander(automaton, random.Random(least), 4, 12, schema, least)


@pytest.mark.parametrize(
    "pattern",
    [
        "[a-h](?:[a-h-]{0,61}[a-h])?",
        r"(?:[a-h](?:[a-h-]{0,61}[a-h])?\.)*abc(?:/[a-h]{9,30})?",
        "[ab]{0,9}A|[a-d]{0,20}B|[c-h-]{12,40}",
        "(?:[a-h]{0,30}|[0-9A]{2,12}-|é{0,9}|(?:ab){8})+_",
        "(?:(?:[a-d]?-?){0,11}|[^a]{0,40})é",
        r"(?=.{3,50}\Z)(?:[a-h]{0,30}[ab]|[c-h]{1,10}[^a])\.b*",
        "(?:[a-h]{0,12}|[a-c-]{0,33})(?:b|-){0,16}",
        r"^(?!.*--)(?:[a-h-]{0,21}[a-h])?$",  # nothing, or a counter and its end, beside a condition
        r"^(?!.*(?:ab|-b))A?(?:[a-h-]{3,19}[a-h])?$",
        r"_(?!-)(?!.*--)[a-h-]{1,20}(?<!-)\.",
        r"[a-h](?:[a-h]|-(?=[a-h])){0,20}",  # conditions of a turn on the next one
        r"(?:[a-h]|é(?=[éa])|-(?![-é])){2,20}\.?",
    ],
)
def test_unions_of_counters(pattern: str) -> None:
    """Tokens are shorter than some counters, and longer than others."""
    rng = random.Random(5)
    letters = [*(bytes([b]) for b in b"abcdefgh-A0._"), "é".encode()]
    made = {b"".join(rng.choices(letters, k=rng.randint(1, 14))) for _ in range(6000)}
    made |= {rng.choice(letters) * rng.randint(1, 90) for _ in range(400)}
    made |= {b"".join(rng.choices(rng.sample(letters, 3), k=rng.randint(8, 40))) for _ in range(1500)}
    automaton = tokamata.compile(tokamata.regex(pattern), mask_walk.with_bytes(made))
    mask_walk.wander(automaton, rng, 12, 30, pattern)


@pytest.mark.parametrize("seed", range(24))
def test_words_left_out_within_a_bound(seed: int) -> None:
    """Tokens are shorter than the bound, or end near it; some words end, and begin, with what the text ends with."""
    rng = random.Random(seed)
    letters = [*(bytes([b]) for b in b"abcd-. A\n"), "é".encode(), "—".encode()]
    made = {b"".join(rng.choices(letters, k=rng.randint(1, 6))) for _ in range(3000)}
    made |= {b"".join(rng.choices(rng.sample(letters, 3), k=rng.randint(8, 40))) for _ in range(600)}
    vocabulary = mask_walk.with_bytes(made)
    words = [
        r"\bab\b",
        r"\b(?:ab|é)\b",
        "a--",
        r"\.$",
        "(?:ab|ba)",
        r"[^ab]$",
        r"\w\.\w",
        "a-|—",
        r" $",
        "a.?$",
        r"\bé",
        "[ab]*-b",
    ]
    left_out = "".join(
        f"(?!{rng.choice(['.*', '.*', '.*', '[^b]*', ''])}{w})" for w in rng.sample(words, rng.randint(1, 2))
    )
    low = rng.choice([0, 0, 1, 3, 8])
    counted = (
        rng.choice([".", r"[^.\n]", r"[\w -]", "[^-]", r"[^\s]"]) + f"{{{low},{low + rng.choice([14, 26, 30, 60])}}}"
    )
    pattern = (
        "^" + left_out + rng.choice(["", "A", "[aA]"]) + counted + rng.choice(["", r"\.", "-b", r"\.$", "ab", "[.b]"])
    )
    automaton = tokamata.compile(tokamata.regex(pattern), vocabulary)
    mask_walk.wander(automaton, rng, 8, 24, pattern)


@pytest.mark.parametrize("most", [25, 33, 50])
@pytest.mark.parametrize("end", ["", "e"])
@pytest.mark.parametrize("behind", [False, True])
def test_what_is_left_out_unless_a_word_comes_last(behind: bool, end: str, most: int) -> None:
    """The end is far, wherever no part of the word was read."""
    word, rng = "abcdbbad", random.Random(most)
    others = [f"[^{word[i]}]{word[i + 1 :]}" for i in range(len(word))]
    pattern = f"^(?!.*(?:{'|'.join(others)}){end or '$'})(?!.{{0,7}}{end or '$'})[a-d-]{{0,{most}}}{end}$"
    if behind:
        pattern = f"[a-d-]{{0,{most}}}{end}" + "".join(f"(?<!{other}{end})" for other in others)
    made = {"".join(rng.choices("abcd-", k=rng.randint(1, 5))).encode() for _ in range(900)}
    made |= {(word[rng.randrange(8) :] + rng.choice(["", "-", "e"])).encode() for _ in range(99)}
    made |= {(rng.choice("abcd-") * rng.randint(20, 44)).encode() for _ in range(200)}
    automaton = tokamata.compile(tokamata.regex(pattern), mask_walk.with_bytes(made))
    mask_walk.wander(automaton, rng, 12, 24, pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\s*(?:\S\s*){10,40}",
        r"(?:\S\s?){3,33}",
        r"(?:[ab]\s?){10,}",
        r"a?(?:b?c|[^bc]){2,30}",
        r"(?:ab|c{0,9}|é){0,28}",
        r"(?:[a-c]{1,30} ?){2,27}",
        r"(?:[ab] ?){4,29}|[ c]*(?:cé?){30}|c",
        r"(?:a|bc)* (?:(?:ab)?c){26,29}",
        r"(?:(?:a|b ){2}){2,26}",
        r"b*(?:a{3}){9}",
        r"[a-c ]{0,27}(?:aé?){0,27}",
    ],
)
def test_counters_that_texts_end_with(pattern: str) -> None:
    """Tokens are shorter than what may be counted yet, or longer; a least number only says where the text may end."""
    rng = random.Random(7)
    letters = [*(bytes([b]) for b in b"aaabbc  "), "é".encode()]
    made = {b"".join(rng.choices(letters, k=rng.randint(1, 6))) for _ in range(3000)}
    made |= {b"".join(rng.choices(letters, k=rng.randint(20, 60))) for _ in range(300)}
    made |= {rng.choice([b"a", b"a ", b"ab", b"b ", b"aa ", b"c"]) * rng.randint(9, 45) for _ in range(200)}
    automaton = tokamata.compile(tokamata.regex(pattern), mask_walk.with_bytes(made))
    mask_walk.wander(automaton, rng, 12, 24, pattern)
    for _ in range(4):  # with what is known already, byte by byte
        state = automaton.start()
        while state.num_tokens < 60 and (tokens := mask_walk.agreed(automaton, state, pattern)):
            state.advance(rng.choice([t for t in tokens if t < 256]))

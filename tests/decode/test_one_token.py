"""Exactly one token beside text: masks against the definition, by trying all readings of all tokens."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path

import numpy as np
import pytest
from oracle import mask_walk

import tokamata

LETTERS = [b"a", b"b", b"\n", b"ab", b"ba", b"b\n", b"abb", b"\n\n", b"aa"]
EOS, BEGIN, END, PIXEL, OTHER = range(5)
SPECIAL = {"<begin>": BEGIN, "<end>": END, "<pixel>": PIXEL, "<other>": OTHER}

# What a constraint is made of: ("text", bytes), ("class", name), ("+", parts), ("|", parts), ("{}", part, low, high).
Tree = tuple[object, ...]


def vocabulary(complete: bool) -> tuple[tokamata.Vocabulary, list[bytes | None]]:
    tokens: list[bytes | None] = [None] * 5 + LETTERS
    if complete:
        tokens += [bytes([b]) for b in range(256) if bytes([b]) not in LETTERS]
    made = tokamata.Vocabulary(tokens, eos_token_ids=[EOS], special_tokens=SPECIAL)
    group = {"IMAGE_BEGIN": ["<begin>"], "IMAGE": [PIXEL, "<other>", 5], "IMAGE_END": ["<end>"]}
    return made.with_token_groups(group), tokens


def is_of(name: str, token: int, tokens: list[bytes | None]) -> bool:
    """Whether a token belongs to a class."""
    text = tokens[token]
    if name == "group":
        return token in (PIXEL, OTHER, 5)
    if text is None or any(b in (0xC0, 0xC1) or b > 0xF4 for b in text):
        return False
    if name == "text":
        return True
    return b"\n" not in text if name == "paragraph" else text in (b"ab", b"abb", b"b")


CLASSES = {
    "text": tokamata.text_token(),
    "paragraph": tokamata.paragraph_token(),
    "some": tokamata.one_token(tokamata.regex("ab{1,2}|b")),
    "group": tokamata.token_group("IMAGE"),
}


def build(tree: Tree) -> tokamata.Constraint:
    kind = tree[0]
    if kind == "text":
        return tokamata.literal(tree[1])  # type: ignore[arg-type]
    if kind == "class":
        return CLASSES[tree[1]]  # type: ignore[index]
    if kind == "{}":
        return build(tree[1]).repeat(tree[2], tree[3])  # type: ignore[arg-type]
    parts = [build(part) for part in tree[1]]  # type: ignore[attr-defined]
    made = parts[0]
    for part in parts[1:]:
        made = made + part if kind == "+" else made | part
    return made


def random_tree(rng: random.Random, depth: int) -> Tree:
    kind = rng.randrange(8 if depth else 4)
    if kind <= 1:
        return ("text", rng.choice(LETTERS))
    if kind <= 3:
        return ("class", rng.choice(list(CLASSES)))
    if kind <= 5:
        return ("+", [random_tree(rng, depth - 1) for _ in range(2)])
    if kind == 6:
        return ("|", [random_tree(rng, depth - 1) for _ in range(2)])
    return ("{}", random_tree(rng, depth - 1), rng.randrange(2), rng.choice([2, None]))


class Reader:
    """All readings of a row of tokens; a place is a token and an offset into its text."""

    def __init__(self, ids: list[int], tokens: list[bytes | None]) -> None:
        self.ids, self.tokens = ids, tokens
        self.at_end = False  # something was asked for behind the last token

    def ends(self, tree: Tree, places: set[tuple[int, int]]) -> set[tuple[int, int]]:
        kind, what = tree[0], tree[1]
        if kind == "+":
            for part in what:  # type: ignore[attr-defined]
                places = self.ends(part, places)
            return places
        if kind == "|":
            return set().union(*(self.ends(part, places) for part in what))  # type: ignore[attr-defined]
        if kind == "{}":
            low, high = tree[2], tree[3]
            found = set(places) if low == 0 else set()
            for turn in itertools.count(1):
                places = self.ends(what, places)  # type: ignore[arg-type]
                if turn >= low:  # type: ignore[operator]
                    if places <= found and (high is None or turn > 8):
                        return found
                    found |= places
                if turn == high or not places:
                    return found
        if kind == "class":
            self.at_end = self.at_end or any(i == len(self.ids) for i, _ in places)
            inside = [i for i, offset in places if i < len(self.ids) and offset == 0]
            return {(i + 1, 0) for i in inside if is_of(str(what), self.ids[i], self.tokens)}
        for byte in what:  # type: ignore[attr-defined]
            self.at_end = self.at_end or any(i == len(self.ids) for i, _ in places)
            after = set()
            for i, offset in places:
                text = self.tokens[self.ids[i]] if i < len(self.ids) else None
                if text is not None and text[offset] == byte:
                    after.add((i + 1, 0) if offset + 1 == len(text) else (i, offset + 1))
            places = after
        return places


def reads(tree: Tree, ids: list[int], tokens: list[bytes | None]) -> tuple[bool, bool]:
    """Whether the tokens are a member, and whether they can be extended to one."""
    reader = Reader(ids, tokens)
    member = (len(ids), 0) in reader.ends(tree, {(0, 0)})
    return member, member or reader.at_end


def ids_of(mask: np.ndarray) -> set[int]:
    return set(mask_walk.allowed(mask))


@pytest.mark.parametrize("complete", [True, False])
def test_masks_allow_what_some_reading_allows(complete: bool) -> None:
    tokenizer, tokens = vocabulary(complete)
    looked = list(range(5 + len(LETTERS))) + ([5 + len(LETTERS) + 3, 200, 265] if complete else [])
    compared = 0
    for seed in range(150):
        rng = random.Random(seed)
        tree = random_tree(rng, 3)
        automaton = tokamata.compile(build(tree), tokenizer)
        state, ids = automaton.start(), list[int]()
        for _ in range(5):
            got = ids_of(state.mask())
            assert not {t for t in got if t >= len(tokens)}
            member = reads(tree, ids, tokens)[0]
            want = {t for t in looked if t != EOS and reads(tree, [*ids, t], tokens)[1]} | ({EOS} if member else set())
            assert got & set(looked) == want, (seed, tree, ids)
            assert state.is_final == member
            compared += 1
            if not want - {EOS}:
                break
            token = rng.choice(sorted(want - {EOS}))
            assert state.allows(token)
            state.advance(token)
            ids.append(token)
    assert compared > 300


def members(tree: Tree, tokens: list[bytes | None], most: int) -> set[tuple[int, ...]]:
    usable = range(1, len(tokens))
    rows = [row for n in range(most + 1) for row in itertools.product(usable, repeat=n)]
    return {row for row in rows if reads(tree, list(row), tokens)[0]}


def test_explicit_acceptors_and_budgets() -> None:
    """Both explicit machines accept the members; a budget leaves what can still be completed in it."""
    tokenizer, tokens = vocabulary(False)
    for seed in range(25):
        tree = random_tree(random.Random(1000 + seed), 2)
        want = members(tree, tokens, 3)
        automaton = tokamata.compile(build(tree), tokenizer)
        literal = automaton.to_fst()
        acceptor = automaton.token_acceptor(min_tokens=2)
        assert tokamata.automata.equivalent(literal, acceptor.expand()), (seed, tree)
        arcs = [{arc.ilabel: arc.nextstate for arc in literal.arcs(s)} for s in literal.states()]
        for row in itertools.product(range(1, len(tokens)), repeat=2):
            at: int | None = literal.start()
            for token in row:
                at = arcs[at].get(token + 1) if at is not None else None
            assert (at is not None and literal.is_final(at)) == (row in want), (seed, tree, row)
        for most in (1, 2, 3):
            if not any(len(row) <= most for row in want):
                with pytest.raises(tokamata.BudgetError):
                    automaton.start(max_tokens=most + 1)
                continue
            state = automaton.start(max_tokens=most + 1)
            first = {row[0] for row in want if row and len(row) <= most}
            assert ids_of(state.mask()) - {EOS} == first, (seed, tree, most)


def test_the_bullet_list() -> None:
    """Tokens without a newline after a bullet, then a newline: one token may not hold both."""
    tokenizer, tokens = vocabulary(True)
    tokens_of = {text: i for i, text in enumerate(tokens) if text}
    state = tokamata.compile(tokamata.regex(r"(?:\* (?P<PARAGRAPH_TOKEN>)+\n)+"), tokenizer).start()
    for text in (b"*", b" "):
        state.advance(tokens_of[text])
    assert not state.allows(tokens_of[b"\n"])
    state.advance(tokens_of[b"ab"])
    assert state.allows(tokens_of[b"\n"])
    assert not state.allows(tokens_of[b"b\n"])
    assert not state.allows(tokens_of[b"\n\n"])
    state.advance(tokens_of[b"\n"])
    assert state.is_final
    assert ids_of(state.mask()) == {EOS, tokens_of[b"*"]}


BULLETS = {
    r"(?:\* (?P<PARAGRAPH_TOKEN>)+\n)+": (1, "", ""),
    r"(\* (?P<PARAGRAPH_TOKEN>)+\n){2,3}": (2, 3, ""),
    r"(?P<first>\* (?P<PARAGRAPH_TOKEN>)+\n)(?P<more>\* (?P<text>(?P<PARAGRAPH_TOKEN>)+)\n)+": (2, "", ""),
    r"^(?:\* (?P<PARAGRAPH_TOKEN>){1,2}\n){1,3}$": (1, 3, 2),
    r"(?x) ( \* [ ] (?P<PARAGRAPH_TOKEN>)+? \n )*  # items": (0, "", ""),
    r"(?P<DELIMITED_LIST>|\*\ (?P<PARAGRAPH_TOKEN>){1,}\n)": (1, "", ""),
}


@pytest.mark.parametrize("pattern", BULLETS)
def test_spellings_of_the_bullet_list(pattern: str) -> None:
    """A row of tokens is a member when some of them, taken for "#", leave a text that a plain pattern matches."""
    low, high, most = BULLETS[pattern]
    plain = re.compile(rf"(?:\* #{{1,{most}}}\n){{{low},{high}}}")
    texts = ["*", " ", "* ", "a", " b", "\n", "b\n", "\n*", "\n* "]
    tokenizer = tokamata.Vocabulary([None, *(t.encode() for t in texts)], eos_token_ids=[0])
    automaton = tokamata.compile(tokamata.regex(pattern), tokenizer)

    def member(row: list[str]) -> bool:
        readings = [[t] if "\n" in t else [t, "#"] for t in row]
        return any(plain.fullmatch("".join(reading)) for reading in itertools.product(*readings))

    rng = random.Random(11)
    seen = set()
    for case in range(300):
        row: list[str] = []
        for _ in range(rng.randint(1, 4)):
            row += rng.choice([["* "], ["*", " "]]) if row[-1:] != ["\n* "] else []
            row += [*rng.choices(["a", " b", "*", " ", "* "], k=rng.randint(1, 3)), rng.choice(["\n", "\n", "\n* "])]
        if rng.random() < 0.5:
            row[rng.randrange(len(row))] = rng.choice(texts)
        state = automaton.start()
        accepted = state.validate([texts.index(t) + 1 for t in row]) == len(row)
        if accepted:
            for text in row:
                state.advance(texts.index(text) + 1)
        assert (accepted and state.is_final) == member(row), (case, pattern, row)
        seen.add(accepted and state.is_final)
    assert seen == {True, False}


def test_images() -> None:
    tokenizer, _ = vocabulary(True)
    state = tokamata.compile(tokamata.regex(r"a(?P<IMAGE>)b"), tokenizer).start()
    state.advance(5)
    assert state.forced_tokens() == [BEGIN]
    state.advance(BEGIN)
    assert ids_of(state.mask()) == {PIXEL, OTHER, 5}
    state.advance(OTHER)
    assert ids_of(state.mask()) == {PIXEL, OTHER, 5, END}
    exact = tokamata.compile(tokamata.image(2, 2), tokenizer).start(max_tokens=5)
    with pytest.raises(tokamata.BudgetError, match="pass max_tokens=5 or more"):
        tokamata.compile(tokamata.image(2, 2), tokenizer).start(max_tokens=4)
    for token in (BEGIN, 5, PIXEL, END, EOS):
        exact.advance(token)
    assert exact.is_finished


def test_classes_survive_files(tmp_path: Path) -> None:
    tokenizer, _ = vocabulary(True)
    tokenizer.save(tmp_path / "v.fst")
    tokenizer = tokamata.Vocabulary.load(tmp_path / "v.fst")
    assert tokenizer.token_groups == {"IMAGE_BEGIN": [BEGIN], "IMAGE": [PIXEL, OTHER, 5], "IMAGE_END": [END]}
    for name, made in CLASSES.items():
        automaton = tokamata.compile("a" + made + "\n", tokenizer)
        automaton.save(tmp_path / f"{name}.fst")
        again = tokamata.load(tmp_path / f"{name}.fst", tokenizer).start()
        state = automaton.start()
        for token in (5, 8 if name == "some" else 5):
            assert (state.mask() == again.mask()).all()
            state.advance(token)
            again.advance(token)
        assert (state.mask() == again.mask()).all()


def test_errors() -> None:
    tokenizer, _ = vocabulary(True)
    with pytest.raises(tokamata.VocabularyError, match="got one with 'IMAGE_BEGIN', 'IMAGE', 'IMAGE_END'; add it by"):
        tokamata.compile(tokamata.token_group("audio"), tokenizer)
    with pytest.raises(tokamata.VocabularyError, match="the vocabulary has none; ask for text"):
        tokamata.compile(tokamata.one_token(tokamata.literal("nothing like it")), tokenizer)
    with pytest.raises(tokamata.ConstraintError, match="expected text, got special tokens"):
        tokamata.one_token(tokamata.special_token("<end>"))
    with pytest.raises(TypeError, match="one_token: expected a Constraint, got str"):
        tokamata.one_token("a")  # type: ignore[arg-type]
    for group in ([EOS], [1000], []):
        with pytest.raises(tokamata.VocabularyError, match="expected tokens of the group 'x', got"):
            tokenizer.with_token_groups({"x": group})
    with pytest.raises(tokamata.UnsupportedError, match="a token has several readings"):
        pytest.importorskip("torch")
        tokamata.compile(tokamata.text_token(), tokenizer).to("cpu")

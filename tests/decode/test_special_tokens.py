"""Special tokens by name: masks allow exactly their ids, and no token of text spells them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from oracle import mask_walk
from oracle.dfa import Dfa
from oracle.packages import vocabulary_file
from oracle.random_constraint import random_constraint, random_vocabulary
from tokamata.automata import Fst, equivalent

import tokamata

CALL, END, PAD = 1, 2, 3
TOKENS: list[bytes | None] = [None, None, None, None, *(bytes([b]) for b in range(256)), b"ab", b"<|call|>", b"\xffx"]
NAMES = {"<eos>": 0, "<|call|>": CALL, "<end>": END}
VOCABULARY = tokamata.Vocabulary(TOKENS, eos_token_ids=[0], special_tokens=NAMES)


def allowed(state: tokamata.DecodeState) -> set[int]:
    mask = state.mask().view(np.uint32)
    return {t for t in range(len(TOKENS)) if mask[t // 32] >> np.uint32(t % 32) & 1}


def ids(text: bytes) -> set[int]:
    return {4 + b for b in text}


def test_masks_allow_the_ids() -> None:
    grammar = tokamata.grammar('start: "a" <|call|> B? (<end> | "c")\nB: "b" <end>\n')
    assert grammar.special_tokens == {"<|call|>", "<end>"}
    state = tokamata.compile(grammar, VOCABULARY).start()
    assert allowed(state) == ids(b"a")
    state.advance(4 + ord("a"))
    assert allowed(state) == {CALL}
    state.advance(CALL)
    assert allowed(state) == {END, *ids(b"bc")}
    state.advance(4 + ord("b"))
    assert allowed(state) == {END}
    state.advance(END)
    assert allowed(state) == {END, *ids(b"c")}
    state.advance(END)
    assert state.is_final
    assert allowed(state) == {0}


def test_names_survive_the_algebra_and_files(tmp_path: Path) -> None:
    grammar = tokamata.grammar("root ::= <end>", syntax="gbnf")
    both = tokamata.literal("x") + (grammar | "y")
    assert both.special_tokens == {"<end>"}
    named = tokamata.grammar("start: X\nX: Y\n", constraints={"Y": both})
    assert named.special_tokens == {"<end>"}
    automaton = tokamata.compile(both, VOCABULARY)
    state = automaton.start()
    state.advance(4 + ord("x"))
    assert allowed(state) == {END, *ids(b"y")}
    automaton.save(tmp_path / "a.fst")
    state = tokamata.load(tmp_path / "a.fst", VOCABULARY).start()
    state.advance(4 + ord("x"))
    assert allowed(state) == {END, *ids(b"y")}


def test_text_never_allows_them() -> None:
    """A special token may not stand where text may."""
    state = tokamata.compile(tokamata.grammar("start: A <end>\nA: /(?s:.)+/\n"), VOCABULARY).start()
    assert not allowed(state) & {0, CALL, END, PAD, 4 + 0xFF}
    state.advance(4 + ord("<"))
    assert allowed(state) & {0, CALL, END, PAD, 4 + 0xFF} == {END}


def test_names_of_tokens_that_are_text(tmp_path: Path) -> None:
    """As llama.cpp has it: the token whose text is exactly this."""
    tokens = [b"a", b"<think>", b"</think>", b"<", b"think", b">", None]
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[6])
    automaton = tokamata.compile(tokamata.grammar("root ::= <think> !</think>* </think> .*", "gbnf"), vocabulary)
    automaton.save(tmp_path / "think.fst")
    for made in (automaton, tokamata.load(tmp_path / "think.fst", vocabulary)):
        state = made.start()
        allowed_ = []
        for token in (1, 0, 2, 1):
            allowed_.append([i for i in range(7) if state.allows(i)])
            state.advance(token)
        assert allowed_ == [[1], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5, 6]]
    state = tokamata.compile(tokamata.special_token("<think>") + "<think>", vocabulary).start()
    assert state.forced_tokens() == [1]  # then the text, which is spelled in two ways
    state.advance(1)
    assert [i for i in range(7) if state.allows(i)] == [1, 3]


def test_unknown_names() -> None:
    with pytest.raises(tokamata.VocabularyError, match=r"got '<nope>'; it has <eos>, <\|call\|>, <end>: pass"):
        tokamata.compile(tokamata.grammar("start: <nope>"), VOCABULARY)
    with pytest.raises(tokamata.VocabularyError, match="<eos> ends a text here"):
        tokamata.compile(tokamata.grammar("start: <eos>"), VOCABULARY)
    with pytest.raises(tokamata.VocabularyError, match="token 260 is text of these characters: write it as text"):
        VOCABULARY.with_markers(["ab"])
    twice = tokamata.Vocabulary([None, None, b"a"], eos_token_ids=[0], special_tokens={"<x>": 1, "<y>": 1})
    with pytest.raises(tokamata.VocabularyError, match="'<x>' and '<y>' are names of one token, 1"):
        tokamata.compile(tokamata.special_token("<x>") | tokamata.special_token("<y>"), twice)
    assert tokamata.compile(tokamata.special_token("<y>"), twice).start().forced_tokens() == [1]
    odd = tokamata.Vocabulary([None, None, None, b"a"], [0], special_tokens={"\ud800": 1, "<x>": 2, "": 1})
    assert tokamata.compile(tokamata.special_token("<x>"), odd).start().forced_tokens() == [2]
    with pytest.raises(ValueError, match="lone surrogate"):
        tokamata.special_token("\ud800")
    with pytest.raises(tokamata.ConstraintError, match="expected a name of at least one character, got ''"):
        tokamata.special_token("")


# ---------------------------------------------------------------------------------------------- against a model

NAMED = ["<|call|>", "<|cal", "<", "é"]


def marker(name: str) -> bytes:
    return b"\xff" + name.encode() + b"\xff"


def random_special(rng: random.Random, depth: int) -> tuple[tokamata.Constraint, Dfa, str]:
    """A constraint with special tokens, its model over markers and its description."""
    kind = rng.randrange(10 if depth else 4)
    if kind <= 1:
        name = rng.choice(NAMED)
        return tokamata.special_token(name), Dfa.literal(marker(name)), name
    if kind <= 3:
        return random_constraint(rng, 1)
    a, da, sa = random_special(rng, depth - 1)
    if kind == 4:
        low, high = rng.choice([(0, None), (1, None), (0, 2), (1, 3)])
        return a.repeat(low, high), da.repeat(low, high), f"({sa}){{{low},{high}}}"
    b, db, sb = random_special(rng, depth - 1)
    if kind <= 6:
        return a + b, da + db, f"({sa} + {sb})"
    if kind <= 7:
        return a | b, da | db, f"({sa} | {sb})"
    if kind == 8:
        return (a & b, da & db, f"({sa} & {sb})") if rng.random() < 0.5 else (a - b, da - db, f"({sa} - {sb})")
    return ~a, ~da, f"~{sa}"


def with_names(
    rng: random.Random, tokens: Sequence[bytes | None], eos: list[int]
) -> tuple[tokamata.Vocabulary, list[bytes | None]]:
    """A vocabulary with the names at its end, and what its tokens stand for where special tokens are named."""
    names = {name: len(tokens) + i for i, name in enumerate(NAMED)}
    vocabulary = tokamata.Vocabulary([*tokens, *[None] * len(NAMED)], eos_token_ids=eos, special_tokens=names)
    read = [None if t is not None and b"\xff" in t else t for t in tokens]
    return vocabulary, [*read, *map(marker, NAMED)]


def distances(model: Dfa, tokens: Sequence[bytes | None]) -> list[float]:
    """Tokens from each state to a final one, by relaxation."""
    far = [0.0 if final else float("inf") for final in model.final]
    usable = sorted({t for t in tokens if t})
    targets = [[model.run(t, q) for t in usable] for q in range(len(far))]
    while True:
        nearer = [min([d, *(far[t] + 1 for t in targets[q])]) for q, d in enumerate(far)]
        if nearer == far:
            return far
        far = nearer


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("block", range(3))
def test_masks_equal_the_model(block: int, complete: bool) -> None:
    compared = special = 0
    for seed in range(100 * block, 100 * block + 40):
        rng = random.Random(f"{complete} {seed}")
        constraint, model, text = random_special(rng, 3)
        text_tokens, eos = random_vocabulary(rng, complete)
        vocabulary, tokens = with_names(rng, text_tokens, eos)
        if not constraint.special_tokens:  # nothing reads a marker then
            tokens = [*text_tokens, *[None] * len(NAMED)]
        where = f"seed {complete} {seed}: {text}"
        alive = model.token_alive(tokens)
        if not alive[0]:
            with pytest.raises(tokamata.ConstraintError, match="compile: "):
                tokamata.compile(constraint, vocabulary)
            continue
        automaton = tokamata.compile(constraint, vocabulary)
        far = distances(model, tokens) if len(model.final) < 40 else None
        for walk in range(3):
            left = None if far is None or not walk else int(far[0]) + rng.choice([1, 2, 3, 6])
            state, q = automaton.start(left), 0
            for _ in range(6):
                want = model.mask(q, tokens, eos, alive)
                if left is not None and far is not None:
                    want = {t for t in want if (1 if t in eos else 2 + far[model.run(tokens[t] or b"", q)]) <= left}
                mask = state.mask().view(np.uint32)
                got = set(mask_walk.allowed(mask))
                different = [(t, tokens[t], t in got) for t in sorted(got ^ want)[:5]]
                assert got == want, f"{where}, {left} left: {different}"
                assert state.is_final == bool(model.final[q]), where
                for t in rng.sample(range(len(tokens)), 5):
                    assert state.allows(t) == (t in want), where
                assert b"\xff" not in state.forced_bytes() or not constraint.special_tokens, where
                compared += 1
                choices = sorted(want - set(eos))
                if not choices:
                    break
                named = [t for t in choices if t >= len(text_tokens)]
                token = rng.choice(named if named and rng.random() < 0.5 else choices)
                special += token >= len(text_tokens)
                state.advance(token)
                left = left and left - 1
                q = model.run(tokens[token] or b"", q)
    assert compared > 100
    assert special > 10


@pytest.mark.parametrize("block", range(2))
def test_explicit_acceptors_are_the_model(block: int) -> None:
    made = 0
    for seed in range(100 * block, 100 * block + 30):
        rng = random.Random(seed)
        constraint, _, text = random_special(rng, 2)
        vocabulary, _ = with_names(rng, *random_vocabulary(rng, complete=seed % 3 > 0))
        if not constraint.special_tokens:
            continue
        try:
            automaton = tokamata.compile(constraint, vocabulary)
        except tokamata.ConstraintError:
            continue
        assert equivalent(automaton.token_acceptor(min_tokens=2).expand(), automaton.to_fst()), f"seed {seed}: {text}"
        made += 1
    assert made > 5


def any_bytes() -> Fst:
    """All byte strings."""
    fst = Fst.from_text("".join(f"0 0 {b} {b}\n" for b in range(1, 257)) + "0\n")
    return fst


def test_raw_bytes_are_no_special_tokens() -> None:
    """What reads any bytes allows no special token, and tells them apart only where it is intersected."""
    everything = tokamata.from_fst(any_bytes())
    call = tokamata.special_token("<|call|>")
    for constraint in (everything, tokamata.literal(marker("<|call|>")), ~call, ~tokamata.literal("x")):
        state = tokamata.compile(constraint, VOCABULARY).start()
        assert not allowed(state) & {CALL, END, PAD}
    assert allowed(tokamata.compile(everything, VOCABULARY).start()) >= ids(b"\xffa")
    both = everything & (call + "x")
    assert both.special_tokens == {"<|call|>"}
    state = tokamata.compile(both, VOCABULARY).start()
    assert allowed(state) == {CALL}
    for joined in (everything + call, call | everything, call + b"\xff", call | tokamata.choice([b"a\xff"])):
        with pytest.raises(tokamata.UnsupportedError, match="special tokens are joined to a machine over raw bytes"):
            tokamata.compile(joined, VOCABULARY)
    text = tokamata.regex(r"(?s:.*)")
    assert allowed(tokamata.compile((everything & text) + call, VOCABULARY).start()) >= {CALL, *ids(b"ab<")}
    assert (call & text).is_empty()
    assert not (call - text).special_tokens ^ {"<|call|>"}


def test_forced_tokens_and_bytes() -> None:
    """A forced special token is among the tokens; forced bytes are text, and end before it."""
    call, end = tokamata.special_token("<|call|>"), tokamata.special_token("<end>")
    automaton = tokamata.compile("ab" + call + "b" + (call | end), VOCABULARY)
    for budget in (None, 20, 6):
        state = automaton.start(budget)
        assert state.forced_bytes() == b"ab"
        assert state.forced_tokens() == []  # "a" "b" or "ab"
        state.advance(TOKENS.index(b"ab"))
        assert state.forced_bytes() == b""
        assert state.forced_tokens() == [CALL, 4 + ord("b")]
    with pytest.raises(tokamata.BudgetError, match="pass max_tokens=5 or more"):
        automaton.start(4)
    state = automaton.start(5)
    assert allowed(state) == {TOKENS.index(b"ab")}


def test_texts_that_are_no_text() -> None:
    call = tokamata.special_token("<|call|>")
    assert call.accepts(b"\xff<|call|>\xff")
    assert not call.accepts("<|call|>")
    state = tokamata.compile(call | "<|call|>", VOCABULARY).start()
    assert allowed(state) == {CALL, TOKENS.index(b"<|call|>"), *ids(b"<")}
    assert VOCABULARY.token_bytes(CALL) is None
    with pytest.raises(tokamata.TokenRejected, match="token 3 is special or empty"):
        state.advance(PAD)
    with pytest.raises(tokamata.TokenRejected, match="token 2 is not allowed after 0 tokens"):
        state.advance(END)


def test_combined_constraints_speak_of_what_they_can_read() -> None:
    """So a vocabulary without the names will do for the others."""
    call, end, text = tokamata.special_token("<|call|>"), tokamata.special_token("<end>"), tokamata.regex("a+")
    assert (call + end).special_tokens == (call | end).special_tokens == {"<|call|>", "<end>"}
    assert call.repeat(2, 3).special_tokens == call.minimize().special_tokens == {"<|call|>"}
    assert ((call | end | text) & (call | text)).special_tokens == {"<|call|>"}
    assert ((call | text) - end).special_tokens == {"<|call|>"}
    nameless = tokamata.Vocabulary(TOKENS, eos_token_ids=[0])
    for constraint in (~call, text - call, text & (call | text)):
        assert not constraint.special_tokens
        assert tokamata.compile(constraint, nameless).start().allows(4 + ord("a"))


def test_a_budget_sees_what_follows_a_special_token() -> None:
    """Text may end at once here, but behind the special token much is left to be written."""
    constraint = tokamata.regex("[^<]*") | tokamata.special_token("<|call|>") + "xxxxxxxx"
    automaton = tokamata.compile(constraint, VOCABULARY)
    for budget in (9, 5, 3, 10):
        assert automaton.start(budget).allows(CALL) == (budget == 10)
        assert (CALL in allowed(automaton.start(budget))) == (budget == 10)


def test_a_token_of_text_with_a_name() -> None:
    """Where it is named, it is no text: other tokens spell that."""
    tokens: list[bytes | None] = [None, *(bytes([b]) for b in range(256)), b"<tool>"]
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[0], special_tokens={"<tool>": 257})
    tool = tokamata.special_token("<tool>")
    state = tokamata.compile(tool + "<tool>", vocabulary).start()
    assert state.forced_tokens() == [257, *(1 + b for b in b"<tool>")]
    assert tokamata.compile(tokamata.literal("<tool>"), vocabulary).start().allows(257)


def test_saved_vocabularies_keep_the_names(tmp_path: Path) -> None:
    VOCABULARY.save(tmp_path / "v.fst")
    loaded = tokamata.Vocabulary.load(tmp_path / "v.fst")
    assert loaded.special_tokens == NAMES
    state = tokamata.compile("a" + tokamata.special_token("<end>"), loaded).start()
    assert state.forced_tokens() == [4 + ord("a"), END]


@pytest.mark.parametrize("lexer", ["basic", "contextual", "none"])
def test_a_tool_call(lexer: str) -> None:
    """Free text, then a call as JSON between special tokens, over the tokens of a real model."""
    vocabulary = qwen()
    grammar = tokamata.grammar(
        "start: (TEXT | call)*\n"
        "call: <|extra_0|> CALL <|extra_1|>\n"
        'CALL.1: %json {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],'
        ' "additionalProperties": false}\n'
        "TEXT: /[^<]+/\n",
        lexer=lexer,  # type: ignore[arg-type]
    )
    names = vocabulary.special_tokens
    opening, closing = names["<|extra_0|>"], names["<|extra_1|>"]
    one = {vocabulary.token_bytes(i): i for i in range(256)}
    automaton = tokamata.compile(grammar, vocabulary)
    state = automaton.start(max_tokens=60)
    path = [one[b"H"], one[b"i"], opening, *(one[bytes([b])] for b in b'{"n": 12}'), closing, one[b"!"], opening]
    inside = False
    for token in path:
        assert state.is_final == (not inside)
        assert state.allows(opening) == (not inside)
        got = np.unpackbits(state.mask().view(np.uint8), bitorder="little").astype(bool)
        want = automaton._native.mask_by_walking(automaton._native.state_of(state)).view(np.uint8)
        assert (got == np.unpackbits(want, bitorder="little").astype(bool)).all()
        assert not any(got[i] for name, i in names.items() if i not in (opening, closing, *vocabulary.eos_token_ids))
        state.advance(token)
        inside = token == opening or (inside and token != closing)
    assert not state.is_final


@lru_cache(maxsize=1)
def qwen() -> tokamata.Vocabulary:
    return tokamata.Vocabulary.from_file(vocabulary_file("qwen"))


@pytest.mark.parametrize("pattern", [r'[^"]*', r"[^<]*", r"(?s:.*)", r"[a-z]+", r".{0,20}", r"(\w+ ){1,9}"])
def test_masks_on_a_real_vocabulary(pattern: str) -> None:
    """Text that a special token ends: each id on its own agrees."""
    vocabulary = qwen()
    names = vocabulary.special_tokens
    end = tokamata.special_token("<|im_start|>") + tokamata.regex("[0-9]")
    automaton = tokamata.compile(tokamata.regex(pattern) + end, vocabulary)
    read = [vocabulary.token_bytes(i) for i in range(len(vocabulary))]
    read = [None if t and b"\xff" in t else t for t in read]
    read[names["<|im_start|>"]] = marker("<|im_start|>")
    whole = tokamata.regex(pattern) + tokamata.literal(marker("<|im_start|>")) + tokamata.regex("[0-9]")
    rng = random.Random(pattern)
    state, text = automaton.start(), b""
    for _ in range(3):
        got = np.unpackbits(state.mask().view(np.uint8), bitorder="little").astype(bool)
        some = {*rng.sample(range(len(read)), 300), *np.flatnonzero(got)[:100].tolist(), *names.values()}
        for t in some - set(vocabulary.eos_token_ids):
            data = read[t]
            assert got[t] == bool(data and whole.accepts_prefix(text + data)), f"{pattern} {text!r} {t} {data!r}"
        choices = [t for t in np.flatnonzero(got).tolist() if read[t] and t < 1000]
        if choices:
            token = rng.choice(choices)
            state.advance(token)
            text += read[token] or b""
    if state.allows(names["<|im_start|>"]):
        state.advance(names["<|im_start|>"])
        assert state.forced_bytes() == b""
        assert state.validate([read.index(b"7")]) == 1


@pytest.mark.parametrize(
    ("name", "token", "token_id"),
    [
        ("qwen", "<|im_start|>", 151644),  # tiktoken
        ("deepseek", "<｜▁pad▁｜>", 2),  # tokenizer.json
        ("mistral", "[INST]", 3),  # sentencepiece
        ("tekken", "[INST]", 3),
        ("gemma", "<start_of_turn>", 105),  # GGUF
    ],
)
def test_every_kind_of_file_has_names(name: str, token: str, token_id: int) -> None:
    """The id is forced between texts, and nothing but its name allows it."""
    vocabulary = qwen() if name == "qwen" else tokamata.Vocabulary.from_file(vocabulary_file(name))
    assert vocabulary.special_tokens[token] == token_id
    assert vocabulary.token_bytes(token_id) is None
    named = tokamata.special_token(token)
    state = tokamata.compile(named + "{" + named, vocabulary).start(max_tokens=4)
    assert state.forced_tokens()[0] == token_id
    state.advance(token_id)
    assert not state.allows(token_id)
    assert state.forced_bytes() == b"{"
    assert not tokamata.compile(~tokamata.literal("x"), vocabulary).start().allows(token_id)


def test_a_tokenizer_of_transformers_has_names() -> None:
    import tokenizers
    import transformers

    model = tokenizers.models.BPE({"a": 0, "b": 1, "</s>": 2}, [])
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(model), eos_token="</s>")
    fast.add_special_tokens({"additional_special_tokens": ["<|call|>"]})
    vocabulary = tokamata.Vocabulary.from_transformers(fast, size=64)
    call = fast.convert_tokens_to_ids("<|call|>")
    state = tokamata.compile("a" + tokamata.special_token("<|call|>") + "b", vocabulary).start()
    assert state.forced_tokens() == [0, call, 1]

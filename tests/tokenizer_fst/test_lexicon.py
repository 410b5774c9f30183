"""D against enumeration: what every short sequence of tokens spells, and nothing else."""

from __future__ import annotations

import itertools
import random

import pytest
from oracle.packages import vocabulary_file
from tokamata.automata import Fst
from tokamata.tokenizer_fst.lexicon import byte_symbols, lexicon, token_symbols

from tokamata import Vocabulary

BYTES = [b"a", b"b", b"\x00", b"\xff", b"\xe4", b"\xb8\xad"]


def random_vocabulary(rng: random.Random) -> Vocabulary:
    """Duplicates, prefixes of each other, empty and special tokens, NUL, bytes that are no UTF-8."""
    tokens: list[bytes | None] = [b"a"]
    for _ in range(rng.randrange(1, 9)):
        kind = rng.randrange(8)
        if kind == 0:
            tokens.append(None)
        elif kind == 1:
            tokens.append(b"")
        elif kind == 2:
            tokens.append(rng.choice(tokens))
        else:
            tokens.append(b"".join(rng.choices(BYTES, k=rng.randrange(1, 4))))
    return Vocabulary(tokens, eos_token_ids=rng.sample(range(1, len(tokens)), k=1))


def byte_of(label: int) -> int:
    assert 1 <= label <= 256
    return label % 256


def pairs(fst: Fst, max_tokens: int) -> list[tuple[tuple[int, ...], bytes]]:
    """(token ids, bytes) of every accepting path with at most that many tokens, with repetition."""
    found = []
    todo: list[tuple[int, tuple[int, ...], bytes]] = [(fst.start(), (), b"")]
    while todo:
        state, tokens, text = todo.pop()
        if fst.is_final(state):
            found.append((tokens, text))
        for arc in fst.arcs(state):
            assert (arc.ilabel == 0) != (arc.olabel == 0)
            if arc.olabel:
                todo.append((arc.nextstate, tokens, text + bytes([byte_of(arc.olabel)])))
            elif len(tokens) < max_tokens:
                todo.append((arc.nextstate, (*tokens, arc.ilabel - 1), text))
        todo = [entry for entry in todo if len(entry[1]) < max_tokens or entry[0] == fst.start()]
    return found


@pytest.mark.parametrize("seed", range(60))
def test_language_is_every_token_sequence_with_its_bytes(seed: int) -> None:
    vocabulary = random_vocabulary(random.Random(seed))
    text = {i: t for i in range(len(vocabulary)) if (t := vocabulary.token_bytes(i))}
    expected = [
        (ids, b"".join(text[i] for i in ids)) for n in range(3) for ids in itertools.product(sorted(text), repeat=n)
    ]
    assert sorted(pairs(vocabulary.fst, 2)) == sorted(expected), seed


@pytest.mark.parametrize("seed", range(40))
def test_shape(seed: int) -> None:
    """One state per prefix, one arc per prefix and per token; arcs sorted by output label; the root start and final."""
    vocabulary = random_vocabulary(random.Random(1000 + seed))
    fst = vocabulary.fst
    tokens = [t for i in range(len(vocabulary)) if (t := vocabulary.token_bytes(i))]
    prefixes = {t[:n] for t in tokens for n in range(1, len(t) + 1)}
    assert (fst.num_states(), fst.num_arcs()) == (1 + len(prefixes), len(prefixes) + len(tokens))
    assert fst.start() == 0
    assert [s for s in fst.states() if fst.is_final(s)] == [0]
    for s in fst.states():
        labels = [(arc.olabel, arc.ilabel) for arc in fst.arcs(s)]
        assert labels == sorted(labels), seed
        assert all(arc.nextstate == 0 for arc in fst.arcs(s) if arc.ilabel)
        assert all(arc.nextstate > s for arc in fst.arcs(s) if arc.olabel)


def test_qwen() -> None:
    vocabulary = Vocabulary.from_file(vocabulary_file("qwen"))
    fst = vocabulary.fst
    assert fst is vocabulary.fst
    assert (fst.num_states(), fst.num_arcs()) == (333_010, 333_009 + 151_643)


def test_symbols() -> None:
    vocabulary = Vocabulary([b"a b", b"\\\n", b"a b", None, "é".encode(), b""], [3], special_tokens={"</s>": 3})
    fst = lexicon(vocabulary, symbols=True)
    names = token_symbols(vocabulary)
    assert [names.symbol(i) for i in range(7)] == [
        "<eps>", r"a\x20b", r"\x5c\x0a", r"a\x20b#2", "</s>", r"\xc3\xa9", "<5>",
    ]  # fmt: skip
    assert fst.input_symbols is not None
    assert fst.output_symbols is not None
    assert list(fst.input_symbols) == list(names)
    assert list(fst.output_symbols) == list(byte_symbols())
    assert [byte_symbols().symbol(i) for i in (1, 32, 97, 256)] == ["0x01", "0x20", "a", "0x00"]

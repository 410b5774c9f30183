"""Pieces of a text, against their list."""

from __future__ import annotations

import random
import re
import time

import pytest
from oracle import mask_walk

import tokamata


def pieces(text: str, by: str) -> set[bytes]:
    """All pieces, from the definition."""
    found = {""}
    if by == "characters":
        found |= {text[i:j] for i in range(len(text)) for j in range(i + 1, len(text) + 1)}
    elif by == "words":
        places = [m.span() for m in re.finditer(r"[^ \t\n\r\f\v]+", text)]
        found |= {text[a : places[j][1]] for i, (a, _) in enumerate(places) for j in range(i, len(places))}
    else:
        lines = text.split("\n")
        whole = [line + "\n" for line in lines[:-1]] + [lines[-1]] * (lines[-1] != "")
        for i in range(len(whole)):
            for j in range(i + 1, len(whole) + 1):
                piece = "".join(whole[i:j])
                found |= {piece, piece.removesuffix("\n")}
    return {piece.encode() for piece in found}


@pytest.mark.parametrize("by", ["characters", "words", "lines"])
def test_members_are_the_pieces(by: str) -> None:
    rng = random.Random(5)
    for case in range(120):
        text = "".join(rng.choice("ab \nèé") for _ in range(rng.randrange(13)))
        constraint = tokamata.substring_of(text, by)  # type: ignore[arg-type]
        want = pieces(text, by)
        longest = max(map(len, want))
        counts = [constraint.count(n) for n in range(longest + 2)]
        assert counts == [sum(len(p) == n for p in want) for n in range(longest + 2)], (case, text)
        assert all(map(constraint.accepts, want)), (case, text)
        fst = constraint.to_fst()
        assert fst.num_states() <= 4 * len(text.encode()) + 2, (case, text)


def test_pieces_combine() -> None:
    text = "the cat sat on the mat"
    three = tokamata.substring_of(text, by="words") & tokamata.regex(r"\w+( \w+){2}")
    assert sorted(three.examples(10)) == [b"cat sat on", b"on the mat", b"sat on the", b"the cat sat"]
    assert (tokamata.substring_of("ab") - "").equivalent(tokamata.choice(["a", "b", "ab"]))
    both = tokamata.substring_of("abcabd") & tokamata.substring_of("xabdab")
    assert both.equivalent(tokamata.choice(["", "a", "b", "d", "ab", "bd", "abd"]))
    quoted = '"' + tokamata.substring_of("é") + '"'
    assert quoted.equivalent(tokamata.choice(['""', '"é"']))
    assert quoted.minimize().equivalent(quoted)


def test_size_is_linear() -> None:
    rng = random.Random(0)
    for alphabet in ("a", "ab", "abcdefghijklmnop"):
        text = "".join(rng.choice(alphabet) for _ in range(2000))
        fst = tokamata.substring_of(text).to_fst()
        assert fst.num_states() <= 2 * len(text)
        assert fst.num_arcs() <= 3 * len(text)


def test_a_megabyte_compiles_in_a_second() -> None:
    rng = random.Random(1)
    words = ["".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randrange(1, 9))) for _ in range(5000)]
    text = " ".join(rng.choice(words) for _ in range(230_000))[: 1 << 20]
    assert len(text) == 1 << 20
    begin = time.process_time()
    constraint = tokamata.substring_of(text)
    assert time.process_time() - begin < 2  # about 0.4 s; room for a busy machine
    for _ in range(20):
        at = rng.randrange(len(text) - 100)
        assert constraint.accepts(text[at : at + 100])
        assert not constraint.accepts(text[at : at + 50] + "0")


@pytest.mark.parametrize("by", ["characters", "words", "lines"])
def test_masks_are_those_of_a_walk(by: str) -> None:
    """Over a vocabulary that can spell any text, masks are not made by walking."""
    rng = random.Random(2)
    tokens = [None, *(bytes([b]) for b in range(256)), *(b"ab", b"ab ", b"a\n", b" b", b"ba,", b'b"', "é".encode())]
    tokens += ["".join(rng.choice('ab \n"') for _ in range(rng.randrange(2, 6))).encode() for _ in range(60)]
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[0])
    for case in range(25):
        text = "".join(rng.choice("aab \né") for _ in range(30))
        piece = tokamata.substring_of(text, by)  # type: ignore[arg-type]
        shapes = [piece, '"' + piece + '"', piece + "," + piece, piece | "never", (piece + "\n").repeat(0, 3)]
        constraint = shapes[case % len(shapes)]
        automaton = tokamata.compile(constraint, vocabulary)
        state = automaton.start()
        for _ in range(12):
            allowed = mask_walk.agreed(automaton, state, case, text)
            if not allowed:
                break
            state.advance(rng.choice(allowed))


def test_arguments() -> None:
    with pytest.raises(ValueError, match='expected by="characters", "words" or "lines", got \'bytes\''):
        tokamata.substring_of("a", by="bytes")  # type: ignore[arg-type]
    with pytest.raises(tokamata.ConstraintError, match="expected UTF-8, got the byte 0xff at position 1"):
        tokamata.substring_of(b"a\xff")
    assert tokamata.substring_of("").equivalent(tokamata.literal(""))
    assert tokamata.substring_of(" \n", by="words").equivalent(tokamata.literal(""))

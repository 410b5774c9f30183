"""Saved vocabularies: what comes back, what OpenFst sees, and damaged files."""

from __future__ import annotations

import copy
import pickle
import random
import struct
import time
from pathlib import Path

import pynini
import pytest
from oracle.openfst import from_openfst
from oracle.packages import vocabulary_file
from tokamata.automata import Fst
from tokamata.tokenizer_fst.artifact import read_artifact, write_artifact

from tokamata import MissingFileError, Vocabulary, VocabularyError, _core

SEED = 5
TOKENS = [b"a", None, b"", b"\x00\xff", b"ab", b"a", "é".encode(), None, b"</s>"]


def small() -> Vocabulary:
    return Vocabulary(TOKENS, eos_token_ids=[7, 8], special_tokens={"<ß>": 1, "</s>": 8}, adds_dummy_prefix=True)


def same(a: Vocabulary, b: Vocabulary) -> bool:
    return (
        [a.token_bytes(i) for i in range(len(a))] == [b.token_bytes(i) for i in range(len(b))]
        and a.eos_token_ids == b.eos_token_ids
        and a.special_tokens == b.special_tokens
        and a.adds_dummy_prefix == b.adds_dummy_prefix
    )


def test_round_trip(tmp_path: Path) -> None:
    vocabulary = small()
    vocabulary.save(tmp_path / "v.fst")
    loaded = Vocabulary.load(tmp_path / "v.fst")
    assert same(vocabulary, loaded)
    assert [p.name for p in tmp_path.iterdir()] == ["v.fst"]
    loaded.save(str(tmp_path / "w.fst"))
    assert (tmp_path / "v.fst").read_bytes() == (tmp_path / "w.fst").read_bytes()
    assert same(vocabulary, pickle.loads(pickle.dumps(vocabulary)))
    assert same(vocabulary, copy.deepcopy(vocabulary))


@pytest.mark.parametrize("name", ["mistral", "qwen"])
def test_real_round_trip_is_quick(name: str, tmp_path: Path) -> None:
    start = time.perf_counter()
    vocabulary = Vocabulary.from_file(vocabulary_file(name))
    built = time.perf_counter() - start
    vocabulary.save(tmp_path / "v.fst")
    start = time.perf_counter()
    loaded = Vocabulary.load(tmp_path / "v.fst")
    assert time.perf_counter() - start < built / 2
    assert same(vocabulary, loaded)
    assert (loaded.fst.num_states(), loaded.fst.num_arcs()) == (vocabulary.fst.num_states(), vocabulary.fst.num_arcs())


def test_openfst_opens_the_file_as_d(tmp_path: Path) -> None:
    vocabulary = small()
    vocabulary.save(tmp_path / "v.fst")
    opened = pynini.Fst.read(str(tmp_path / "v.fst"))
    assert opened.verify()
    assert Fst.read(tmp_path / "v.fst").to_bytes() == vocabulary.fst.to_bytes()
    ours, theirs = vocabulary.fst, from_openfst(opened)
    assert ours.num_states() == theirs.num_states()
    assert ours.start() == theirs.start()
    for s in ours.states():
        assert ours.final(s) == theirs.final(s)
        assert list(ours.arcs(s)) == list(theirs.arcs(s))


def test_openfst_composes_it(tmp_path: Path) -> None:
    """D composed with the acceptor of `aab`: the token sequences that spell it."""
    small().save(tmp_path / "v.fst")
    composed = pynini.compose(pynini.Fst.read(str(tmp_path / "v.fst")), pynini.accep("aab"))
    tokens = pynini.project(composed, "input").rmepsilon()
    paths = tokens.paths()
    found = set()
    while not paths.done():
        found.add(tuple(label - 1 for label in paths.ilabels()))
        paths.next()
    assert found == {(0, 4), (5, 4)}


def test_sections(tmp_path: Path) -> None:
    path = tmp_path / "x.fst"
    sections = {"one": b"", "zwei ü": bytes(range(256)) * 3, "three": b"x"}
    write_artifact(path, b"any bytes", sections)
    assert path.read_bytes().startswith(b"any bytes")
    assert read_artifact(path) == sections
    with pytest.raises(VocabularyError, match="holds no vocabulary"):
        Vocabulary.load(path)


def test_further_sections_are_kept(tmp_path: Path) -> None:
    vocabulary = small()
    vocabulary._sections["masks"] = b"\x00\x01"
    vocabulary.save(tmp_path / "v.fst")
    assert Vocabulary.load(tmp_path / "v.fst")._sections == {"masks": b"\x00\x01"}


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 25])
def test_every_byte_is_guarded(tmp_path: Path, step: int) -> None:
    """Every one, or every so many and those of the footer."""
    small().save(tmp_path / "v.fst")
    data = (tmp_path / "v.fst").read_bytes()
    path = tmp_path / "w.fst"
    rng = random.Random(SEED)
    places = [*range(rng.randrange(step), len(data) - 100, step), *range(len(data) - 100, len(data))]
    for at in places:
        path.write_bytes(data[:at] + bytes([data[at] ^ rng.randrange(1, 256)]) + data[at + 1 :])
        with pytest.raises(VocabularyError, match=r"w\.fst: artifact: .*; save it again with Vocabulary\.save"):
            Vocabulary.load(path)
    for size in places:
        path.write_bytes(data[:size])
        with pytest.raises(VocabularyError, match=r"truncated|not end as"):
            Vocabulary.load(path)


def test_forged_sections_never_crash(tmp_path: Path) -> None:
    """Damage under a right checksum: the tokens' image and the names are checked by themselves."""
    vocabulary = small()
    vocabulary.save(tmp_path / "v.fst")
    sections = read_artifact(tmp_path / "v.fst")
    rng = random.Random(SEED)
    path = tmp_path / "w.fst"
    refused = 0
    for _ in range(1500):
        forged = dict(sections)
        name = rng.choice(list(forged))
        data = bytearray(forged[name])
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(data) + 1)
            if rng.random() < 0.2:
                del data[at:]
            elif rng.random() < 0.2:
                data[at:at] = rng.randbytes(rng.randrange(1, 9))
            else:
                data[at : at + 1] = bytes([rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])])
        forged[name] = bytes(data)
        write_artifact(path, b"", forged)
        try:
            loaded = Vocabulary.load(path)
            assert loaded.fst.num_states() < 100
        except VocabularyError:
            refused += 1
    assert refused > 500


def image(*, offsets: list[int], special: int = 2, text: bytes = b"abc", version: int = 1) -> bytes:
    """Three tokens, the second special and EOS, as a vocabulary's section holds them."""
    return struct.pack("<4I I Q 4I", version, 3, 1, len(text), 1, special, *offsets) + text


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        image(offsets=[0, 1, 1, 3])[:-1],
        image(offsets=[0, 1, 1, 3]) + b"x",
        image(offsets=[0, 1, 1, 3], version=2),
        image(offsets=[0, 1, 2, 3]),  # a special token with text
        image(offsets=[0, 2, 1, 3], special=0),  # a token that ends before it begins
        image(offsets=[1, 1, 1, 3]),
        image(offsets=[0, 1, 1, 2]),
    ],
)
def test_images_of_tokens_are_checked(damaged: bytes) -> None:
    good = _core.Vocabulary.from_bytes(image(offsets=[0, 1, 1, 3]))
    assert [good.token_bytes(i) for i in range(3)] == [b"a", None, b"bc"]
    with pytest.raises(VocabularyError, match="the saved tokens are damaged; save the vocabulary again"):
        _core.Vocabulary.from_bytes(damaged)


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"none\.fst: no such file; pass the path of a file that save wrote"):
        Vocabulary.load(tmp_path / "none.fst")
    pynini.accep("abc").write(str(tmp_path / "plain.fst"))
    with pytest.raises(VocabularyError, match=r"an \.fst without a vocabulary; save it again with Vocabulary\.save"):
        Vocabulary.load(tmp_path / "plain.fst")
    with pytest.raises(FileNotFoundError):
        small().save(tmp_path / "no" / "folder.fst")
    with pytest.raises(VocabularyError, match=r"read a saved vocabulary with Vocabulary\.load"):
        Vocabulary.from_file(tmp_path / "plain.fst")
    (tmp_path / "folder.fst").mkdir()
    with pytest.raises(OSError, match=r"folder\.fst"):
        small().save(tmp_path / "folder.fst")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.fst", "plain.fst"]  # nothing half-written remains

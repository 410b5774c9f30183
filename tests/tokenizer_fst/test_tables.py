"""Mask tables saved with a vocabulary: the same masks, and no crash whatever the bytes."""

from __future__ import annotations

import copy
import pickle
import random
import struct
from pathlib import Path

import numpy as np
import pytest
from oracle import mask_walk
from oracle.packages import vocabulary_file
from tokamata.tokenizer_fst.artifact import read_artifact, write_artifact

from tokamata import Vocabulary, VocabularyError, _core, compile, regex

SEED = 11
HEADER = 2 + 17  # numbers of 8 bytes: kind, checksum of the tokens, items of each of the 17 arrays
PATTERNS = [
    ".*",
    r'"[^"\\]{0,9}"',
    "[a-z]{1,3}[0-9]+",
    r"[^,\n]*,",
    "(?s:.){2,5}é?",
    "(ab|b[a-d]*){1,4}",
    r"(\w+ ){2}\w{3}",
    '[^"]{1,500}',
]


def random_vocabulary(seed: int, size: int = 1500) -> Vocabulary:
    """Single bytes and random texts: enough below a and b for factors of their own."""
    rng = random.Random(seed)
    letters = ['"', "\\", ",", "\n", "é", "字", *"abcdefghijABC019 _"]
    texts = ["".join(rng.choices(letters, k=rng.randrange(2, 7))).encode() for _ in range(size)]
    cut = [rng.choice([b"", b"", b"a", b"b"]) + t[: rng.randrange(1, len(t) + 1)] for t in texts]
    return Vocabulary([bytes([b]) for b in range(256)] + cut + [None, b""], eos_token_ids=[256 + size])


def masks(vocabulary: Vocabulary) -> list[np.ndarray]:
    """Masks along a path of each pattern, the first that the mask allows."""
    found = []
    for pattern in PATTERNS:
        state = compile(regex(pattern), vocabulary).start()
        for _ in range(4):
            found.append(state.mask())
            allowed = mask_walk.allowed(found[-1])
            if not allowed or not state.allows(allowed[0]) or state.is_finished:
                break
            state.advance(allowed[0])
    return found


def same_masks(a: Vocabulary, b: Vocabulary) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(masks(a), masks(b), strict=True))


def parts(vocabulary: Vocabulary) -> tuple[bytes, bytes]:
    return vocabulary._native.to_bytes(), vocabulary._native.tables_to_bytes()


def with_tables(vocabulary: Vocabulary, tables: bytes | None) -> Vocabulary:
    return Vocabulary._restore(vocabulary._all_sections(), tables)


def array_places(tables: bytes) -> list[tuple[int, int]]:
    """Where each array of an image begins and ends."""
    counts = struct.unpack_from(f"<{HEADER}Q", tables)[2:]
    sizes = [16, 4, 40, 4, 4, 64, 4, 4, 8, 4, 2, 16, 4 * (9 + 1 + 256 + 4), 4, 4, 2, len(tables)]
    ends, at = [], HEADER * 8
    for count, size in zip(counts[:-1], sizes, strict=False):
        ends.append((at, at + count * size))
        at += -(-count * size // 8) * 8
    return [*ends, (at, len(tables))]


@pytest.mark.parametrize("seed", range(3))
def test_loaded_tables_are_the_built_ones(seed: int, tmp_path: Path) -> None:
    vocabulary = random_vocabulary(seed)
    vocabulary.save(tmp_path / "v.fst")
    loaded = Vocabulary.load(tmp_path / "v.fst")
    assert parts(loaded) == parts(vocabulary)
    assert same_masks(loaded, vocabulary)
    assert all(same_masks(v, vocabulary) for v in (copy.deepcopy(vocabulary), pickle.loads(pickle.dumps(loaded))))


def test_real_tables(tmp_path: Path) -> None:
    vocabulary = Vocabulary.from_file(vocabulary_file("qwen"))
    vocabulary.save(tmp_path / "v.fst")
    loaded = Vocabulary.load(tmp_path / "v.fst")
    assert parts(loaded)[1] == parts(vocabulary)[1]
    assert same_masks(loaded, vocabulary)
    assert loaded.memory_bytes < 64e6


def test_alignment_and_owner() -> None:
    """Tables that begin at an odd address are copied, others are kept alive."""
    vocabulary = random_vocabulary(SEED)
    image, tables = parts(vocabulary)
    for shift in range(9):
        shifted = memoryview(b"\0" * shift + tables)[shift:]
        native = _core.Vocabulary.from_bytes(image, shifted)
        del shifted
        assert native.tables_to_bytes() == tables


def test_other_versions_are_built_anew() -> None:
    vocabulary = random_vocabulary(SEED)
    _, tables = parts(vocabulary)
    other = bytes([tables[0] ^ 1]) + tables[1:-8]
    assert same_masks(with_tables(vocabulary, other), vocabulary)
    assert same_masks(with_tables(vocabulary, None), vocabulary)
    assert parts(with_tables(vocabulary, other))[1] == tables


def test_tables_of_other_tokens() -> None:
    with pytest.raises(VocabularyError, match="mask tables belong to other tokens; save the vocabulary again"):
        with_tables(random_vocabulary(1), parts(random_vocabulary(2))[1])


def test_every_cut_and_flip_is_noticed(tmp_path: Path) -> None:
    """Cuts at the ends of all sections and arrays; flipped bits everywhere: the file's checksum tells."""
    random_vocabulary(SEED).save(tmp_path / "v.fst")
    data = (tmp_path / "v.fst").read_bytes()
    tables = read_artifact(tmp_path / "v.fst")["tables"]
    begin = data.index(tables)
    ends = {0, begin, len(data) - 56, len(data) - 8}
    ends |= {data.index(s) + len(s) for s in read_artifact(tmp_path / "v.fst").values()}
    ends |= {begin + place for places in array_places(tables) for place in places}
    path = tmp_path / "w.fst"
    for end in sorted(ends - {len(data)}):
        for size in {max(0, end - 1), end, end + 1} - {len(data)}:
            path.write_bytes(data[:size])
            with pytest.raises(VocabularyError, match="truncated"):
                Vocabulary.load(path)
    rng = random.Random(SEED)
    places = [*range(begin, begin + HEADER * 8), *(rng.randrange(len(data)) for _ in range(300))]
    for at in places:
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :])
        with pytest.raises(VocabularyError, match=r"save it again with Vocabulary\.save"):
            Vocabulary.load(path)


def test_cut_images() -> None:
    vocabulary = random_vocabulary(SEED)
    _, tables = parts(vocabulary)
    for end in {place for places in array_places(tables) for place in places} | {1, 8, HEADER * 8 - 1}:
        if end < len(tables):
            with pytest.raises(VocabularyError, match="the saved mask tables are damaged; save the vocabulary again"):
                with_tables(vocabulary, tables[:end])
    with pytest.raises(VocabularyError, match="damaged"):
        with_tables(vocabulary, tables + b"\0" * 8)


def test_greatest_numbers_are_refused() -> None:
    """Each array's first items, overwritten with the greatest number: an index out of bounds never passes."""
    vocabulary = random_vocabulary(SEED)
    _, tables = parts(vocabulary)
    places = array_places(tables)
    fields = [(array, 0, 4) for array in (0, 1, 3, 6, 7, 8, 9)] + [(2, 32, 4), (2, 36, 4), (8, 4, 4)]
    fields += [(5, at, 4) for at in range(32, 60, 4)] + [(12, at, 4) for at in range(0, 4 * (9 + 1 + 256 + 4), 4)]
    fields += [(13, 0, 4)] + [(16, at, 4) for at in range(0, 4 * (9 + 3 * (9 + 1 + 256)), 4)]
    for array, at, count in fields:  # number of the array, bytes to overwrite
        begin, end = places[array]
        assert end >= begin + at + count, (array, at)
        forged = tables[: begin + at] + b"\xff" * count + tables[begin + at + count :]
        with pytest.raises(VocabularyError, match="the saved mask tables are damaged"):
            with_tables(vocabulary, forged)
    rows_of_bytes = places[16][0] + 4 * (9 + 3 * (9 + 1 + 256) + 13 * 25 + 256 + 256 + 1)
    for at in range(rows_of_bytes, rows_of_bytes + 4 * 128, 4):  # of which the greatest number is none
        forged = tables[:at] + b"\xfe" + b"\xff" * 3 + tables[at + 4 :]
        with pytest.raises(VocabularyError, match="the saved mask tables are damaged"):
            with_tables(vocabulary, forged)
    counts = struct.unpack_from(f"<{HEADER}Q", tables)
    for i in range(2, HEADER):
        assert counts[i] > 0
        for number in {0, counts[i] - 1, 1 << 32, (1 << 64) - 1}:
            forged = bytearray(tables)
            struct.pack_into("<Q", forged, 8 * i, number)
            with pytest.raises(VocabularyError, match="the saved mask tables are damaged"):
                with_tables(vocabulary, bytes(forged))


def test_forged_tables_never_crash(tmp_path: Path) -> None:
    """Damage under a right checksum: refused, or masks come out, right or wrong, but in time."""
    vocabulary = random_vocabulary(SEED, size=900)
    _, tables = parts(vocabulary)
    places = [p for p in array_places(tables) if p[1] > p[0]]
    rng = random.Random(SEED)
    refused = kept = 0
    for turn in range(4000):
        forged = bytearray(tables)
        begin, end = rng.choice(places)
        for _ in range(rng.choice([1, 1, 1, 4])):
            at = rng.randrange(begin, end)
            if rng.random() < 0.5:  # a whole number near another one
                at = begin + (at - begin) // 4 * 4
                if at + 4 <= len(forged):
                    old = struct.unpack_from("<I", forged, at)[0]
                    struct.pack_into("<I", forged, at, (old + rng.choice([-2, -1, 1, 2, 255])) % (1 << 32))
            else:
                forged[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        try:
            loaded = with_tables(vocabulary, bytes(forged))
        except VocabularyError:
            refused += 1
            continue
        kept += 1
        for mask in masks(loaded):
            assert not any(mask[-1] >> b & 1 for b in range(len(vocabulary) % 32, 32)), (SEED, turn)
    assert refused > 100, refused
    assert kept > 20, kept


def test_forged_file(tmp_path: Path) -> None:
    """The same through a file: its checksum is right, its tables are not."""
    vocabulary = random_vocabulary(SEED)
    vocabulary.save(tmp_path / "v.fst")
    sections = read_artifact(tmp_path / "v.fst")
    tables = bytearray(sections["tables"])
    begin, _ = array_places(bytes(tables))[1]  # ids of tokens
    struct.pack_into("<I", tables, begin, len(vocabulary))
    write_artifact(tmp_path / "w.fst", b"", {**sections, "tables": bytes(tables)})
    with pytest.raises(VocabularyError, match="the saved mask tables are damaged"):
        Vocabulary.load(tmp_path / "w.fst")
    del sections["tables"]
    write_artifact(tmp_path / "w.fst", b"", sections)
    assert same_masks(Vocabulary.load(tmp_path / "w.fst"), vocabulary)

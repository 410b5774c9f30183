"""GGUF files that are legal and odd, and damaged ones: what is read, what is passed over, what is refused."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import pytest
from tokamata.tokenizer_fst import gguf

from tokamata import Vocabulary, VocabularyError

TOKENS = ["▁a".encode(), b"b", b"</s>"]


def string(text: bytes, order: str) -> bytes:
    return struct.pack(order + "Q", len(text)) + text


def entry(key: str, kind: int, value: bytes, order: str = "<") -> bytes:
    return string(key.encode(), order) + struct.pack(order + "I", kind) + value


def array(kind: int, items: list[bytes], order: str = "<") -> bytes:
    return struct.pack(order + "IQ", kind, len(items)) + b"".join(items)


def tokenizer(order: str = "<", **replaced: bytes) -> list[bytes]:
    """The entries of a small tokenizer; each value that is given takes the place of its own, type included."""
    values = {
        "model": struct.pack(order + "I", 8) + string(b"llama", order),
        "tokens": struct.pack(order + "I", 9) + array(8, [string(t, order) for t in TOKENS], order),
        "token_type": struct.pack(order + "I", 9) + array(5, [struct.pack(order + "i", k) for k in (1, 1, 3)], order),
        "eos_token_id": struct.pack(order + "II", 4, 2),
    }
    return [string(b"tokenizer.ggml." + k.encode(), order) + v for k, v in (values | replaced).items()]


def written(path: Path, entries: list[bytes], order: str = "<", hole: int = 0) -> Path:
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack(order + "IQQ", 3, 0, len(entries)) + b"".join(entries))
        file.truncate(file.tell() + hole)
    return path


def check(path: Path) -> None:
    vocabulary = Vocabulary.from_file(path)
    assert [vocabulary.token_bytes(i) for i in range(3)] == [b" a", b"b", None]
    assert vocabulary.eos_token_ids == [2]
    assert vocabulary.adds_dummy_prefix


@pytest.mark.parametrize("order", ["<", ">"])
def test_either_byte_order_is_read(order: str, tmp_path: Path) -> None:
    check(written(tmp_path / "x.gguf", tokenizer(order), order))


def test_arrays_of_arrays_are_passed_over(tmp_path: Path) -> None:
    inner = [array(4, [b"\1\0\0\0"] * 2), array(8, [string(b"q", "<")]), array(9, [array(7, [b"\1"]), array(0, [])])]
    more = [entry("x.nested", 9, array(9, inner)), entry("tokenizer.ggml.x", 9, array(9, inner)), entry("y", 7, b"\1")]
    check(written(tmp_path / "x.gguf", [*more, *tokenizer()]))


@pytest.mark.parametrize("none", [struct.pack("<Ii", 5, -1), struct.pack("<II", 4, 2**32 - 1)])
def test_an_id_of_minus_one_is_no_token(none: bytes, tmp_path: Path) -> None:
    check(written(tmp_path / "x.gguf", tokenizer(eot_token_id=none, eom_token_id=none)))
    path = written(tmp_path / "y.gguf", tokenizer(eos_token_id=none))
    with pytest.raises(VocabularyError, match="does not say which token ends a text"):
        Vocabulary.from_file(path)
    assert Vocabulary.from_file(path, eos_token_ids=[2]).eos_token_ids == [2]


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("eos_token_id", struct.pack("<I?", 7, True), "eos_token_id: expected a token id, got True"),
        ("eos_token_id", struct.pack("<If", 6, 2.0), r"eos_token_id: expected a token id, got 2\.0"),
        ("eot_token_id", struct.pack("<Ii", 5, -2), "eot_token_id: expected a token id, got -2"),
        ("token_type", struct.pack("<I", 9) + array(7, [b"\1"] * 3), "expected integers as token types, got True"),
        (
            "token_type",
            struct.pack("<I", 9) + array(8, [string(b"1", "<")] * 3),
            "expected integers as token types, got b'1'",
        ),
        ("add_space_prefix", struct.pack("<I", 8) + string(b"no", "<"), "add_space_prefix: expected true or false"),
        ("tokens", struct.pack("<I", 9) + array(9, [array(8, [])]), "an array of arrays where the tokenizer should be"),
        ("tokens", struct.pack("<IIQ", 9, 8, 10**7 + 1), "an array of 10000001 is past the limit of 10000000 tokens"),
        ("x", struct.pack("<IIQ", 9, 8, 2**40), "more than 30000000 metadata values"),
        ("x", struct.pack("<I", 9) + struct.pack("<IQ", 9, 2) * 2000, "arrays in arrays, 1000 deep"),
        ("x", struct.pack("<II", 9, 13) + bytes(8), "metadata of unknown type 13"),
    ],
)
def test_damaged_metadata_are_refused(key: str, value: bytes, text: str, tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match=text):
        Vocabulary.from_file(written(tmp_path / "x.gguf", tokenizer(**{key: value})))


def test_what_is_not_needed_takes_no_room(tmp_path: Path) -> None:
    size = 1 << 27
    path = written(tmp_path / "x.gguf", [*tokenizer(), entry("x", 9, struct.pack("<IQ", 0, size))], hole=size)
    tracemalloc.start()
    try:
        check(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()


def test_many_values_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf, "_MOST_VALUES", 50)
    check(written(tmp_path / "x.gguf", [*tokenizer(), entry("x", 9, array(9, [array(0, [])] * 20))]))
    for more in (entry("x", 9, array(9, [array(0, [])] * 60)), entry("x", 9, array(8, [bytes(8)] * 60))):
        with pytest.raises(VocabularyError, match="more than 50 metadata values"):
            Vocabulary.from_file(written(tmp_path / "x.gguf", [*tokenizer(), more]))
    with pytest.raises(VocabularyError, match="more than 50 metadata values"):
        Vocabulary.from_file(written(tmp_path / "x.gguf", [*tokenizer(), *[entry("x", 7, b"\1")] * 60]))


@pytest.mark.parametrize("piece", ["<0x+1>", "<0x 1>", "<0x\u0661\u0661>", "<0xA>", "<0xAAA>", "0xAA"])
def test_bytes_are_two_digits(piece: str, tmp_path: Path) -> None:
    tokens = struct.pack("<I", 9) + array(8, [string(t, "<") for t in (piece.encode(), b"b", b"</s>")])
    kinds = struct.pack("<I", 9) + array(5, [struct.pack("<i", k) for k in (6, 1, 3)])
    with pytest.raises(VocabularyError, match="is not spelled like <0x0A>"):
        Vocabulary.from_file(written(tmp_path / "x.gguf", tokenizer(tokens=tokens, token_type=kinds)))

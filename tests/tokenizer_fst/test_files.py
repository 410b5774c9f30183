"""Tokenizer files that are missing, unknown, truncated, damaged or silent about EOS: one clear error each."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path

import pytest
from oracle.gguf_file import gguf_bytes
from oracle.packages import vocabulary_file
from oracle.sentencepiece_model import model_bytes

from tokamata import ConstraintError, Vocabulary, VocabularyError

SEED = 3

_PIECES = [(b"<unk>", 0.0, 2), (b"</s>", 0.0, 3), ("▁a".encode(), -1.0, 1), (b"<0x41>", 0.0, 6), (b"b c", 0.0, 4)]
_JSON = {
    "version": "1.0",
    "added_tokens": [{"id": 3, "content": "</s>", "special": True}, {"id": 4, "content": "<x>", "special": False}],
    "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    "decoder": {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    },
    "model": {"type": "BPE", "unk_token": "a", "vocab": {"a": 0, "▁b": 1, "<0x0A>": 2}, "merges": []},
}
_TEKKEN = {
    "config": {"default_vocab_size": 6, "default_num_special_tokens": 3},
    "vocab": [{"rank": i, "token_bytes": base64.b64encode(b"x" * i).decode(), "token_str": None} for i in range(1, 5)],
}
for _i, _entry in enumerate(_TEKKEN["vocab"]):  # type: ignore[arg-type]
    _entry["rank"] = _i  # type: ignore[index]

SMALL: dict[str, bytes] = {
    "m.model": model_bytes(_PIECES, ids={"unk": 0, "eos": 1}, dummy_prefix=True),
    "tokenizer.json": json.dumps(_JSON).encode(),
    "tekken.json": json.dumps(_TEKKEN).encode(),
    "g.gguf": gguf_bytes(b"llama", [p for p, _, _ in _PIECES], [k for _, _, k in _PIECES], eos_token_id=1),
    "vocab.txt": b"[UNK]\n[SEP]\na\n##b\n",
    "q.tiktoken": b"".join(base64.b64encode(bytes([65 + i])) + f" {i}\n".encode() for i in range(9)),
}
_EOS = {"q.tiktoken": {"special_tokens": {"<|endoftext|>": 9}}}


@pytest.mark.parametrize("name", SMALL)
def test_small_files_are_read(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(SMALL[name])
    vocabulary = Vocabulary.from_file(tmp_path / name, **_EOS.get(name, {}))
    assert len(vocabulary.eos_token_ids) == 1
    assert vocabulary.token_bytes(vocabulary.eos_token_ids[0]) is None


def test_tokenizer_json_by_hand(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(SMALL["tokenizer.json"])
    vocabulary = Vocabulary.from_file(tmp_path / "tokenizer.json")
    assert [vocabulary.token_bytes(i) for i in range(5)] == [None, b"b", b"\n", None, b"<x>"]


@pytest.mark.parametrize("name", SMALL)
def test_mutated_files_never_crash(name: str, tmp_path: Path) -> None:
    rng = random.Random(SEED)
    path = tmp_path / name
    for case in range(400):
        data = bytearray(SMALL[name])
        for _ in range(rng.randrange(1, 4)):
            kind = rng.randrange(4)
            at = rng.randrange(len(data) + 1)
            if kind == 0:
                del data[at:]
            elif kind == 1:
                data[at : at + 1] = bytes([rng.choice([0, 0x7F, 0x80, 0xFF, rng.randrange(256)])])
            elif kind == 2:
                data[at:at] = rng.randbytes(rng.randrange(1, 9))
            else:
                del data[at : at + rng.randrange(1, 9)]
        path.write_bytes(data)
        try:
            vocabulary = Vocabulary.from_file(path, **_EOS.get(name, {}))
        except VocabularyError:
            continue
        else:
            assert len(vocabulary) < 10_000_000, (SEED, case)


@pytest.mark.parametrize("name", ["deepseek", "mistral", "tekken", "gemma"])
def test_truncated_real_files(name: str, tmp_path: Path) -> None:
    source = vocabulary_file(name)
    data = source.read_bytes()[: 8 << 20]
    path = tmp_path / source.name
    for size in (5, 1000, len(data) // 2, len(data) - 7 if name != "gemma" else 3 << 20):
        path.write_bytes(data[:size])
        with pytest.raises(VocabularyError, match=r"damaged|truncated|not a known kind"):
            Vocabulary.from_file(path)


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("x.bin", b"\x00\x01\x02", r"not a known kind of tokenizer file; expected one of tokenizer\.json"),
        ("x.json", b'{"a": 1}', r"JSON, but neither a tokenizer\.json nor a tekken file"),
        ("x.json", b'{"model": {"vocab": {"a": -1}}}', "expected a token id, got -1"),
        ("x.json", b'{"model": {"vocab": {"a": 100000000000}}}', "past the limit of 10000000 tokens"),
        ("x.json", b'{"model": {"vocab": {"\\ud800": 0}}}', "not valid Unicode text"),
        ("x.json", b'{"model": {"vocab": {"a": 0}}, "decoder": {"type": "CTC"}}', "decoder 'CTC' is not known"),
        ("x.json", b'{"model": {"vocab": {"a": 0}}}', r"does not say which token ends a text; pass eos_token_ids"),
        (
            "x.json",
            b'{"model": {"vocab": {"a": 0}}, "decoder": {"type": "Strip", "content": " ", "start": "", "stop": 0}}',
            "not a tokenizer.json as expected .ValueError: invalid literal",
        ),
        ("x.json", b'{"model": ' + b"[" * 100000, "not valid JSON"),
        ("x.tiktoken", b"IQ== 0\nIg== 0\n", "line 2: rank 0 is there twice"),
        ("x.tiktoken", b"IQ== 0\nIg=\n", "line 2: expected base64 bytes and a rank"),
        ("x.tiktoken", b"", "no tokens; expected lines of base64"),
        ("x.tiktoken", b"IQ== 0\nIg== 1\n", r"does not say which token ends a text; pass eos_token_ids"),
        ("x.json", json.dumps(_TEKKEN | {"vocab": []}).encode(), "0 tokens, but the configuration promises 3"),
        ("x.gguf", b"GGUF\x03\0\0\0", "truncated at byte 8"),
        ("x.gguf", gguf_bytes(b"rwkv", [b"a"], [1]), "tokenizer kind 'rwkv' is not read"),
        ("x.gguf", gguf_bytes(b"llama", [b"a"], [1]), "does not say which token ends a text"),
        ("x.gguf", gguf_bytes(b"llama", [b"a"], [6]), "byte piece 'a' is not spelled like <0x0A>"),
        ("x.model", b"\n\xff\xff\xff\xff\x7f", "damaged or truncated sentencepiece model"),
    ],
)
def test_refusals(name: str, data: bytes, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(VocabularyError, match=text):
        Vocabulary.from_file(tmp_path / name)


@pytest.mark.parametrize("name", ["g.gguf", "tekken.json", "m.model", "tokenizer.json", "q.tiktoken"])
def test_a_folder_that_holds_a_file(name: str, tmp_path: Path) -> None:
    stem, dot, kind = name.partition(".")
    renamed = {"tekken": "tekken_240911", "m": "spiece", "g": "model-q4"}.get(stem, stem) + dot + kind
    (tmp_path / renamed).write_bytes(SMALL[name])
    (tmp_path / "mmproj-model.gguf").write_bytes(b"GGUF")
    more = {"eos_token_ids": [1]} if name == "q.tiktoken" else {}
    assert len(Vocabulary.from_file(tmp_path, **more)) == len(Vocabulary.from_file(tmp_path / renamed, **more))


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no such file; pass the path of a tokenizer file") as caught:
        Vocabulary.from_file(tmp_path / "none.json")
    assert isinstance(caught.value, ConstraintError)
    with pytest.raises(VocabularyError, match=r"the folder holds none of tokenizer\.json"):
        Vocabulary.from_file(tmp_path)


def test_configuration_beside_the_file_names_eos(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(SMALL["tokenizer.json"])
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [1, 4]}')
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": {"content": "</s>"}}')
    assert Vocabulary.from_file(tmp_path).eos_token_ids == [1, 3, 4]
    assert Vocabulary.from_file(tmp_path, eos_token_ids=[2]).eos_token_ids == [2]


def test_special_tokens_of_tiktoken(tmp_path: Path) -> None:
    (tmp_path / "q.tiktoken").write_bytes(SMALL["q.tiktoken"])
    vocabulary = Vocabulary.from_file(tmp_path / "q.tiktoken", special_tokens={"<|im_end|>": 11, "<|x|>": 9}, size=20)
    assert len(vocabulary) == 20
    assert vocabulary.eos_token_ids == [11]
    assert vocabulary.special_tokens == {"<|im_end|>": 11, "<|x|>": 9}
    assert [vocabulary.token_bytes(i) for i in (0, 8, 9, 10, 19)] == [b"A", b"I", None, None, None]
    with pytest.raises(VocabularyError, match="has id -1, outside"):
        Vocabulary.from_file(tmp_path / "q.tiktoken", special_tokens={"<|im_end|>": -1})

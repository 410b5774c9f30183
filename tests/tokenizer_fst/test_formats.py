"""Small tokenizers of every kind, trained here: encoded ids give the text, and tokens mean what the decoder says."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import tokenizers
from oracle.gguf_file import gguf_bytes
from oracle.sentencepiece_model import model_bytes
from oracle.texts import texts
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from tokamata import Vocabulary, VocabularyError

SEED = 7
TEXTS = [
    t for t in texts(400, SEED) if "▁" not in t and "<0x" not in t
]  # spellings that these tokenizers read as a space, a byte
EOS = "</s>"


def _train(tokenizer: Tokenizer, trainer: object, texts: list[str] = TEXTS) -> Tokenizer:
    tokenizer.train_from_iterator(texts, trainer)  # type: ignore[arg-type]
    return tokenizer


def byte_level(prefix: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=[EOS], initial_alphabet=alphabet, show_progress=False)
    return _train(tokenizer, trainer)


def _fallback_pieces() -> list[str]:
    return [f"<0x{b:02X}>" for b in range(256)]


def llama() -> Tokenizer:
    """BPE with byte fallback; ▁ prepended by a normalizer, taken away again by Strip after Fuse."""
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    _train(trained, trainers.BpeTrainer(vocab_size=600, special_tokens=["<unk>", EOS], show_progress=False))
    model = json.loads(trained.to_str())["model"]
    vocab = {piece: i for i, piece in enumerate(["<unk>", EOS, *_fallback_pieces()])}
    for piece in model["vocab"]:
        vocab.setdefault(piece, len(vocab))
    merges = [tuple(m) for m in model["merges"]]
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.add_special_tokens(["<unk>", EOS])
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return tokenizer


def unigram() -> Tokenizer:
    trained = Tokenizer(models.Unigram())
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=500, special_tokens=["<unk>", EOS], unk_token="<unk>", show_progress=False
    )
    model = json.loads(_train(trained, trainer, [t for t in TEXTS if max(t, default="") < "\u0500"]).to_str())["model"]
    pieces = [tuple(entry) for entry in model["vocab"]] + [(piece, -20.0) for piece in _fallback_pieces()]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=True))
    tokenizer.add_special_tokens(["<unk>", EOS])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Sequence([decoders.Metaspace(), decoders.ByteFallback()])
    return tokenizer


def wordpiece() -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(cleanup=False)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return _train(tokenizer, trainers.WordPieceTrainer(vocab_size=900, special_tokens=special, show_progress=False))


def end_of_word() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    trainer = trainers.BpeTrainer(
        vocab_size=800, special_tokens=["<unk>", EOS], end_of_word_suffix="</w>", show_progress=False
    )
    return _train(tokenizer, trainer)


def saved(tokenizer: Tokenizer, folder: Path) -> Vocabulary:
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return Vocabulary.from_file(path)


def joined(vocabulary: Vocabulary, ids: list[int]) -> bytes:
    tokens = [vocabulary.token_bytes(i) for i in ids]
    assert None not in tokens
    return b"".join(tokens)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "prefix"), [(lambda: byte_level(False), ""), (lambda: byte_level(True), " "), (llama, " "), (unigram, " ")]
)
def test_encoded_ids_concatenate_to_the_text(make: object, prefix: str, tmp_path: Path) -> None:
    tokenizer = make()  # type: ignore[operator]
    vocabulary = saved(tokenizer, tmp_path)
    assert vocabulary.adds_dummy_prefix == bool(prefix)
    for text in TEXTS:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        if any(vocabulary.token_bytes(i) is None for i in ids):
            assert EOS in text, (SEED, text)  # these tokenizers read the special token's spelling as the token
            continue
        spaced = text if not text or text[0] == " " else prefix + text
        expected = {spaced.encode(), (prefix + text).encode()}
        assert joined(vocabulary, ids) in expected, (SEED, text)


@pytest.mark.parametrize("make", [lambda: byte_level(False), llama, unigram, wordpiece, end_of_word])
def test_tokens_mean_what_the_decoder_writes(make: object, tmp_path: Path) -> None:
    tokenizer = make()  # type: ignore[operator]
    vocabulary = saved(tokenizer, tmp_path)
    plain = [i for i in range(len(vocabulary)) if vocabulary.token_bytes(i)]
    rng = random.Random(SEED)
    for _ in range(300):
        ids = rng.choices(plain, k=6)
        if isinstance(tokenizer.decoder, decoders.WordPiece):
            ids[0] = next(i for i in plain if not tokenizer.id_to_token(i).startswith("##"))  # a text begins a word
        text = tokenizer.decode(ids, skip_special_tokens=False)
        ours = joined(vocabulary, ids)
        try:
            mine = ours.decode()
        except UnicodeDecodeError:
            continue  # byte tokens that are no text: every decoder replaces them its own way
        if vocabulary.adds_dummy_prefix and mine.startswith(" ") and not text.startswith(" "):
            mine = mine[1:]
        if isinstance(tokenizer.decoder, decoders.BPEDecoder):
            mine = mine.removesuffix(" ")  # the last word's space is not written
        assert mine == text, (SEED, ids)


def test_wordpiece_words_carry_their_space(tmp_path: Path) -> None:
    tokenizer = wordpiece()
    vocabulary = saved(tokenizer, tmp_path)
    assert vocabulary.eos_token_ids == [tokenizer.token_to_id("[SEP]")]
    unknown = tokenizer.token_to_id("[UNK]")
    checked = 0
    for text in TEXTS:
        words = [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(text))]
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        if unknown not in ids:
            assert joined(vocabulary, ids).decode() == "".join(" " + word for word in words), (SEED, text)
            checked += 1
    assert checked > 100


def test_wordpiece_vocab_txt_and_gguf_agree_with_json(tmp_path: Path) -> None:
    tokenizer = wordpiece()
    vocabulary = saved(tokenizer, tmp_path)
    pieces = [tokenizer.id_to_token(i) for i in range(len(vocabulary))]
    (tmp_path / "vocab.txt").write_text("".join(p + "\n" for p in pieces), encoding="utf-8", newline="\n")
    kinds = [3 if p in vocabulary.special_tokens else 1 for p in pieces]
    marked = [p if k == 3 else p[2:] if p.startswith("##") else "▁" + p for p, k in zip(pieces, kinds, strict=True)]
    eos = vocabulary.eos_token_ids[0]
    (tmp_path / "b.gguf").write_bytes(gguf_bytes(b"bert", [p.encode() for p in marked], kinds, eos_token_id=eos))
    for file in ("vocab.txt", "b.gguf"):
        other = Vocabulary.from_file(tmp_path / file)
        assert other.eos_token_ids == vocabulary.eos_token_ids
        assert other.adds_dummy_prefix
        assert [other.token_bytes(i) for i in range(len(other))] == [
            vocabulary.token_bytes(i) for i in range(len(vocabulary))
        ]


def test_byte_level_gguf(tmp_path: Path) -> None:
    tokenizer = byte_level(False)
    vocabulary = saved(tokenizer, tmp_path)
    pieces = [tokenizer.id_to_token(i) for i in range(len(vocabulary))]
    kinds = [3 if p == EOS else 1 for p in pieces]
    data = gguf_bytes(
        b"gpt2", [*(p.encode() for p in pieces), "né x".encode(), b"<|eot|>"], [*kinds, 4, 3],
        eos_token_id=0, eot_token_id=len(pieces) + 1, add_space_prefix=False,
    )  # fmt: skip
    (tmp_path / "g.gguf").write_bytes(data)
    other = Vocabulary.from_file(tmp_path / "g.gguf")
    assert other.eos_token_ids == [0, len(pieces) + 1]
    assert other.token_bytes(len(pieces)) == "né x".encode()
    assert all(other.token_bytes(i) == vocabulary.token_bytes(i) for i in range(len(pieces)))


def test_byte_level_text_outside_the_alphabet_is_utf8(tmp_path: Path) -> None:
    (tmp_path / "g.gguf").write_bytes(
        gguf_bytes(b"gpt2", ["é b".encode(), "é".encode(), b"x"], [1, 1, 3], eos_token_id=2)
    )
    vocabulary = Vocabulary.from_file(tmp_path / "g.gguf")
    assert [vocabulary.token_bytes(i) for i in range(3)] == ["é b".encode(), b"\xe9", None]


def test_added_tokens_are_text_unless_special(tmp_path: Path) -> None:
    tokenizer = byte_level(False)
    tokenizer.add_tokens([AddedToken("<né\tx>", normalized=False), AddedToken("<né>", normalized=False)])
    tokenizer.add_special_tokens(["<|im_end|>"])
    vocabulary = saved(tokenizer, tmp_path)
    text = "a<né\tx> b<né>"
    assert joined(vocabulary, tokenizer.encode(text).ids) == text.encode()
    end = tokenizer.token_to_id("<|im_end|>")
    assert vocabulary.token_bytes(end) is None
    assert vocabulary.special_tokens == {EOS: 0, "<|im_end|>": end}


def test_replace_strip_and_regex_decoders(tmp_path: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0, EOS: 1, "xaax": 2, "  b ": 3, "c1": 4}, unk_token="<unk>"))
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("aa", "é"), decoders.Replace(tokenizers.Regex("[0-9]"), "#"), decoders.Strip(" ", 1, 1)]
    )
    tokenizer.add_special_tokens([EOS])
    vocabulary = saved(tokenizer, tmp_path)
    assert [vocabulary.token_bytes(i) for i in range(5)] == [None, None, "xéx".encode(), b" b", b"c#"]


@pytest.mark.parametrize("dummy_prefix", [False, True])
def test_sentencepiece_kinds(dummy_prefix: bool, tmp_path: Path) -> None:
    """Against the sentencepiece package on a model with every type of piece."""
    import sentencepiece

    rng = random.Random(SEED)
    words = [b"\xe2\x96\x81", b"a", b"b", b"ab", b"\xe2\x96\x81a", "é".encode(), b"\xe2\x96\x81\xe2\x96\x81"]
    pieces = [(b"<unk>", 0.0, 2), (b"<s>", 0.0, 3), (b"</s>", 0.0, 3), (b"<user> x", 0.0, 4), (b"[unused]", 0.0, 5)]
    pieces += [(f"<0x{b:02X}>".encode(), 0.0, 6) for b in range(256)]
    pieces += [(word, -float(i), 1) for i, word in enumerate(words)]
    data = model_bytes(pieces, ids={"unk": 0, "bos": 1, "eos": 2}, dummy_prefix=dummy_prefix)
    (tmp_path / "m.model").write_bytes(data)
    oracle = sentencepiece.SentencePieceProcessor(model_proto=data)
    vocabulary = Vocabulary.from_file(tmp_path / "m.model")
    assert (len(vocabulary), vocabulary.eos_token_ids) == (oracle.get_piece_size(), [oracle.eos_id()])
    assert vocabulary.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}
    assert vocabulary.adds_dummy_prefix == dummy_prefix
    assert [vocabulary.token_bytes(i) for i in (0, 1, 2, 3, 4)] == [None, None, None, b"<user> x", None]
    for _ in range(300):
        text = "".join(rng.choices(["a", "b", " ", "é", "z", "<user> x", "\n"], k=rng.randrange(1, 9)))
        ids = oracle.encode(text)
        assert joined(vocabulary, ids) == (" " * dummy_prefix + text).encode(), (SEED, text)


def _small(pieces: str, decoder: object = None, pre: object = None, **options: object) -> Tokenizer:
    """A BPE model of the pieces without merges; piece 0 ends a text."""
    tokenizer = Tokenizer(models.BPE(vocab={p: i for i, p in enumerate([EOS, *pieces.split()])}, merges=[], **options))
    if decoder is not None:
        tokenizer.decoder = decoder
    if pre is not None:
        tokenizer.pre_tokenizer = pre
    return tokenizer


def _encoded(tokenizer: Tokenizer, text: str) -> bytes:
    vocabulary = Vocabulary.from_transformers(tokenizer, eos_token_ids=[0])
    return joined(vocabulary, tokenizer.encode(text, add_special_tokens=False).ids)


def test_mark_of_continuing_pieces_is_taken_away_or_refused() -> None:
    tokenizer = _small("a ##b", continuing_subword_prefix="##")
    with pytest.raises(VocabularyError, match="by '##', but its decoder does not take the mark away: expected b'a' of"):
        Vocabulary.from_transformers(tokenizer, eos_token_ids=[0])
    for decoder, expected in ((decoders.WordPiece(cleanup=False), b" ab"), (decoders.Replace("##", ""), b"ab")):
        tokenizer.decoder = decoder
        assert _encoded(tokenizer, "ab") == expected
    without_marks = _small("a b", continuing_subword_prefix="##")
    assert joined(Vocabulary.from_transformers(without_marks, eos_token_ids=[0]), [1, 2]) == b"ab"


_FUSE, _BYTES = decoders.Fuse(), decoders.ByteLevel()


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ([_BYTES, decoders.Replace("_", " ")], "decoder 'Replace' after 'ByteLevel' rewrites the whole text"),
        ([_BYTES, _FUSE, decoders.Replace("_", " ")], "decoder 'Replace' after 'ByteLevel' rewrites"),
        ([_BYTES, decoders.Metaspace()], "decoder 'Metaspace' after 'ByteLevel' rewrites"),
        ([_FUSE, decoders.Replace("ab", "X")], r"after 'Fuse' rewrites the whole text, so what a token writes depends"),
        ([_FUSE, decoders.Replace(tokenizers.Regex("^ "), "")], "after 'Fuse' rewrites"),  # spaces of every line
        ([_FUSE, decoders.Replace(tokenizers.Regex(r"\A |b"), "")], "after 'Fuse' rewrites"),
        (
            [_FUSE, decoders.Replace(tokenizers.Regex(r"\A "), "x")],
            r"expected there only Strip, .* or Replace of Regex",
        ),
        ([_FUSE, decoders.Metaspace()], "decoder 'Metaspace' after 'Fuse' rewrites"),
        ([_FUSE, decoders.ByteFallback()], "decoder 'ByteFallback' after 'Fuse' rewrites"),
    ],
)
def test_rewriting_the_whole_text_is_refused(steps: list[object], text: str) -> None:
    with pytest.raises(VocabularyError, match=text):
        Vocabulary.from_transformers(_small("a b _ ▁", decoders.Sequence(steps)), eos_token_ids=[0])


@pytest.mark.parametrize(
    "steps",
    [
        [decoders.Replace("▁", " "), _FUSE, decoders.Replace(tokenizers.Regex(r"\A "), "")],
        [decoders.Replace("▁", " "), _FUSE, decoders.Replace(tokenizers.Regex(r"\A\s*"), "")],
        [_FUSE, decoders.Replace("▁", " "), decoders.Strip(" ", 1, 0)],
    ],
)
def test_steps_after_fuse_that_tokens_can_show(steps: list[object]) -> None:
    tokenizer = _small("a b ▁", decoders.Sequence(steps), pre_tokenizers.Metaspace())
    assert _encoded(tokenizer, "a b a") == b" a b a"
    assert tokenizer.decode(tokenizer.encode("a b a").ids) == "a b a"


def test_bytes_then_strip_is_a_dummy_prefix() -> None:
    pre = pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)
    assert (
        _encoded(_small("a Ġ b", decoders.Sequence([_BYTES, _FUSE, decoders.Strip(" ", 1, 0)]), pre), "a b") == b" a b"
    )


def test_anchors_of_patterns_are_of_lines() -> None:
    tokenizer = Tokenizer(models.WordLevel({EOS: 0, " a\n b": 1}, unk_token=EOS))
    tokenizer.decoder = decoders.Replace(tokenizers.Regex("^ "), "")
    assert Vocabulary.from_transformers(tokenizer, eos_token_ids=[0]).token_bytes(1) == b"a\nb"
    assert tokenizer.decode([1]) == "a\nb"


def test_wordpiece_with_an_empty_prefix_writes_no_spaces() -> None:
    model = models.WordPiece(vocab={EOS: 0, "a": 1, "b": 2}, unk_token=EOS, continuing_subword_prefix="")
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.WordPiece(prefix="", cleanup=False)
    assert _encoded(tokenizer, "ab a") == b"aba"
    assert tokenizer.decode(tokenizer.encode("ab a").ids) == "aba"
    assert not Vocabulary.from_transformers(tokenizer, eos_token_ids=[0]).adds_dummy_prefix
    words = Tokenizer(models.WordLevel({EOS: 0, "a": 1, "b": 2}, unk_token=EOS))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    assert _encoded(words, "a b") == b" a b"  # without a decoder, words are joined by spaces
    assert words.decode(words.encode("a b").ids) == "a b"


def test_byte_level_without_a_decoder() -> None:
    by_normalizer = _small("a Ġ b Ã ©")
    by_normalizer.normalizer = normalizers.ByteLevel()
    by_pre_tokenizer = _small("a Ġ b Ã ©", pre=pre_tokenizers.ByteLevel(add_prefix_space=False))
    for tokenizer in (by_normalizer, by_pre_tokenizer):
        assert _encoded(tokenizer, "a bé") == "a bé".encode()
        tokenizer.add_tokens([AddedToken("é")])
        assert _encoded(tokenizer, "a bé") == "a bé".encode()
    assert by_pre_tokenizer.encode("é").tokens == ["é"]


def test_end_of_word_in_the_byte_alphabet() -> None:
    """CLIP's spelling: the last piece of a word writes the space behind it."""
    pre = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    pieces = [EOS, "a", "b</w>", "Ã", "©</w>", "Ã©</w>"]
    vocab = {piece: i for i, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[("Ã", "©</w>")], end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre, _BYTES
    assert tokenizer.encode("é ab").tokens == ["Ã©</w>", "a", "b</w>"]
    assert _encoded(tokenizer, "é ab") == "é ab ".encode()
    assert not Vocabulary.from_transformers(tokenizer, eos_token_ids=[0]).adds_dummy_prefix


@pytest.mark.parametrize("dummy_prefix", [False, True])
def test_sentencepiece_with_spaces_behind_words(dummy_prefix: bool, tmp_path: Path) -> None:
    import sentencepiece

    pieces = [(b"<unk>", 0.0, 2), (b"</s>", 0.0, 3)] + [(p.encode(), -1.0, 1) for p in ("a", "b", "▁", "b▁")]
    data = model_bytes(pieces, ids={"unk": 0, "eos": 1}, dummy_prefix=dummy_prefix)
    data += b"\x12\x06\xc0\x01\x01\x98\x02\x00"  # more of trainer_spec: spaces as suffix, no byte fallback
    (tmp_path / "m.model").write_bytes(data)
    ids = sentencepiece.SentencePieceProcessor(model_proto=data).encode("a ab")
    vocabulary = Vocabulary.from_file(tmp_path / "m.model")
    assert joined(vocabulary, ids) == b"a ab" + b" " * dummy_prefix
    assert vocabulary.eos_token_ids == [1]
    assert not vocabulary.adds_dummy_prefix


@pytest.mark.parametrize(
    ("pre", "text"),
    [
        (pre_tokenizers.Whitespace(), "the pre-tokenizer Whitespace drops what stands between words, and no decoder"),
        (pre_tokenizers.WhitespaceSplit(), "the pre-tokenizer WhitespaceSplit drops"),
        (pre_tokenizers.BertPreTokenizer(), "the pre-tokenizer BertPreTokenizer drops"),
        (pre_tokenizers.CharDelimiterSplit(" "), "the pre-tokenizer CharDelimiterSplit drops"),
        (pre_tokenizers.Split(" ", "removed"), "the pre-tokenizer Split drops"),
        (
            pre_tokenizers.Sequence(
                [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="first")]
            ),
            "the pre-tokenizer WhitespaceSplit drops",
        ),
        (
            pre_tokenizers.Sequence([pre_tokenizers.Metaspace(), pre_tokenizers.ByteLevel(add_prefix_space=False)]),
            "without a decoder, expected one part that spells spaces or bytes, got Metaspace and ByteLevel",
        ),
    ],
)
@pytest.mark.parametrize("unigram", [False, True])
def test_spaces_that_no_decoder_writes_again_are_refused(
    pre: pre_tokenizers.PreTokenizer, text: str, unigram: bool
) -> None:
    pieces = [EOS, "a", "b", "▁", *sorted(set(pre_tokenizers.ByteLevel.alphabet()) - {"a", "b"})]
    of_pairs = models.BPE({piece: i for i, piece in enumerate(pieces)}, [])
    model = models.Unigram([(piece, -1.0) for piece in pieces], 0) if unigram else of_pairs
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre
    with pytest.raises(VocabularyError, match=text):
        Vocabulary.from_transformers(tokenizer, eos_token_ids=[0])
    tokenizer.decoder = decoders.Fuse()
    ids = tokenizer.encode("ab a").ids
    vocabulary = Vocabulary.from_transformers(tokenizer, eos_token_ids=[0])
    assert joined(vocabulary, ids).decode() == tokenizer.decode(ids)


@pytest.mark.parametrize(
    "pre",
    [
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()],
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.ByteLevel(add_prefix_space=True)],
    ],
)
def test_spaces_that_are_put_before_each_word(pre: list[pre_tokenizers.PreTokenizer]) -> None:
    assert _encoded(_small("a b ▁ Ġ", None, pre_tokenizers.Sequence(pre)), "a  ab") == b" a ab"


def test_spaces_that_a_normalizer_spells() -> None:
    tokenizer = _small("a b ▁")
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    assert _encoded(tokenizer, "a  b") == b"a  b"
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    assert _encoded(tokenizer, "a b") == b" a b"


_BYTE_TOKENS = [f"<0x{b:02X}>" for b in (0x20, 0x61, 0x62, 0x81, 0x96, 0xA9, 0xC3, 0xE2)]
_FALLBACK = decoders.ByteFallback()


_PIECES = [EOS, "a", "b", "▁", "ac", "cab", "é", "ö", " ", *_BYTE_TOKENS]


@pytest.mark.parametrize("decoder", [None, _FUSE, decoders.Replace("▁", " "), decoders.Metaspace(), _FALLBACK], ids=str)
def test_bytes_that_the_model_spells_are_bytes_whatever_the_decoder_shows(decoder: decoders.Decoder | None) -> None:
    pieces = [EOS, "a", " ", *_fallback_pieces()]
    tokenizer = Tokenizer(models.BPE(vocab={p: i for i, p in enumerate(pieces)}, merges=[], byte_fallback=True))
    if decoder is not None:
        tokenizer.decoder = decoder
    assert ("<0xC3>" in tokenizer.decode(tokenizer.encode("é").ids)) == (decoder is not _FALLBACK)
    vocabulary = Vocabulary.from_transformers(tokenizer, eos_token_ids=[0])
    text = "aé 日本"
    assert joined(vocabulary, tokenizer.encode(text).ids).decode() == text


def _of_bytes(steps: list[object]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(vocab={p: i for i, p in enumerate(_PIECES)}, merges=[]))
    tokenizer.decoder = decoders.Sequence(steps)
    return tokenizer


@pytest.mark.parametrize(
    "steps",
    [
        [_FALLBACK],
        [_FALLBACK, _FUSE],
        [_FALLBACK, decoders.Replace("a", "X")],
        [_FALLBACK, _FUSE, decoders.Replace("b", "é")],
        [_FALLBACK, decoders.Replace("ac", "X")],  # no token spells the c byte by byte
        [_FALLBACK, decoders.Strip("c", 1, 1)],
        [_FALLBACK, decoders.Replace("ö", "o")],
        [decoders.Replace("▁", " "), _FALLBACK, decoders.Replace(" ", "_")],
        [decoders.Metaspace(prepend_scheme="never"), _FALLBACK],
    ],
)
def test_steps_after_bytes_that_tokens_can_show(steps: list[object]) -> None:
    """Random ids: what tokens write is what the tokenizer's own decode writes, wherever bytes are text."""
    tokenizer = _of_bytes(steps)
    vocabulary = Vocabulary.from_transformers(tokenizer, eos_token_ids=[0])
    rng = random.Random(SEED)
    followed = 0
    for _ in range(3000):
        ids = rng.choices(range(1, len(_PIECES)), k=rng.randrange(1, 7))
        try:
            mine = joined(vocabulary, ids).decode()
        except UnicodeDecodeError:
            continue
        assert mine == tokenizer.decode(ids, skip_special_tokens=False), (SEED, [_PIECES[i] for i in ids])
        followed += 1
    assert followed > 300


@pytest.mark.parametrize(
    "steps",
    [
        [decoders.Metaspace()],
        [decoders.Replace("▁", " ")],
        [_FUSE, decoders.Replace("é", "e")],
        [decoders.Replace("ab", "X")],
        [decoders.Replace("a", "")],
        [decoders.Replace(tokenizers.Regex("a|b"), "X")],
        [decoders.Strip("a", 1, 0)],
        [decoders.ByteLevel()],
        [decoders.WordPiece(cleanup=False)],
        [decoders.BPEDecoder(suffix="a")],
    ],
)
def test_steps_after_bytes_that_tokens_cannot_show_are_refused(steps: list[object]) -> None:
    text = "after 'ByteFallback' rewrites what several tokens spell together byte by byte, .*; put it before"
    with pytest.raises(VocabularyError, match=text):
        Vocabulary.from_transformers(_of_bytes([_FALLBACK, *steps]), eos_token_ids=[0])

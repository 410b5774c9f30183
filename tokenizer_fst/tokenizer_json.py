"""Vocabularies in Hugging Face's tokenizer.json, read without the tokenizers package."""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from pathlib import Path
from typing import Any

from ..automata.errors import VocabularyError
from .byte_level import ByteLevelDecoder
from .source import TokenSource, checked_id, eos_by_name, eos_from_neighbours, place, utf8
from .wordpiece import wordpiece_bytes

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_AT_START = re.compile(r"\\A(?: |▁|\\s)[+*?]?")  # patterns that only match spaces at the beginning of the text
_Step = Callable[[str], "str | bytes"]


def read_tokenizer_json(document: dict[str, Any], where: str, folder: Path | None = None) -> TokenSource:
    """Read a parsed tokenizer.json: BPE, Unigram, WordPiece and WordLevel models.

    What a token's text means in bytes is the file's ``decoder`` applied to a token in the middle of a text: ByteLevel,
    ByteFallback, Metaspace, Replace, Strip, Fuse, WordPiece and BPEDecoder, alone or in sequence; without a decoder,
    what undoes the spelling of spaces and bytes by the normalizer or pre-tokenizer. Where the model spells bytes
    (``byte_fallback``), ``<0xE9>`` is the byte also where the decoder leaves that as it stands: the encoder writes
    characters so, and the text of such tokens is what they were made of, not what that decoder shows. Added tokens that
    are special, and the unknown token, have no bytes; other added tokens are text. What only touches the beginning of a
    text (Metaspace, Prepend, Strip after Fuse, ByteLevel with a prefix space) is a dummy prefix. With an
    ``end_of_word_suffix`` (CLIP, GPT of OpenAI) the last piece of a word is its text and a space, so the bytes of
    ``encode(text)`` end with a space; that is no dummy prefix. EOS ids are what the configuration files in ``folder``
    name, else the first of the usual names.

    Raises:
        VocabularyError: a missing or malformed part, a decoder or model of another kind, a decoder that rewrites the
            whole text after Fuse or ByteLevel, or what bytes spell after ByteFallback; a mark of continuing pieces that
            the decoder leaves in the text; without a decoder, spaces that the pre-tokenizer drops, or two spellings of
            spaces and bytes, one in the other. The EOS list may be empty.
    """
    try:
        return _read(document, where, folder)
    except VocabularyError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise VocabularyError(
            f"{where}: not a tokenizer.json as expected ({type(error).__name__}: {error}); fetch it again"
        ) from error


def _read(document: dict[str, Any], where: str, folder: Path | None) -> TokenSource:
    model = document["model"]
    pieces = _pieces(model, where)
    unknown = model.get("unk_token")
    if unknown is None and model.get("unk_id") is not None:
        unknown = pieces[checked_id(model["unk_id"], where)][0]
    parts = _decoder_parts(document, where)
    decode, dummy_prefix = _decoder(parts, where, {int(m[1], 16) for text, _ in pieces if (m := _BYTE.fullmatch(text))})
    dummy_prefix = dummy_prefix or _prepends(document)
    byte_level = any(part["type"] == "ByteLevel" for part in parts)
    mark = model.get("continuing_subword_prefix")
    if mark and any(text.startswith(mark) for text, _ in pieces):
        _check_mark(mark, decode, where)

    tokens: list[bytes | None] = []
    special: dict[str, int] = {}
    added: dict[int, tuple[str, bool]] = {}
    for entry in document.get("added_tokens") or []:
        added[checked_id(entry["id"], where)] = (str(entry["content"]), bool(entry.get("special", False)))
    for text, token_id in pieces:
        if token_id not in added:
            place(tokens, token_id, None if text == unknown else decode(text))
            if text == unknown:
                special[text] = token_id
    in_model = dict(pieces)
    for token_id, (text, is_special) in added.items():
        if is_special or text == unknown:
            place(tokens, token_id, None)
            special[text] = token_id
        elif byte_level and in_model.get(text) != token_id:
            place(tokens, token_id, utf8(text, where))  # its text is not spelled in the byte alphabet
        else:
            place(tokens, token_id, decode(text))
    eos = eos_from_neighbours(folder, {**special, **{t: i for i, (t, _) in added.items()}}) if folder else []
    return TokenSource(tokens, eos or eos_by_name(special), special, dummy_prefix)


def _pieces(model: dict[str, Any], where: str) -> list[tuple[str, int]]:
    """Return (text, id) of the model's own tokens."""
    vocab = model["vocab"]
    if isinstance(vocab, list):  # Unigram: [[text, score], ...]
        texts = [entry[0] for entry in vocab]
        pieces = list(zip(texts, range(len(texts)), strict=True))
    else:
        pieces = [(text, checked_id(token_id, where)) for text, token_id in vocab.items()]
    for text, _ in pieces:
        if not isinstance(text, str):
            raise VocabularyError(f"{where}: token {text!r} is not text; the file is damaged")
    return pieces


def _parts(node: Any) -> list[dict[str, Any]]:
    """Flatten a normalizer, pre-tokenizer or decoder: the members of Sequences in order."""
    if not node:
        return []
    if node["type"] == "Sequence":
        members: list[Any] = next((node[k] for k in ("decoders", "normalizers", "pretokenizers") if k in node), [])
        return [part for member in members for part in _parts(member)]
    return [node]


def _prepends(document: dict[str, Any]) -> bool:
    """Whether encoding puts a space before the text."""
    for part in _parts(document.get("normalizer")) + _parts(document.get("pre_tokenizer")):
        kind = part["type"]
        if kind == "Prepend" and part.get("prepend") in (" ", "▁"):
            return True
        if kind == "Metaspace":
            older = "always" if part.get("add_prefix_space", True) else "never"
            if part.get("prepend_scheme", older) != "never":
                return True
        if kind == "ByteLevel" and part.get("add_prefix_space"):
            return True
    return False


def _decoder_parts(document: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """Return the decoders in order, with those that the model's own spelling needs."""
    model = document["model"]
    parts = _parts(document.get("decoder"))
    if not parts:  # no decoder: go by how the text was taken apart
        parts = _undoing(document, where)
        if not parts and model.get("type") == "WordPiece":
            parts = [{"type": "WordPiece", "prefix": model.get("continuing_subword_prefix", "##") or None}]
        if not parts and model.get("type") == "WordLevel":
            parts = [{"type": "WordPiece", "prefix": None}]  # words joined by spaces
        dropping = _dropping(document)
        if dropping and not model.get("end_of_word_suffix") and not any(part["type"] == "WordPiece" for part in parts):
            raise VocabularyError(
                f"{where}: the pre-tokenizer {dropping} drops what stands between words, and no decoder writes it "
                "again, so what tokens write is not known; give the tokenizer a decoder (decoders.Fuse() if nothing "
                "stands between tokens), or build the tokens yourself: Vocabulary(tokens, eos_token_ids=[...])"
            )
    if model.get("byte_fallback") and not any(part["type"] == "ByteFallback" for part in parts):
        parts = [{"type": "ByteFallback", "implied": True}, *parts]
    suffix = model.get("end_of_word_suffix")
    if suffix and not any(part["type"] == "BPEDecoder" for part in parts):
        space = "Ġ" if any(part["type"] == "ByteLevel" for part in parts) else " "
        parts = [{"type": "BPEDecoder", "suffix": suffix, "space": space}, *parts]
    return parts


def _undoing(document: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """What undoes the spelling of spaces and bytes, where there is no decoder."""
    found: list[dict[str, Any]] = []
    for part in _parts(document.get("normalizer")):
        content = str(part.get("content", ""))
        if part["type"] == "ByteLevel":
            found.append(part)
        elif part["type"] == "Replace" and part["pattern"].get("String") == " " and content:
            found.append({"type": "Metaspace", "replacement": content})
    for part in _parts(document.get("pre_tokenizer")):
        if part["type"] == "ByteLevel":
            found.append(part)
        elif part["type"] == "Metaspace":
            undone = {"type": "Metaspace", "replacement": part.get("replacement", "▁")}
            found += [undone] if undone not in found else []
    if len(found) > 1:
        raise VocabularyError(
            f"{where}: without a decoder, expected one part that spells spaces or bytes, got "
            f"{' and '.join(part['type'] for part in found)}, each of which spells what the other wrote; give the "
            "tokenizer a decoder, or build the tokens yourself: Vocabulary(tokens, eos_token_ids=[...])"
        )
    return found


def _dropping(document: dict[str, Any]) -> str | None:
    """The kind of pre-tokenizer that takes spaces away, unless a later one puts a space before each word."""
    found: str | None = None
    for part in _parts(document.get("pre_tokenizer")):
        removes = str(part.get("behavior", "")) == "Removed"
        if part["type"] in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "CharDelimiterSplit") or removes:
            found = part["type"]
        elif part["type"] == "Metaspace":
            older = "always" if part.get("add_prefix_space", True) else "never"
            found = None if part.get("prepend_scheme", older) == "always" else found
        elif part["type"] == "ByteLevel" and part.get("add_prefix_space"):
            found = None
    return found


def _decoder(parts: list[dict[str, Any]], where: str, byte_tokens: Set[int]) -> tuple[Callable[[str], bytes], bool]:
    """Return what maps a token's text to its bytes in the middle of a text, and whether there is a dummy prefix.

    ``byte_tokens``: the bytes that there are tokens for (``<0x0A>``).
    """
    steps: list[_Step] = []
    spelled = False  # what follows sees the characters that such tokens spell together
    prefix = False
    whole: str | None = None  # the decoder that made one text of the tokens: what follows sees that, not tokens
    for part in parts:
        kind = part["type"]
        if whole and (kind == "Strip" or _at_start(part)):  # of the whole text: the dummy prefix, not a token's bytes
            continue
        if kind == "Fuse":
            whole = whole or kind
            continue
        if spelled and _sees_bytes(part, byte_tokens):
            raise VocabularyError(
                f"{where}: decoder {kind!r} after 'ByteFallback' rewrites what several tokens spell together byte by "
                "byte, so what a token writes depends on its neighbours; expected there Fuse, Strip after Fuse, or "
                f"Replace of one ASCII character by others, got {part}; put it before 'ByteFallback', or build the "
                "tokens yourself: Vocabulary(tokens, eos_token_ids=[...])"
            )
        if whole and not (whole == "Fuse" and _of_one_character(part)):
            raise VocabularyError(
                f"{where}: decoder {kind!r} after {whole!r} rewrites the whole text, so what a token writes depends on "
                f"its neighbours; expected there only Strip, Replace of one character after Fuse, or Replace of "
                rf"Regex('\A ') by nothing, got {part}; put it before {whole!r}, or build the tokens yourself: "
                "Vocabulary(tokens, eos_token_ids=[...])"
            )
        if kind == "ByteLevel":
            whole = kind
        elif kind == "ByteFallback":
            spelled = not part.get("implied")
        elif kind == "WordPiece" and part.get("prefix", "##") != "":
            prefix = True
        steps.append(_step(part, where))

    def decode(text: str) -> bytes:
        for step in steps:
            result = step(text)
            if isinstance(result, bytes):
                return result
            text = result
        return utf8(text, where)

    return decode, prefix


def _at_start(part: dict[str, Any]) -> bool:
    """Whether a part takes away spaces at the beginning of the text and does nothing else."""
    return (
        part["type"] == "Replace"
        and part["content"] == ""
        and _AT_START.fullmatch(part["pattern"].get("Regex", "")) is not None
    )


def _of_one_character(part: dict[str, Any]) -> bool:
    return part["type"] == "Replace" and len(part["pattern"].get("String", "")) == 1


def _sees_bytes(part: dict[str, Any], byte_tokens: Set[int]) -> bool:
    """Whether a part changes texts that tokens of these bytes spell, other than each token by itself."""
    kind = part["type"]
    if kind == "Replace" and "String" in part["pattern"]:
        text = part["pattern"]["String"]
        by_itself = len(text) == 1 and text.isascii() and part["content"] != ""  # left out, its neighbours would meet
        return not by_itself and byte_tokens >= set(text.encode())
    if kind in ("Metaspace", "Strip"):
        return byte_tokens >= set(str(part["content"] if kind == "Strip" else part.get("replacement", "▁")).encode())
    return bool(byte_tokens)


def _check_mark(mark: str, decode: Callable[[str], bytes], where: str) -> None:
    """Refuse a mark of pieces that continue a word (`##`) if the decoder does not take it away."""
    expected, got = decode("a").removeprefix(b" "), decode(mark + "a")
    if got != expected:
        raise VocabularyError(
            f"{where}: the model marks pieces that continue a word by {mark!r}, but its decoder does not take the mark "
            f"away: expected {expected!r} of {mark + 'a'!r}, got {got!r}; give the tokenizer the decoder "
            f"WordPiece(prefix={mark!r}), or build the tokens yourself: Vocabulary(tokens, eos_token_ids=[...])"
        )


def _step(part: dict[str, Any], where: str) -> _Step:
    """Return one decoder as a function of one token's text; bytes end the sequence."""
    kind = part["type"]
    if kind == "ByteLevel":
        return ByteLevelDecoder()
    if kind == "ByteFallback":
        return _byte_fallback if part.get("implied") else _spelled_byte
    if kind == "Metaspace":
        space = part.get("replacement", "▁")
        return lambda text: text.replace(space, " ")
    if kind == "Replace":
        return _replace(part, where)
    if kind == "Strip":
        return _strip(part["content"], int(part["start"]), int(part["stop"]))
    if kind == "WordPiece":
        mark = part.get("prefix", "##")
        return lambda text: wordpiece_bytes(text, mark, where)
    if kind == "BPEDecoder":
        suffix, end = part.get("suffix", "</w>"), part.get("space", " ")
        return lambda text: text[: -len(suffix)] + end if suffix and text.endswith(suffix) else text
    raise VocabularyError(
        f"{where}: decoder {kind!r} is not known; build the tokens yourself: Vocabulary(tokens, eos_token_ids=[...])"
    )


def _byte_fallback(text: str) -> str | bytes:
    match = _BYTE.fullmatch(text)
    return bytes([int(match[1], 16)]) if match else text


def _spelled_byte(text: str) -> str | bytes:
    """As text where that is one character, which steps that follow may see."""
    result = _byte_fallback(text)
    return result.decode("ascii") if isinstance(result, bytes) and result.isascii() else result


def _replace(part: dict[str, Any], where: str) -> _Step:
    pattern, content = part["pattern"], part["content"]
    if "String" in pattern:
        old = pattern["String"]
        return lambda text: text.replace(old, content)
    try:
        compiled = re.compile(pattern["Regex"], re.MULTILINE)  # ^ and $ are ends of lines in that library
    except re.error as error:
        raise VocabularyError(f"{where}: decoder pattern {pattern['Regex']!r} is not understood ({error})") from error
    return lambda text: compiled.sub(lambda _: content, text)


def _strip(content: str, start: int, stop: int) -> _Step:
    def strip(text: str) -> str:
        first = 0
        while first < min(start, len(text)) and text[first] == content:
            first += 1
        last = len(text)
        while len(text) - last < stop and last > first and text[last - 1] == content:
            last -= 1
        return text[first:last]

    return strip

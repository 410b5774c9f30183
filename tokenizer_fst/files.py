"""Reading a vocabulary file of any known kind; the kind is told by its content."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..automata.errors import VocabularyError
from .gguf import MAGIC as GGUF_MAGIC
from .gguf import read_gguf
from .sentencepiece import read_sentencepiece
from .source import TokenSource, parse_json, place, read_bytes
from .tekken import read_tekken
from .tiktoken import read_tiktoken
from .tokenizer_json import read_tokenizer_json
from .wordpiece import read_vocab_txt

KINDS = "tokenizer.json, *.tiktoken, sentencepiece *.model, tekken*.json, *.gguf, WordPiece vocab.txt"
_FST_MAGIC = b"\xd6\xfd\xb2\x7e"  # of OpenFst's binary format
_IN_FOLDERS = (
    "tokenizer.json",
    "tekken*.json",
    "tokenizer.model",
    "*.tiktoken",
    "tiktoken.model",
    "vocab.txt",
    "*.model",
    "*.gguf",
)
_NO_TOKENIZER = "mmproj"  # how names of GGUF files begin that hold the vision part of a model


def read_file(path: Path, special_tokens: Mapping[str, int] | None = None) -> TokenSource:
    """Read a tokenizer file, or the tokenizer file in a model folder.

    ``special_tokens`` gives names and ids of special tokens that the file does not hold.

    Raises:
        MissingFileError: no such file.
        VocabularyError: of an unknown kind, damaged, truncated.
    """
    path = Path(path)
    if path.is_dir():
        files = [file for pattern in _IN_FOLDERS for file in sorted(path.glob(pattern))]
        found = [file for file in files if not file.name.startswith(_NO_TOKENIZER)]
        if not found:
            raise VocabularyError(f"{path}: the folder holds none of {', '.join(_IN_FOLDERS)}; pass a tokenizer file")
        path = found[0]
    source = _by_content(path, special_tokens)
    for name, token_id in (special_tokens or {}).items():
        place(source.tokens, token_id, None)
        source.special_tokens[name] = token_id
    return source


def _by_content(path: Path, special_tokens: Mapping[str, int] | None) -> TokenSource:
    head = _head(path)
    if head.startswith(_FST_MAGIC):
        raise VocabularyError(f"{path}: an .fst file; read a saved vocabulary with Vocabulary.load")
    if head.startswith(GGUF_MAGIC):
        return read_gguf(path)
    if head.lstrip().startswith(b"{"):
        document = parse_json(read_bytes(path), str(path))
        if isinstance(document.get("vocab"), list) and isinstance(document.get("config"), dict):
            return read_tekken(document, str(path))
        if isinstance(document.get("model"), dict):
            return read_tokenizer_json(document, str(path), path.parent)
        raise VocabularyError(f"{path}: JSON, but neither a tokenizer.json nor a tekken file; pass one of {KINDS}")
    if path.name.endswith(".txt"):
        return read_vocab_txt(path)
    first = head.split(b"\n", 1)[0].split()
    if path.name.endswith(".tiktoken") or (len(first) == 2 and first[1].isdigit()):
        return read_tiktoken(path, special_tokens)
    if head.startswith(b"\n") or ".model" in path.name:
        return read_sentencepiece(path)
    raise VocabularyError(f"{path}: not a known kind of tokenizer file; expected one of {KINDS}")


def _head(path: Path) -> bytes:
    if not path.exists():
        return read_bytes(path)  # raises
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except OSError as error:
        raise VocabularyError(f"{path}: cannot be read: {error.strerror or error}") from error

"""Pretokenizers: the patterns by which a tokenizer cuts texts into the pieces that merges stay inside of."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .._core import SplitPatterns
from ..automata.checks import checked_choice, checked_mapping, checked_texts
from ..automata.errors import UnsupportedError

Engine = Literal["tokenizers", "tiktoken"]
_Stage = tuple[str, bool]  # a pattern, and whether what is between its matches is kept

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_PUNCTUATION = r"[\p{P}!-/:-@\[-`{-~]"
_CLASSES = {"s": r"\p{White_Space}", "S": r"\P{White_Space}", "d": r"\p{Nd}", "D": r"\P{Nd}"}
_COUNT = re.compile(r"\{[0-9]+(,[0-9]*)?\}")
_FLAGS = re.compile(r"\(\?([A-Za-z]*)(?:-([A-Za-z]*))?([:)])")
_FOLDED_TOGETHER = ("ss", "st", "ff", "fl")  # under the flag i, Oniguruma also matches one character of these; and fi


class Pretokenizer:
    r"""Cuts a text into pieces, stage by stage: each pattern cuts the pieces of the stage before.

    Pieces are the matches, leftmost and in the order of a backtracking matcher, and what is between them. Where a text
    is cut may depend on what follows, as with ``\s+(?!\S)``.

    Args:
        patterns: one for each stage; none cuts nothing.
        engine: whose regular expressions they are: those of the ``tokenizers`` library (Oniguruma), where what is
            between matches is a piece, or of ``tiktoken`` (Rust's), where it would be lost.

    Raises:
        TypeError: patterns that are no list of texts.
        ValueError: another engine.
        ConstraintError: a malformed pattern.
        UnsupportedError: assertions but for a lookahead at one character and the end (``$``, in Oniguruma that of any
            line), possessive quantifiers of more than one class, classes inside of classes, ``\w`` and other escapes
            that mean different things to different engines, flags but for ``i`` (and Rust's ``s``), what engines fold
            differently under ``i`` (properties, the letter i, letters outside of ASCII, in Oniguruma ``ss``), unbounded
            repetitions of what may match the empty text, a pattern that matches it, and one that loses parts of texts.
    """

    def __init__(self, patterns: Sequence[str], engine: Engine = "tokenizers") -> None:
        """Compile the patterns."""
        patterns = checked_texts("Pretokenizer", "patterns", patterns, "pass a list with it")
        checked_choice("Pretokenizer", "engine", engine, ("tokenizers", "tiktoken"))
        self._set([(pattern, engine == "tokenizers") for pattern in patterns], engine)

    def _set(self, stages: Sequence[_Stage], engine: Engine) -> None:
        self.patterns = [pattern for pattern, _ in stages]
        self.engine = engine
        native = [(_in_python(pattern, engine), keeps_gaps) for pattern, keeps_gaps in stages]
        self._native = SplitPatterns(native or [("(?s:.+)", True)])

    @classmethod
    def from_tokenizer_json(cls, pre_tokenizer: Mapping[str, Any] | None) -> Pretokenizer:
        """Read the part ``pre_tokenizer`` of a ``tokenizer.json``: Split, ByteLevel, Digits, Punctuation, and Sequence.

        Inverted "Removed" keeps what matches and loses the rest. Punctuation is followed by the Unicode tables that the
        patterns use. The library's own are older, so at about a hundred rare signs (U+0A76) it cuts otherwise.

        Raises UnsupportedError for others, for prefix spaces, for stages after ByteLevel, which see its alphabet and
        not the text, for behaviors but "Isolated" and inverted "Removed", and where that one may lose parts of texts.
        """
        if pre_tokenizer is not None:
            function = "Pretokenizer.from_tokenizer_json"
            checked_mapping(function, "pre_tokenizer", pre_tokenizer, '{"type": "ByteLevel"}')
        self = cls.__new__(cls)
        self._set(_stages(pre_tokenizer), "tokenizers")
        return self

    def __repr__(self) -> str:
        return f"Pretokenizer({self.patterns!r}, {self.engine!r})"


def _stages(part: Mapping[str, Any] | None) -> list[_Stage]:
    stages: list[_Stage] = []
    byte_level = False
    for each in _members(part):
        if byte_level:
            raise UnsupportedError(
                f"canonical: the pretokenizer {each.get('type')} comes after ByteLevel, so it sees that one's alphabet "
                "and not the text; ByteLevel has to be the last"
            )
        byte_level = each.get("type") == "ByteLevel"
        stages += _stages_of(each)
    return stages


def _members(part: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """The members of a sequence, flat."""
    if not part:
        return []
    if part.get("type") != "Sequence":
        return [part]
    return [member for each in part["pretokenizers"] for member in _members(each)]


def _stages_of(part: Mapping[str, Any]) -> list[_Stage]:
    kind = part.get("type")
    if kind == "ByteLevel":
        if part.get("add_prefix_space"):
            raise UnsupportedError(
                "canonical: the pretokenizer ByteLevel adds a space before texts (add_prefix_space), so tokens do not "
                "spell the text that was encoded"
            )
        return [(_GPT2, True)] if part.get("use_regex", True) else []
    if kind == "Digits":
        return [(r"\p{N}" if part.get("individual_digits") else r"\p{N}+", True)]
    if kind == "Punctuation" and part.get("behavior", "Isolated") == "Isolated":
        return [(_PUNCTUATION, True)]
    if kind == "Split":
        behavior, invert = part.get("behavior"), bool(part.get("invert"))
        if behavior == "Isolated" or (behavior == "Removed" and invert):
            pattern = part["pattern"]
            written = pattern["Regex"] if "Regex" in pattern else re.escape(pattern["String"])
            return [(written, behavior == "Isolated")]
        kind = f"Split with the behavior {behavior!r}"
    if kind == "Punctuation":
        kind = f"Punctuation with the behavior {part.get('behavior')!r}"
    raise UnsupportedError(
        f"canonical: the pretokenizer {kind} is not followed; known are Split (Isolated), ByteLevel, Digits, "
        "Punctuation (Isolated) and Sequence"
    )


def _in_python(pattern: str, engine: Engine) -> str:
    """The pattern in the syntax of Python's re, with properties for the classes that mean something else there."""

    def refuse(at: int, what: str) -> UnsupportedError:
        return UnsupportedError(f"canonical: {what} at position {at} of the pretokenizer's pattern {pattern!r}")

    out: list[str] = []
    depth_start = -1  # of the class that is open
    folds = [False]  # whether the flag i holds in the groups that are open
    before = ""  # the letter before this one, where Oniguruma may take both for one character
    at = 0
    while at < len(pattern):
        c = pattern[at]
        if c == "\\":
            if at + 1 == len(pattern):
                raise refuse(at, "a lone backslash")
            escaped = pattern[at + 1]
            before = ""
            if folds[-1] and (escaped in "pP" or (escaped in "SD" and depth_start >= 0) or _is_cased(escaped)):
                raise refuse(at, f"\\{escaped} under the flag i, which engines fold differently,")
            if escaped in _CLASSES:
                out.append(_CLASSES[escaped])
            elif escaped in "pP":
                end = pattern.find("}", at)
                if pattern[at + 2 : at + 3] != "{" or end < 0:
                    raise refuse(at, "a property without braces")
                out.append(pattern[at : end + 1])
                at = end + 1
                continue
            elif escaped == "z":
                out.append(r"\Z")
            elif escaped in "rntfv" or not escaped.isalnum():
                out.append(c + escaped if escaped.isascii() else escaped)
            else:
                raise refuse(at, f"the escape \\{escaped}, which is not followed,")
            at += 2
            continue
        if depth_start >= 0:
            if c == "[" or pattern.startswith(("&&", "--", "~~"), at):
                raise refuse(at, "a class inside of a class or an operation on classes")
            if c == "]" and at > depth_start + 1:
                depth_start = -1
            elif folds[-1] and (_is_cased(c) or (c == "-" and at > depth_start + 1 and _is_cased_range(pattern, at))):
                raise refuse(at, f"{c!r} in a class under the flag i, which engines fold differently,")
        elif c == "[":
            before = ""
            depth_start = at + 1 if pattern[at + 1 : at + 2] == "^" else at
            out.append(pattern[at : depth_start + 1])
            at = depth_start + 1
            continue
        elif c == "(":
            flags = _FLAGS.match(pattern, at)
            on, off = (flags[1], flags[2] or "") if flags else ("", "")
            wrong = set(on + off) - set("i" if engine == "tokenizers" else "is")
            if wrong or (on + off and flags and flags[3] == ")" and at > 0):
                raise refuse(at, f"the flags {on}{'-' + off if off else ''}, which are not followed there,")
            now = "i" in on or (folds[-1] and "i" not in off)
            if flags and flags[3] == ")":
                folds[-1] = now
            else:
                folds.append(now)
            if flags:
                out.append(flags[0])
                at = flags.end()
                continue
        elif c == ")":
            if len(folds) > 1:
                folds.pop()
        elif c == "$":
            out.append(r"(?![^\n])" if engine == "tokenizers" else r"\Z")  # Oniguruma's is the end of any line
            at += 1
            continue
        elif c == "{":
            count = _COUNT.match(pattern, at)
            if not count:
                raise refuse(at, "a brace that is no count")
            if before:
                raise refuse(at, f"a count after {before!r} under the flag i, which Oniguruma may fold together,")
            out.append(count[0])
            at = count.end()
            if pattern[at : at + 1] == "+" and engine == "tokenizers":
                raise refuse(at, "a plus after a count, which Oniguruma takes for a second repetition,")
            if pattern[at : at + 1] == "?" and "," not in count[0] and engine == "tokenizers":
                raise refuse(at, "a question mark after a count, which makes the whole optional in Oniguruma,")
            continue
        elif c not in "?*+":
            if folds[-1] and _is_cased(c):
                raise refuse(at, f"{c!r} under the flag i, which engines fold differently,")
            if folds[-1] and before + c.lower() in _FOLDED_TOGETHER:
                raise refuse(
                    at, f"{before + c.lower()!r} under the flag i, which Oniguruma also folds to one character,"
                )
            before = c.lower() if folds[-1] and c in "sSfF" and engine == "tokenizers" else ""
        out.append(c)
        at += 1
    return "".join(out)


def _is_cased(c: str) -> bool:
    """Whether engines may fold a character in different ways; of ASCII it is the letter i alone (dotless, dotted)."""
    if c.isascii():
        return c in "iI"
    return c.isalpha() or unicodedata.category(c)[0] == "M" or not c == c.lower() == c.upper() == c.casefold()


def _is_cased_range(pattern: str, at: int) -> bool:
    """Whether the range around a hyphen has such characters, or an end that is no plain character."""
    low, high = pattern[at - 1], pattern[at + 1 : at + 2]
    if high == "]":
        return False
    escapes = pattern[at - 2] == "\\" or high == "\\"
    return escapes or not high.isascii() or any(low <= i <= high for i in "iI")

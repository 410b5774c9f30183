"""Groups of regular expressions whose names stand for constraints of their own (Koo et al. 2024, Table 1)."""

from __future__ import annotations

from collections.abc import Callable

from ..automata.errors import ConstraintError
from .constraint import Constraint
from .delimited_list import delimited_list
from .delimited_subsequence_of import delimited_subsequence_of
from .image import image
from .quoted_text import quoted_text
from .substring_of import substring_of
from .text_token import paragraph_token, text_token
from .text_until import text_until
from .unquoted_text import unquoted_text

Alternatives = list[tuple[bytes, "bytes | None"]]  # of what is inside the group: the pattern, its text if there is one


_EMPTY: dict[str, Callable[[], Constraint]] = {
    "QUOTED_TEXT": quoted_text,
    "UNQUOTED_TEXT": unquoted_text,
    "TEXT_TOKEN": text_token,
    "PARAGRAPH_TOKEN": paragraph_token,
    "IMAGE": image,
}


def named_group(
    name: str, position: int, alternatives: Alternatives, compiled: Callable[[bytes], Constraint]
) -> Constraint:
    """What a group (?P<name>...) stands for; ``compiled`` makes a constraint of a pattern inside of it.

    Raises ConstraintError, with the position, where the inside is not what the name asks for.
    """

    def refuse(expected: str) -> ConstraintError:
        return ConstraintError(f"regex: position {position}: (?P<{name}>...) {expected}")

    if name in _EMPTY:
        if alternatives != [(b"", b"")]:
            raise refuse("stands for something of its own; leave it empty, or choose another name")
        return _EMPTY[name]()
    if name in ("TEXT_UNTIL", "SUBSTRING_OF"):
        texts = [text for _, text in alternatives if text is not None]
        if len(texts) < len(alternatives):
            raise refuse("expects plain text; escape what has a meaning in patterns, with re.escape")
        if name == "TEXT_UNTIL":
            if b"" in texts:
                raise refuse("expects a phrase to stop at; write it as in (?P<TEXT_UNTIL>\\n\\n)")
            return text_until(texts)
        if len(texts) > 1:
            raise refuse("expects one text; escape the | in it, with re.escape")
        return substring_of(texts[0])
    if len(alternatives) < 2:
        what = "element" if name == "DELIMITED_LIST" else "red|green|blue"
        raise refuse(f"expects the delimiter first; write it as in (?P<{name}>, |{what})")
    delimiter = compiled(alternatives[0][0])
    if name == "DELIMITED_SUBSEQUENCE_OF":
        return delimited_subsequence_of([compiled(pattern) for pattern, _ in alternatives[1:]], delimiter)
    return delimited_list(compiled(b"|".join(pattern for pattern, _ in alternatives[1:])), delimiter)
